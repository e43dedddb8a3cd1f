"""The GGUF file that the `gguf` package writes of a merged folder, as the peer of ours: names, row order and rounding are
made here again from the folder, nothing is taken from our file. Then every tensor of ours is compared with it, byte for
byte. Reads {"folder", "tokenizer": GGUF whose tokenizer keys are copied, "type": "F16" or "Q8_0", "file": where to write,
"ours": file} on stdin; writes {"tensors", "bytes", "different": [name]}. For architecture llama only."""

import json
import re
import sys

import gguf
import numpy as np
from safetensors.numpy import load_file

from gguf_writing import add_shape, write_all

STEMS = {
    "input_layernorm": "attn_norm", "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k",
    "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output", "post_attention_layernorm": "ffn_norm",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down",
}
GLOBAL = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}


def name_of(name):
    if name in GLOBAL:
        return GLOBAL[name]
    block, stem = re.fullmatch(r"model\.layers\.(\d+)\.(.+)\.weight", name).groups()
    return f"blk.{block}.{STEMS[stem]}.weight"


def pairs(matrix, heads):
    rows, columns = matrix.shape
    return matrix.reshape(heads, 2, rows // heads // 2, columns).swapaxes(1, 2).reshape(rows, columns)


def tensors_of(folder, config, kind):
    for name, data in sorted(load_file(f"{folder}/model.safetensors").items()):
        data = data.astype(np.float32)
        if "q_proj" in name:
            data = pairs(data, config["num_attention_heads"])
        if "k_proj" in name:
            data = pairs(data, config["num_key_value_heads"])
        written = gguf.GGMLQuantizationType.F32 if data.ndim == 1 else gguf.GGMLQuantizationType[kind]
        yield name_of(name), gguf.quants.quantize(np.ascontiguousarray(data), written), written


def write(job, config, tensors):
    writer = gguf.GGUFWriter(job["file"], "llama")
    add_shape(writer, config)
    writer.add_rope_dimension_count(config["hidden_size"] // config["num_attention_heads"])
    writer.add_vocab_size(config["vocab_size"])
    for key, field in gguf.GGUFReader(job["tokenizer"]).fields.items():
        if key.startswith("tokenizer."):
            sub = field.types[-1] if len(field.types) > 1 else None
            writer.add_key_value(key, field.contents(), field.types[0], sub)
    for name, data, written in tensors:
        writer.add_tensor(name, data, raw_dtype=written)
    write_all(writer)


def main():
    job = json.load(sys.stdin)
    with open(f"{job['folder']}/config.json", encoding="utf-8") as file:
        config = json.load(file)
    tensors = list(tensors_of(job["folder"], config, job["type"]))
    write(job, config, tensors)
    ours = {tensor.name: tensor for tensor in gguf.GGUFReader(job["ours"]).tensors}
    different = sorted(set(ours) ^ {name for name, _, _ in tensors})
    size = 0
    for name, data, written in tensors:
        if name in ours:
            size += data.nbytes
            if ours[name].tensor_type != written or ours[name].data.tobytes() != data.tobytes():
                different.append(name)
    json.dump({"tensors": len(tensors), "bytes": size, "different": different}, sys.stdout)


main()
