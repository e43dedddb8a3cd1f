"""Makes a tiny random Qwen3 model and its tokenizer in the layout of a Hugging Face folder, without torch.

The vocabulary is a byte-level BPE trained on the given text, so the folder is a few hundred kilobytes. The weights
are drawn from a seeded generator: the same arguments give the same folder. Field names are those of the published
Qwen3 checkpoints.
"""

import argparse
import json
from pathlib import Path

import numpy
from safetensors.numpy import save_file
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, trainers

SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
ADDED = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message.role }}\n{{ message.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tokenizer(corpus, size, folder):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=size,
        special_tokens=SPECIAL,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator([corpus], trainer)
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in ADDED])
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "model_max_length": 2048,
        "clean_up_tokenization_spaces": False,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2))
    return tokenizer


def make_weights(config, random):
    hidden, inner, vocabulary = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    width = config["head_dim"]
    queries, keys = config["num_attention_heads"] * width, config["num_key_value_heads"] * width

    def matrix(rows, columns, scale=1.0):
        return (random.standard_normal((rows, columns)) * scale / numpy.sqrt(columns)).astype(numpy.float32)

    def norm(size):
        return (1.0 + 0.1 * random.standard_normal(size)).astype(numpy.float32)

    weights = {
        "model.embed_tokens.weight": random.standard_normal((vocabulary, hidden)).astype(numpy.float32),
        "model.norm.weight": norm(hidden),
        "lm_head.weight": matrix(vocabulary, hidden),
    }
    for layer in range(config["num_hidden_layers"]):
        prefix = f"model.layers.{layer}."
        for name, rows, columns in [
            ("self_attn.q_proj", queries, hidden),
            ("self_attn.k_proj", keys, hidden),
            ("self_attn.v_proj", keys, hidden),
            ("self_attn.o_proj", hidden, queries),
            ("mlp.gate_proj", inner, hidden),
            ("mlp.up_proj", inner, hidden),
            ("mlp.down_proj", hidden, inner),
        ]:
            weights[f"{prefix}{name}.weight"] = matrix(rows, columns)
        for name, size in [
            ("input_layernorm", hidden),
            ("post_attention_layernorm", hidden),
            ("self_attn.q_norm", width),
            ("self_attn.k_norm", width),
        ]:
            weights[f"{prefix}{name}.weight"] = norm(size)
    return weights


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--corpus", required=True, help="a text file for the tokenizer")
    parser.add_argument("--hidden", type=int, default=64)
    parser.add_argument("--vocabulary", type=int, default=512)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    folder = Path(args.out)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = make_tokenizer(Path(args.corpus).read_text(), args.vocabulary, folder)
    end = tokenizer.token_to_id("<|im_end|>")
    config = {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": args.hidden,
        "intermediate_size": 2 * args.hidden,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": args.hidden // 4,
        "hidden_act": "silu",
        "max_position_embeddings": 2048,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1000000.0,
        "attention_bias": False,
        "attention_dropout": 0.0,
        "tie_word_embeddings": False,
        "use_cache": True,
        "use_sliding_window": False,
        "torch_dtype": "float32",
        "bos_token_id": tokenizer.token_to_id("<|endoftext|>"),
        "eos_token_id": end,
        "pad_token_id": tokenizer.token_to_id("<|endoftext|>"),
    }
    (folder / "config.json").write_text(json.dumps(config, indent=2))
    (folder / "generation_config.json").write_text(json.dumps({"eos_token_id": [end]}))
    weights = make_weights(config, numpy.random.default_rng(args.seed))
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})
    print(sum(tensor.size for tensor in weights.values()), "parameters")


if __name__ == "__main__":
    main()
