"""The second column: what tinker-cookbook and PyPI `renderers` make of our conversations, compared with the goldens.

It only counts and names differences; docs/reference/renderers.md holds what came out. Each peer runs in a virtual environment of
its own, whose packages are its own pins:
    python peers.py cookbook --tokenizers DIR     # tinker-cookbook 0.5.8 or 0.6.1
    python peers.py renderers --tokenizers DIR    # renderers 0.1.12 and httpx; TIKTOKEN_ENCODINGS_BASE for gpt-oss
"""

import argparse
import gzip
import json
import os
import pathlib

os.environ["HF_HUB_OFFLINE"] = "1"
HERE = pathlib.Path(__file__).parent

COOKBOOK = {
    "qwen3": "qwen3",
    "qwen3+no-thinking": "qwen3_disable_thinking",
    "qwen3-instruct-2507": "qwen3_instruct",
    "qwen3.5": "qwen3_5",
    "qwen3.5+no-thinking": "qwen3_5_disable_thinking",
    "qwen3.6": "qwen3_5",
    "qwen3.6+preserve-thinking": "qwen3_5_preserve_thinking",
    "llama3": "llama3",
    "nemotron3-nano": "nemotron3",
    "nemotron3-nano+no-thinking": "nemotron3_disable_thinking",
    "nemotron3-nano+preserve-thinking": "nemotron3_preserve_thinking",
    "nemotron3-ultra": "nemotron3_ultra",
    "nemotron3-ultra+medium-effort": "nemotron3_ultra_medium_thinking",
    "gpt-oss": "gpt_oss_medium_reasoning",
    "gpt-oss+low-effort": "gpt_oss_low_reasoning",
}
PRIME = {
    "qwen3": ("qwen3", {}),
    "qwen3+no-thinking": ("qwen3", {"enable_thinking": False}),
    "qwen3.5": ("qwen3.5", {}),
    "qwen3.6": ("qwen3.6", {}),
    "nemotron3-nano": ("nemotron-3", {}),
    "nemotron3-ultra": ("nemotron-3-ultra", {}),
    "llama3.1": ("llama-3", {}),
    "gpt-oss": ("gpt-oss", {}),
}


def read(path):
    return json.loads(gzip.decompress((HERE / path).read_bytes()))


def cookbook(name, tokenizer):
    from tinker_cookbook import renderers

    renderer = renderers.get_renderer(COOKBOOK[name], tokenizer)

    def message(entry):
        result = {"role": entry["role"], "content": entry["content"]}
        if entry.get("thinking"):
            thinking = {"type": "thinking", "thinking": entry["thinking"]}
            result["content"] = [thinking, {"type": "text", "text": entry["content"]}]
        if "toolCalls" in entry:
            result["tool_calls"] = [
                renderers.ToolCall(function=renderers.ToolCall.FunctionBody(name=call["name"], arguments=call["arguments"]))
                for call in entry["toolCalls"]
            ]
        if entry["role"] == "tool":
            result["name"] = entry["name"]
        return result

    def render(conversation):
        messages = list(conversation["messages"])
        prefix = []
        if conversation["tools"]:
            system = messages.pop(0)["content"] if messages[0]["role"] == "system" else ""
            prefix = renderer.create_conversation_prefix_with_tools(conversation["tools"], system)
        return renderer.build_generation_prompt([*prefix, *map(message, messages)]).to_ints()

    return render


def prime(name, tokenizer):
    import renderers.configs

    kind, options = PRIME[name]
    config = type(renderers.configs.config_from_name(kind))(**options)
    renderer = renderers.create_renderer(tokenizer, config)

    def message(entry):
        result = {"role": entry["role"], "content": entry["content"]}
        if "thinking" in entry:
            result["reasoning_content"] = entry["thinking"]
        if "toolCalls" in entry:
            result["tool_calls"] = [
                {"type": "function", "function": {"name": call["name"], "arguments": json.loads(call["arguments"])}}
                for call in entry["toolCalls"]
            ]
        return result

    def render(conversation):
        tools = [{"type": "function", "function": tool} for tool in conversation["tools"]]
        messages = [message(entry) for entry in conversation["messages"]]
        return list(renderer.render_ids(messages, tools=tools or None, add_generation_prompt=True))

    return render


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer", choices=["cookbook", "renderers"])
    parser.add_argument("--tokenizers", type=pathlib.Path, required=True)
    parser.add_argument("--only", default="", help="formats whose name begins so")
    options = parser.parse_args()
    import transformers

    conversations = {entry["id"]: entry for entry in read("conversations.json.gz")}
    loaded = {}
    for name in COOKBOOK if options.peer == "cookbook" else PRIME:
        if not name.startswith(options.only):
            continue
        golden = read(f"goldens/{name}.json.gz")
        folder = options.tokenizers / golden["tokenizer"]
        if folder not in loaded:
            loaded[folder] = transformers.AutoTokenizer.from_pretrained(str(folder))
        tokenizer = loaded[folder]
        render = (cookbook if options.peer == "cookbook" else prime)(name, tokenizer)
        same, tokens, text, refused = 0, [], [], []
        for record in golden["records"]:
            if record["ending"] != "prompt" or "ids" not in record:
                continue
            identity = record["conversation"]
            try:
                ids = render(conversations[identity])
            except Exception as error:
                refused.append(f"{identity} ({type(error).__name__}: {str(error)[:60]})")
                continue
            if ids == record["ids"]:
                same += 1
            elif tokenizer.decode(ids, skip_special_tokens=False) == record["text"]:
                tokens.append(identity)
            else:
                text.append(identity)
        print(f"{name}: {same} same, {len(tokens)} other boundaries, {len(text)} other text, {len(refused)} refused")
        for label, found in [("boundaries", tokens), ("text", text), ("refused", refused)]:
            if found:
                print(f"    {label}: {', '.join(found)}", flush=True)


if __name__ == "__main__":
    main()
