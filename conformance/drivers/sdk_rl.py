"""Reinforcement-learning cases of sdk.py: every policy loss in its closed form, off policy, and what a step does."""

import math

from harness import case, ensure, same, wait
from sdk import column
from tinker import types

ADAM = dict(beta1=0.9, beta2=0.95, eps=1e-8)
CLIP = {"clip_low_threshold": 0.9, "clip_high_threshold": 1.1}


def importance_sampling(new, old, advantages, _mask):
    return -sum(math.exp(p - q) * a for p, q, a in zip(new, old, advantages))


def ppo(new, old, advantages, _mask):
    low, high = CLIP["clip_low_threshold"], CLIP["clip_high_threshold"]
    ratios = [math.exp(p - q) for p, q in zip(new, old)]
    return -sum(min(r * a, min(max(r, low), high) * a) for r, a in zip(ratios, advantages))


def cispo(new, old, advantages, _mask):
    low, high = CLIP["clip_low_threshold"], CLIP["clip_high_threshold"]
    return -sum(min(max(math.exp(p - q), low), high) * p * a for p, q, a in zip(new, old, advantages))


def dro(new, old, advantages, _mask):
    return -sum(p * a - 0.5 * 0.05 * (p - q) ** 2 for p, q, a in zip(new, old, advantages))


def gspo(new, old, advantages, mask):
    """Geometric mean of the row's ratios over the masked positions; the bounds are those of CLIP."""
    counted = [index for index, one in enumerate(mask) if one]
    ratio = math.exp(sum(new[index] - old[index] for index in counted) / len(counted))
    advantage = sum(advantages[index] for index in counted) / len(counted)
    clipped = min(max(ratio, CLIP["clip_low_threshold"]), CLIP["clip_high_threshold"])
    return -min(ratio * advantage, clipped * advantage)


FORMS = {
    "importance_sampling": (importance_sampling, None),
    "ppo": (ppo, CLIP),
    "cispo": (cispo, CLIP),
    "dro": (dro, {"beta": 0.05}),
    "gspo": (gspo, CLIP),
}


def sampled_datums(world, client, shift=0.0, mask=False):
    """One group of samples as datums with alternating advantages; `shift` moves the old log-probabilities."""
    sampler = wait(client.save_weights_and_get_sampling_client())
    prompt = world.encode("What is 1 plus 2?")
    params = types.SamplingParams(max_tokens=6, temperature=1.0, seed=5)
    result = wait(sampler.sample(types.ModelInput.from_ints(prompt), 6, params))
    datums = []
    for index, sequence in enumerate(result.sequences):
        tokens, ahead = list(sequence.tokens), len(prompt) - 1
        old = [value + shift * (-1) ** place for place, value in enumerate(sequence.logprobs)]
        inputs = {
            "target_tokens": [0] * ahead + tokens,
            "logprobs": [0.0] * ahead + old,
            "advantages": [0.0] * ahead + [(-1.0) ** index * (1 + index / 4)] * len(tokens),
        }
        if mask:
            inputs["sequence_ratio_mask"] = [0.0] * ahead + [1.0] * len(tokens)
        datums.append(types.Datum(model_input=types.ModelInput.from_ints(prompt + tokens[:-1]), loss_fn_inputs=inputs))
    return datums


def terms(datum):
    """The sampled positions only: prompts carry advantage 0 and old log-probability 0."""
    inputs = datum.loss_fn_inputs
    ahead = next(index for index, value in enumerate(inputs["advantages"].data) if value != 0)
    mask = inputs["sequence_ratio_mask"].data[ahead:] if "sequence_ratio_mask" in inputs else None
    return ahead, inputs["logprobs"].data[ahead:], inputs["advantages"].data[ahead:], mask


def closed_form(form, datums, output):
    total = 0.0
    for datum, new in zip(datums, column(output, "logprobs")):
        ahead, old, advantages, mask = terms(datum)
        total += form(new[ahead:], old, advantages, mask)
    return total


def run(world):
    names = [name for name in FORMS if name != "gspo" or world.version >= (0, 34)]
    for name in names:
        form, config = FORMS[name]

        @case(f"{name} off policy has the value of its closed form")
        def _():
            datums = sampled_datums(world, world.training, shift=0.3, mask=name == "gspo")
            if name == "dro":  # acts where the advantage is 0 as well: give it no prompt to act on
                datums = [without_prompt_difference(world.training, datum) for datum in datums]
            output = wait(world.training.forward(datums, name, config))
            expected = closed_form(form, datums, output)
            return f"{expected:.3f}, off by {same(output.metrics['loss:sum'], expected, 'loss:sum', 1e-4):.1e}"

        @case(f"a step with {name} makes good samples likelier and bad ones less likely")
        def _():
            client = world.create(seed=19)
            datums = sampled_datums(world, client, mask=name == "gspo")
            before = gain(datums, wait(client.forward_backward(datums, name, config)))
            wait(client.optim_step(types.AdamParams(learning_rate=5e-3, **ADAM)))
            after = gain(datums, wait(client.forward(datums, name, config)))
            ensure(after > before, f"advantage-weighted log-probability went from {before} to {after}")
            return f"{before:.3f} to {after:.3f}"

    @case("sampled log-probabilities equal the trainer's")
    def _():
        worst = 0.0
        datums = sampled_datums(world, world.training)
        for datum, new in zip(datums, column(wait(world.training.forward(datums, "importance_sampling")), "logprobs")):
            ahead, old, _, _ = terms(datum)
            worst = max(worst, same(new[ahead:], old, "log-probabilities", 1e-4))
        return f"largest difference {worst:.1e}"


def gain(datums, output):
    return sum(
        advantage * logprob
        for datum, row in zip(datums, column(output, "logprobs"))
        for advantage, logprob in zip(datum.loss_fn_inputs["advantages"].data, row)
    )


def without_prompt_difference(client, datum):
    """Old log-probabilities of the prompt set to the trainer's own, so that only sampled positions differ."""
    new = column(wait(client.forward([datum], "importance_sampling")), "logprobs")[0]
    ahead, old, _, _ = terms(datum)
    inputs = dict(datum.loss_fn_inputs)
    inputs["logprobs"] = new[:ahead] + list(old)
    return types.Datum(model_input=datum.model_input, loss_fn_inputs=inputs)
