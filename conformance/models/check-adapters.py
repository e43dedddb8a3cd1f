"""Log-probabilities of models by transformers and PEFT, for the tests of exports. Reads jobs as JSON on stdin, a list of
{"model": folder, "adapter": folder or null, "ids": [[...], ...]}, and writes for each a list of [positions, vocabulary]
nested lists. Warnings of PEFT (missing or unexpected keys) are errors here: a wrong folder often loads with no more."""

import json
import sys
import warnings

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM

warnings.filterwarnings("error", message=".*(missing|unexpected).*keys.*")


def main() -> None:
    torch.set_num_threads(1)
    answers = []
    for job in json.load(sys.stdin):
        model = AutoModelForCausalLM.from_pretrained(job["model"], dtype=torch.float32)
        if job["adapter"]:
            model = PeftModel.from_pretrained(model, job["adapter"])
        model.eval()
        with torch.no_grad():
            answers.append(
                [torch.log_softmax(model(input_ids=torch.tensor([ids])).logits[0], -1).tolist() for ids in job["ids"]]
            )
    json.dump(answers, sys.stdout)


main()
