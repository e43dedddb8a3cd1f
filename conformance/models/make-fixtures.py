"""Tiny random models of each architecture with what transformers and PEFT compute for them: the engine's yardstick.

For each case a folder of tests/fixtures: config.json in the spelling that hubs have, model.safetensors, and
expected.safetensors (token ids, logits, adapters, loss and the adapters' gradient; of the gradient of every weight its
norm and its product with a fixed direction). Run it in a venv with torch==2.13.0, transformers==5.24.0, peft==0.21.2:

    python conformance/models/make-fixtures.py src/engine/fixtures
"""

import json
import sys
from pathlib import Path

import torch
from peft import LoraConfig, get_peft_model
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM

VOCAB = 64
LENGTHS = [24, 17]
COMMON = dict(
    vocab_size=VOCAB, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
    num_key_value_heads=2, rms_norm_eps=1e-5, max_position_embeddings=128, torch_dtype="float32",
)
LLAMA = dict(COMMON, architectures=["LlamaForCausalLM"], model_type="llama", hidden_act="silu")
QWEN2 = dict(COMMON, architectures=["Qwen2ForCausalLM"], model_type="qwen2", hidden_act="silu", rope_theta=1000.0)
QWEN3 = dict(COMMON, architectures=["Qwen3ForCausalLM"], model_type="qwen3", hidden_act="silu", head_dim=16)
GEMMA = dict(
    COMMON, architectures=["Gemma3ForCausalLM"], model_type="gemma3_text", hidden_activation="gelu_pytorch_tanh",
    head_dim=16, query_pre_attn_scalar=24, num_hidden_layers=3, sliding_window=6, tie_word_embeddings=True,
)
# Heads of 16, as the decoding step of large models wants them.
WIDE = dict(head_dim=16)
CASES = {
    # As SmolLM2's config has it.
    "llama": dict(
        LLAMA, rope_theta=100000, rope_scaling=None, rope_interleaved=False, is_llama_config=True,
        tie_word_embeddings=True, attention_bias=False, pretraining_tp=1,
    ),
    # As Llama 3.2's config has it, with a short original context so that every branch of the scaling is taken.
    "llama-3": dict(
        LLAMA, head_dim=16, rope_theta=500.0, tie_word_embeddings=False, attention_bias=False, mlp_bias=False,
        rope_scaling=dict(rope_type="llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
                          original_max_position_embeddings=48),
    ),
    "llama-biases": dict(
        LLAMA, **WIDE, tie_word_embeddings=True, attention_bias=True, mlp_bias=True,
        rope_parameters=dict(rope_type="linear", factor=2.5, rope_theta=300.0),
    ),
    "qwen2": dict(QWEN2, tie_word_embeddings=True, use_sliding_window=False, sliding_window=4, max_window_layers=1),
    "qwen2-sliding": dict(
        QWEN2, **WIDE, tie_word_embeddings=False, use_sliding_window=True, sliding_window=5, max_window_layers=1,
    ),
    "qwen3": dict(QWEN3, tie_word_embeddings=False, rope_theta=1000000, attention_bias=False, rope_scaling=None),
    # As Gemma 3's first configs have it.
    "gemma3": dict(
        GEMMA, rope_theta=10000.0, rope_local_base_freq=100.0, sliding_window_pattern=3, rope_scaling=None,
        final_logit_softcapping=None, attn_logit_softcapping=None, attention_bias=False,
    ),
    # As transformers 5 writes it.
    "gemma3-v5": dict(
        GEMMA, final_logit_softcapping=3.0, layer_types=["full_attention", "sliding_attention", "sliding_attention"],
        rope_parameters=dict(
            full_attention=dict(rope_type="linear", factor=3.0, rope_theta=2000.0),
            sliding_attention=dict(rope_type="default", rope_theta=100.0),
        ),
    ),
}
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]


def direction(tensor):
    return torch.sin(torch.arange(1, tensor.numel() + 1, dtype=torch.float64)).reshape(tensor.shape)


def loss_of(model, rows, weights):
    total = 0
    for ids, weight in zip(rows, weights):
        logprobs = torch.log_softmax(model(input_ids=ids[None, :-1]).logits[0], -1)
        total = total - (weight * logprobs[torch.arange(len(ids) - 1), ids[1:]]).sum()
    return total


def make(name, config, folder):
    torch.manual_seed(len(name))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config, indent=1) + "\n")
    loaded = AutoConfig.from_pretrained(folder)
    model = AutoModelForCausalLM.from_config(loaded, attn_implementation="eager", dtype=torch.float32).eval()
    with torch.no_grad():
        for key, tensor in model.named_parameters():
            # Large enough for every part to matter, norms on both sides of their neutral value.
            if "norm" in key:
                neutral = 0 if config["model_type"] == "gemma3_text" else 1
                tensor.copy_(neutral + 0.4 * torch.randn_like(tensor))
            elif "bias" in key:
                tensor.normal_(0, 0.3)
            else:
                tensor.normal_(0, 0.2)
    tied = config["tie_word_embeddings"]
    state = {k: v.clone() for k, v in model.state_dict().items() if not (tied and k == "lm_head.weight")}
    save_file(state, folder / "model.safetensors", {"format": "pt"})

    # Not 0, which Gemma pads with and gives no gradient.
    rows = [torch.randint(1, VOCAB, (length + 1,)) for length in LENGTHS]
    weights = [torch.randn(length) for length in LENGTHS]
    expected = {}
    for i, (ids, weight) in enumerate(zip(rows, weights)):
        expected[f"ids.{i}"] = ids.float()
        expected[f"weights.{i}"] = weight
        with torch.no_grad():
            expected[f"logits.{i}"] = model(input_ids=ids[None, :-1]).logits[0]

    loss = loss_of(model, rows, weights)
    loss.backward()
    expected["full.loss"] = loss.detach().reshape(1)
    for key, tensor in model.named_parameters():
        gradient = tensor.grad.double()
        summary = [gradient.norm(), (gradient * direction(gradient)).sum()]
        expected[f"full.{key}"] = torch.stack(summary).float()
    model.zero_grad()

    targets = TARGETS + ([] if tied else ["lm_head"])
    adapted = get_peft_model(model, LoraConfig(r=2, lora_alpha=6, target_modules=targets, lora_dropout=0.0))
    adapters = {k: v for k, v in adapted.named_parameters() if "lora_" in k}
    with torch.no_grad():
        for tensor in adapters.values():
            tensor.normal_(0, 0.3)
    loss = loss_of(adapted, rows, weights)
    loss.backward()
    expected["lora.loss"] = loss.detach().reshape(1)
    for key, tensor in adapters.items():
        short = key.removeprefix("base_model.model.").replace(".default", "")
        expected[f"lora.{short}"] = tensor.detach()
        expected[f"gradient.{short}"] = tensor.grad
    save_file({k: v.contiguous() for k, v in expected.items()}, folder / "expected.safetensors", {"format": "pt"})
    size = sum(file.stat().st_size for file in folder.iterdir())
    print(f"{name}: {size} bytes, loss {loss.item():.4f}, {len(adapters)} adapters")


torch.set_num_threads(1)
target = Path(sys.argv[1])
for name, config in CASES.items():
    make(name, config, target / name)
