"""Greedy continuations by transformers in fp32, with the log-probability gap between the best two tokens of each step.
Reads {"model": folder, "prompts": [[ids]], "tokens": n} on stdin, writes [{"ids": [...], "gaps": [...]}]."""

import json
import sys

import torch
from transformers import AutoModelForCausalLM


def main() -> None:
    torch.set_num_threads(2)
    job = json.load(sys.stdin)
    model = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32).eval()
    answers = []
    with torch.no_grad():
        for prompt in job["prompts"]:
            ids, gaps, cache = [], [], None
            step = torch.tensor([prompt])
            for _ in range(job["tokens"]):
                out = model(input_ids=step, past_key_values=cache, use_cache=True)
                cache = out.past_key_values
                best = torch.log_softmax(out.logits[0, -1], -1).topk(2)
                ids.append(int(best.indices[0]))
                gaps.append(float(best.values[0] - best.values[1]))
                if ids[-1] == model.config.eos_token_id:
                    break
                step = best.indices[:1].reshape(1, 1)
            answers.append({"ids": ids, "gaps": gaps})
    json.dump(answers, sys.stdout)


main()
