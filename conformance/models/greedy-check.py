"""Whether continuations are the greedy ones of transformers in single precision: one pass over prompt and continuation
says what the model prefers after every prefix. If that is always the token that follows, its own greedy continuation is
the same, by induction. Reads {"model": folder, "rows": [{"prompt": [id], "tokens": [id]}]} on stdin and writes for each
row of each token {"best": id, "gap": log-probability between the best two}."""

import json
import sys

import torch
from transformers import AutoModelForCausalLM


@torch.no_grad()
def main() -> None:
    torch.set_num_threads(1)
    job = json.load(sys.stdin)
    model = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32, attn_implementation="eager").eval()
    answers = []
    for row in job["rows"]:
        ids = torch.tensor([row["prompt"] + row["tokens"][:-1]])
        logits = model(input_ids=ids, logits_to_keep=len(row["tokens"])).logits[0]
        best = torch.log_softmax(logits, -1).topk(2)
        gaps = (best.values[:, 0] - best.values[:, 1]).tolist()
        answers.append([{"best": b, "gap": g} for b, g in zip(best.indices[:, 0].tolist(), gaps)])
    json.dump(answers, sys.stdout)


main()
