"""PyTorch's side of `models.ts`: one model with LoRA adapters, timed on request. A line of JSON in, one out."""

import json
import resource
import sys
import time

import torch
from peft import LoraConfig, get_peft_model
from transformers import AutoModelForCausalLM

folder, threads = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(threads)
TARGETS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
base = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
model = get_peft_model(base, LoraConfig(r=16, lora_alpha=32, target_modules=TARGETS, lora_dropout=0.0))
optimiser = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-5)
vocabulary = base.config.vocab_size


def tokens(batch, time_):
    line = torch.arange(batch)[:, None] * 104729 + torch.arange(time_)[None, :] * 7919
    return line % (vocabulary - 10) + 3


def train(batch, length):
    ids = tokens(batch, length + 1)
    first = length * 3 // 4
    hidden = base.model(input_ids=ids[:, :-1]).last_hidden_state[:, first:]
    logprobs = torch.log_softmax(base.lm_head(hidden), -1)
    loss = -logprobs.gather(-1, ids[:, 1 + first :, None]).sum() / logprobs.shape[0] / logprobs.shape[1]
    loss.backward()
    optimiser.step()
    optimiser.zero_grad()


def train_bf16(batch, length):
    with torch.autocast("cpu", dtype=torch.bfloat16):
        train(batch, length)


def has_bf16_units():
    return torch.cpu._is_amx_tile_supported() or torch.cpu._is_avx512_bf16_supported()


@torch.no_grad()
def generate(prompts, group, length, new):
    ids = tokens(prompts, length).repeat_interleave(group, 0)
    with model.disable_adapter():
        model.generate(input_ids=ids, attention_mask=torch.ones_like(ids), do_sample=False, min_new_tokens=new, max_new_tokens=new)


for line in sys.stdin:
    request = json.loads(line)
    start, cpu = time.perf_counter(), time.process_time()
    work = {"train": train, "train_bf16": train_bf16, "generate": generate, "has_bf16_units": has_bf16_units}
    result = work[request["what"]](*request["sizes"])
    answer = {
        "result": result,
        "seconds": time.perf_counter() - start,
        "cpu": time.process_time() - cpu,
        "peakMiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    print(json.dumps(answer), flush=True)
