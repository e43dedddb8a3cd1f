"""Greedy continuations of 24 prompts by transformers in single precision, with how near the second choice was.

    python conformance/models/greedy.py <model folder> <output.json>
"""

import json
import sys

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

TOKENS = 64
CHAT = [
    "What is the capital of France? Answer in one sentence.",
    "Write a haiku about the sea.",
    "List three fruits and their colours.",
    "Explain why the sky is blue to a child.",
    "Translate 'good morning' into Spanish, Italian and German.",
    "What is 17 times 23? Show your steps.",
    "Write a Python function that reverses a string.",
    "Give me a recipe for pancakes.",
    "Who wrote Romeo and Juliet, and when?",
    "Summarise the water cycle in four steps.",
    "Name the planets of the solar system in order.",
    "Write an email that declines a meeting politely.",
    "What is the difference between a list and a tuple in Python?",
    "Tell me a short story about a robot and a cat.",
]
PLAIN = [
    "The history of the bicycle begins in",
    "def fibonacci(n):\n    ",
    "Once upon a time, in a village by the river,",
    "The three laws of thermodynamics state that",
    "<html>\n<body>\n  <h1>Welcome</h1>\n",
    "In 1969, astronauts",
    "SELECT name, age FROM users WHERE",
    "The best way to learn a language is",
    "1, 1, 2, 3, 5, 8,",
    "Photosynthesis is the process by which",
]


@torch.no_grad()
def main(folder, output):
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()
    stop = tokenizer.eos_token_id
    prompts = [
        tokenizer.apply_chat_template([{"role": "user", "content": text}], add_generation_prompt=True, return_dict=True)["input_ids"]
        for text in CHAT
    ] + [tokenizer(text)["input_ids"] for text in PLAIN]
    results = []
    for prompt in prompts:
        ids = torch.tensor([list(prompt)])
        cache, tokens, gaps = None, [], []
        while len(tokens) < TOKENS:
            out = model(input_ids=ids, past_key_values=cache, use_cache=True)
            cache = out.past_key_values
            best = torch.log_softmax(out.logits[0, -1], -1).topk(2)
            tokens.append(best.indices[0].item())
            gaps.append((best.values[0] - best.values[1]).item())
            if tokens[-1] == stop:
                break
            ids = best.indices[:1][None]
        results.append({"prompt": list(prompt), "tokens": tokens, "gaps": gaps})
        print(len(results), len(tokens), min(gaps), flush=True)
    json.dump({"stop": stop, "results": results}, open(output, "w"))


torch.set_num_threads(2)
main(sys.argv[1], sys.argv[2])
