"""What PEFT makes of an adapter folder, for the comparisons with vLLM and SGLang: the change of every adapted matrix,
scale included, and the tensors of the file itself, both by the matrix's path in the Hugging Face model."""

import re
from pathlib import Path

import torch
from peft import PeftModel
from peft.tuners.lora import LoraLayer
from safetensors.torch import load_file
from transformers import AutoModelForCausalLM


def deltas_of(model, adapter):
    base = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    adapted = PeftModel.from_pretrained(base, adapter).base_model.model
    return {
        name: module.get_delta_weight("default").detach()
        for name, module in adapted.named_modules()
        if isinstance(module, LoraLayer)
    }


def pairs_of(adapter):
    """{matrix: (A, B)}"""
    halves = load_file(Path(adapter) / "adapter_model.safetensors")
    found = {}
    for name, tensor in halves.items():
        matrix, half = re.fullmatch(r"base_model\.model\.(.+)\.lora_([AB])\.weight", name).groups()
        found.setdefault(matrix, {})[half] = tensor
    return {matrix: (pair["A"], pair["B"]) for matrix, pair in found.items()}


def relative_error(found, expected):
    return ((found - expected).abs().max() / expected.abs().max()).item()
