"""Loads what sdk.py downloaded into PEFT on the CPU and repeats the optimizer's steps with torch.

Arguments: --model (the Hugging Face folder that the server serves) and --out (sdk.py's folder). Compared: the
log-probabilities of every downloaded adapter, the gradient's norm, and each adapter with the one before it after one
step of torch.optim.AdamW on the sum loss, with clipping and weight decay.
"""

import argparse
import json
from pathlib import Path

import torch
from harness import case, ensure, same
from peft import PeftModel
from transformers import AutoModelForCausalLM


def load(model, folder, trainable=False):
    found = next(Path(folder).rglob("adapter_config.json")).parent
    base = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    return PeftModel.from_pretrained(base, str(found), is_trainable=trainable)


def rows(peft, data):
    """Log-probability of every target, one row a datum: no padding, so nothing depends on a mask."""
    result = []
    for datum in data:
        scores = torch.log_softmax(peft(input_ids=torch.tensor([datum["tokens"]])).logits[0], -1)
        result.append(scores[torch.arange(len(datum["targets"])), torch.tensor(datum["targets"])])
    return result


def adapter(peft):
    return {name: value.detach().clone() for name, value in peft.named_parameters() if "lora_" in name}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    out = Path(args.out)
    figures = json.loads((out / "figures.json").read_text())
    data, states, adam = figures["data"], figures["states"], figures["adam"]

    for state in states:

        @case(f"PEFT loads {state['folder']} and computes the server's log-probabilities")
        def _():
            with torch.no_grad():
                computed = rows(load(args.model, out / state["folder"]), data)
            pairs = zip(computed, state["logprobs"])
            worst = max(same(left.tolist(), right, "log-probabilities", 2e-4) for left, right in pairs)
            return f"largest difference {worst:.1e}"

    @case("the adapter covers attention, feed-forward and the output layer")
    def _():
        names = {name.split(".lora_")[0].split(".")[-1] for name in adapter(load(args.model, out / "adapter-0"))}
        expected = {"q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj", "lm_head"}
        ensure(names == expected, f"{sorted(names)}")

    @case("the adapter's product is scaled by 32 / rank, as Tinker's")
    def _():
        config = next((out / "adapter-0").rglob("adapter_config.json"))
        values = json.loads(config.read_text())
        ensure(values["lora_alpha"] == 32 and values["r"] == 8, f"alpha {values['lora_alpha']}, rank {values['r']}")
        ensure(not values.get("use_rslora", False), "rank-stabilised scaling")

    @case("two optimizer steps equal torch.optim.AdamW with clipping and weight decay")
    def _():
        peft = load(args.model, out / states[0]["folder"], trainable=True)
        parameters = [value for value in peft.parameters() if value.requires_grad]
        optimizer = torch.optim.AdamW(
            parameters,
            lr=adam["learning_rate"],
            betas=(adam["beta1"], adam["beta2"]),
            eps=adam["eps"],
            weight_decay=adam["weight_decay"],
        )
        notes = []
        for index, state in enumerate(states[1:]):
            optimizer.zero_grad()
            loss = -sum((torch.tensor(datum["weights"]) * row).sum() for datum, row in zip(data, rows(peft, data)))
            same(float(loss), figures["losses"][index], "loss", 1e-4)
            loss.backward()
            norm = float(torch.nn.utils.clip_grad_norm_(parameters, adam["grad_clip_norm"]))
            reported = [value for name, value in (figures["optimizer_metrics"][index] or {}).items() if "grad_norm" in name]
            for value in reported:
                same(value, norm, "gradient norm", 1e-3)
            optimizer.step()
            mine, theirs = adapter(peft), adapter(load(args.model, out / state["folder"]))
            ensure(mine.keys() == theirs.keys(), "the same matrices")
            worst = max(float((mine[name] - theirs[name]).abs().max()) for name in mine)
            ensure(worst <= 0.02 * adam["learning_rate"], f"step {index + 1}: an entry differs by {worst}")
            notes.append(f"step {index + 1}: largest difference {worst:.1e}, gradient norm {norm:.3f}, {len(reported)} reported")
        ensure(any("grad_norm" in name for name in figures["optimizer_metrics"][0] or {}), "optim_step reports no gradient norm")
        return "; ".join(notes)


if __name__ == "__main__":
    main()
