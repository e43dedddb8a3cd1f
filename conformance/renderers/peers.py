"""The second column: what tinker-cookbook and PyPI `renderers` make of our conversations, compared with the goldens.

It only counts and names differences; peers.json holds what came out, and docs/reference/renderers.md the same as a table. Run by
`npm run conformance -- --only renderers`, each peer in a virtual environment of its own, whose packages are its own pins:
    python peers.py cookbook --tokenizers DIR --json FILE     # tinker-cookbook 0.5.8 or 0.6.1
    python peers.py renderers --tokenizers DIR --json FILE    # renderers 0.1.12; TIKTOKEN_ENCODINGS_BASE for gpt-oss
"""

import argparse
import gzip
import json
import os
import pathlib

os.environ["HF_HUB_OFFLINE"] = "1"
HERE = pathlib.Path(__file__).parent

# Of the goldens.
DATE = "2026-11-30"
COOKBOOK = {
    "qwen3": "qwen3",
    "qwen3+no-thinking": "qwen3_disable_thinking",
    "qwen3-instruct-2507": "qwen3_instruct",
    "qwen3.5": "qwen3_5",
    "qwen3.5+no-thinking": "qwen3_5_disable_thinking",
    "qwen3.6": "qwen3_5",
    "qwen3.6+no-thinking": "qwen3_5_disable_thinking",
    "qwen3.6+preserve-thinking": "qwen3_5_preserve_thinking",
    "llama3": "llama3",
    "nemotron3-nano": "nemotron3",
    "nemotron3-nano+no-thinking": "nemotron3_disable_thinking",
    "nemotron3-nano+preserve-thinking": "nemotron3_preserve_thinking",
    "nemotron3-super": "nemotron3",
    "nemotron3-super+no-thinking": "nemotron3_disable_thinking",
    "nemotron3-super+preserve-thinking": "nemotron3_preserve_thinking",
    "nemotron3-super+low-effort": "nemotron3_low_thinking",
    "nemotron3-ultra": "nemotron3_ultra",
    "nemotron3-ultra+no-thinking": "nemotron3_ultra_disable_thinking",
    "nemotron3-ultra+preserve-thinking": "nemotron3_ultra_preserve_thinking",
    "nemotron3-ultra+medium-effort": "nemotron3_ultra_medium_thinking",
    "gpt-oss": "gpt_oss_medium_reasoning",
    "gpt-oss+low-effort": "gpt_oss_low_reasoning",
    "gpt-oss+high-effort": "gpt_oss_high_reasoning",
}
# The 2507 models are the package's "qwen3" too, as its own table of models has them.
PRIME = {
    "qwen3": ("qwen3", {}),
    "qwen3+no-thinking": ("qwen3", {"enable_thinking": False}),
    "qwen3-instruct-2507": ("qwen3", {}),
    "qwen3-thinking-2507": ("qwen3", {}),
    "qwen3.5": ("qwen3.5", {"enable_thinking": True}),
    "qwen3.5+no-thinking": ("qwen3.5", {"enable_thinking": False}),
    "qwen3.6": ("qwen3.6", {"enable_thinking": True}),
    "qwen3.6+no-thinking": ("qwen3.6", {"enable_thinking": False}),
    "qwen3.6+preserve-thinking": ("qwen3.6", {"enable_thinking": True, "preserve_thinking": True}),
    "qwen3.6+no-thinking+preserve-thinking": ("qwen3.6", {"enable_thinking": False, "preserve_thinking": True}),
    "llama3.1": ("llama-3", {}),
    "llama3.1+tools-in-system": ("llama-3", {"tools_in_user_message": False}),
    "llama3.2": ("llama-3", {"date_string": "30 Nov 2026"}),
    "llama3.2+tools-in-system": ("llama-3", {"date_string": "30 Nov 2026", "tools_in_user_message": False}),
    "nemotron3-nano": ("nemotron-3", {}),
    "nemotron3-nano+no-thinking": ("nemotron-3", {"enable_thinking": False}),
    "nemotron3-nano+preserve-thinking": ("nemotron-3", {"truncate_history_thinking": False}),
    "nemotron3-super": ("nemotron-3", {}),
    "nemotron3-super+no-thinking": ("nemotron-3", {"enable_thinking": False}),
    "nemotron3-super+preserve-thinking": ("nemotron-3", {"truncate_history_thinking": False}),
    "nemotron3-super+low-effort": ("nemotron-3", {"low_effort": True}),
    "nemotron3-ultra": ("nemotron-3-ultra", {}),
    "nemotron3-ultra+no-thinking": ("nemotron-3-ultra", {"enable_thinking": False}),
    "nemotron3-ultra+preserve-thinking": ("nemotron-3-ultra", {"truncate_history_thinking": False}),
    "nemotron3-ultra+medium-effort": ("nemotron-3-ultra", {"medium_effort": True}),
    "gpt-oss": ("gpt-oss", {"conversation_start_date": DATE}),
    "gpt-oss+low-effort": ("gpt-oss", {"conversation_start_date": DATE, "reasoning_effort": "low"}),
    "gpt-oss+high-effort": ("gpt-oss", {"conversation_start_date": DATE, "reasoning_effort": "high"}),
}
# The package looks at the model's name where one renderer serves several templates.
PUBLISHED = {
    "nemotron3-nano": "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
    "nemotron3-super": "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16",
    "nemotron3-ultra": "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-BF16",
}


def read(path):
    return json.loads(gzip.decompress((HERE / path).read_bytes()))


def cookbook(name, tokenizer):
    from tinker_cookbook import renderers

    renderer = renderers.get_renderer(COOKBOOK[name], tokenizer)
    if name.startswith("gpt-oss"):
        renderer.current_date = DATE  # it would take today's, and agree with the goldens on one day only

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
    tokenizer.name_or_path = PUBLISHED.get(name.split("+")[0], tokenizer.name_or_path)
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
    parser.add_argument("--json", type=pathlib.Path, help="also write the counts there")
    options = parser.parse_args()
    counts = {}
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
        counts[name] = {"same": same, "boundaries": sorted(tokens), "text": sorted(text)}
        counts[name]["refused"] = sorted(entry.split(" ")[0] for entry in refused)
        print(f"{name}: {same} same, {len(tokens)} other boundaries, {len(text)} other text, {len(refused)} refused")
        for label, found in [("boundaries", tokens), ("text", text), ("refused", refused)]:
            if found:
                print(f"    {label}: {', '.join(found)}", flush=True)
    if options.json:
        options.json.write_text(json.dumps(counts, indent=1) + "\n")


if __name__ == "__main__":
    main()
