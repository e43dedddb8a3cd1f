"""GGUF files of Gemma 3 as the `gguf` package writes them, with its names, its quantisers and the keys that llama.cpp's
converter puts there, none of ours; and what transformers computes with the weights that are in them. Reads jobs as JSON on
stdin, a list of {"folder": Hugging Face folder, "file": where to write, "type": of the matrices, "keys": further
gemma3.* keys, "tokenizer": {"tokens", "scores", "types"}, "ids": [[id]]}; writes for each the log-probabilities of all
tokens at every position. Norms and rows that blocks do not fill stay F32."""

import json
import sys

import gguf
import numpy as np
import torch
from gguf.quants import dequantize, quantize
from safetensors.numpy import load_file
from transformers import AutoConfig, Gemma3ForCausalLM

from gguf_writing import add_shape, write_all


def keys_of(writer, config, extra):
    add_shape(writer, config)
    writer.add_key_length(config["head_dim"])
    writer.add_value_length(config["head_dim"])
    if config.get("final_logit_softcapping"):
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if config.get("sliding_window_pattern") != 1:
        writer.add_sliding_window(config["sliding_window"])
    if config.get("rope_scaling"):
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(config["rope_scaling"]["factor"])
    for key, value in extra.items():
        (writer.add_uint32 if isinstance(value, int) else writer.add_float32)(f"gemma3.{key}", value)


def tokenizer_of(writer, tokenizer):
    writer.add_tokenizer_model("llama")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokenizer["tokens"])
    writer.add_token_scores(tokenizer["scores"])
    writer.add_token_types(tokenizer["types"])
    writer.add_bos_token_id(2)
    writer.add_eos_token_id(1)
    writer.add_unk_token_id(3)
    writer.add_pad_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_add_space_prefix(False)


def run(job):
    with open(f"{job['folder']}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    writer = gguf.GGUFWriter(job["file"], "gemma3")
    keys_of(writer, config, job["keys"])
    tokenizer_of(writer, job["tokenizer"])
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.GEMMA3, config["num_hidden_layers"])
    state = {}
    for name, data in sorted(load_file(f"{job['folder']}/model.safetensors").items()):
        data = data.astype(np.float32)
        shift = np.float32(1 if name.endswith("norm.weight") else 0)
        kind = gguf.GGMLQuantizationType[job["type"]]
        if data.ndim == 1 or data.shape[-1] % gguf.GGML_QUANT_SIZES[kind][0] != 0:
            kind = gguf.GGMLQuantizationType.F32
        stored = quantize(np.ascontiguousarray(data + shift), kind)
        writer.add_tensor(names.get_name(name, try_suffixes=(".weight",)), stored, raw_dtype=kind)
        state[name] = torch.from_numpy(np.array(dequantize(stored, kind), dtype=np.float32) - shift)
    write_all(writer)
    model = Gemma3ForCausalLM(AutoConfig.from_pretrained(job["folder"])).to(torch.float32).eval()
    missing, unexpected = model.load_state_dict(state, strict=False)
    if unexpected or missing != ["lm_head.weight"]:
        raise SystemExit(f"missing {missing}, unexpected {unexpected}")
    model.tie_weights()
    with torch.no_grad():
        return [torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0], -1).tolist() for ids in job["ids"]]


torch.set_num_threads(1)
json.dump([run(job) for job in json.load(sys.stdin)], sys.stdout)
