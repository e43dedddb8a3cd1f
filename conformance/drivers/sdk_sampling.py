"""Sampling cases of sdk.py: seeds, stops, log-probabilities of samples and prompts, and the newest SDK's options."""

import math

from harness import case, ensure, refused, same, wait
from tinker import types


def run(world):
    # A model that a step has changed, but that is far from certain of anything: samples must differ.
    trainer = world.create(seed=41)
    wait(trainer.forward_backward(world.examples(), "cross_entropy"))
    wait(trainer.optim_step(types.AdamParams(learning_rate=1e-3)))
    sampler = wait(trainer.save_weights_and_get_sampling_client())
    text = "What is 1 plus 2? \\boxed{3}<|im_end|>\nuser"
    prompt_tokens = world.encode(text)
    prompt = types.ModelInput.from_ints(prompt_tokens)

    def sample(count=1, **params):
        params = {"max_tokens": 8, "temperature": 1.0, **params}
        return wait(sampler.sample(prompt, count, types.SamplingParams(**params))).sequences

    @case("the same seed gives the same tokens and log-probabilities, another seed others")
    def _():
        first, again, other = sample(seed=3)[0], sample(seed=3)[0], sample(seed=4)[0]
        ensure(list(first.tokens) == list(again.tokens), f"{first.tokens} and {again.tokens}")
        same(again.logprobs, first.logprobs, "log-probabilities", 1e-6)
        ensure(list(first.tokens) != list(other.tokens), f"seeds 3 and 4 both gave {first.tokens}")

    @case("without a seed every call draws anew")
    def _():
        drawn = [tuple(one.tokens) for _ in range(4) for one in sample(count=4)]
        ensure(len(set(drawn)) >= 12, f"only {len(set(drawn))} different sequences in 4 calls of 4 samples")

    @case("num_samples gives distinct sequences with one log-probability a token, never an empty one")
    def _():
        sequences = sample(count=6, seed=8)
        ensure(len(sequences) == 6, f"{len(sequences)} sequences")
        ensure(all(len(one.tokens) == len(one.logprobs) > 0 for one in sequences), "lengths of tokens and logprobs")
        ensure(len({tuple(one.tokens) for one in sequences}) > 1, "all sequences are equal")
        if world.newest:
            ids = {one.sequence_id for one in sequences}
            ensure(len(ids) == 6 and all(ids), f"sequence ids {ids}")

    @case("sampled log-probabilities are the untempered ones that compute_logprobs gives")
    def _():
        sequence = sample(seed=6, temperature=0.7, top_p=0.9)[0]
        whole = types.ModelInput.from_ints(prompt_tokens + list(sequence.tokens))
        scored = wait(sampler.compute_logprobs(whole))[len(prompt_tokens) :]
        return f"largest difference {same(sequence.logprobs, scored, 'log-probabilities', 1e-4):.1e}"

    @case("a stop token ends the sequence and is part of it")
    def _():
        drawn = sample(seed=9, max_tokens=8)[0]
        stop = list(drawn.tokens)[3]
        cut = list(drawn.tokens).index(stop) + 1
        stopped = sample(seed=9, max_tokens=8, stop=[stop])[0]
        ensure(list(stopped.tokens) == list(drawn.tokens)[:cut], f"{stopped.tokens} of {drawn.tokens}, stop {stop}")
        ensure(stopped.stop_reason == "stop", f"stop reason {stopped.stop_reason}")
        short = sample(seed=9, max_tokens=2, stop=[])[0]
        ensure(short.stop_reason == "length" and len(short.tokens) == 2, f"{short.stop_reason}, {short.tokens}")

    @case("a stop string, bare or in a list, ends the sequence where the decoded text holds it")
    def _():
        drawn = sample(seed=9, max_tokens=8)[0]
        pieces = [world.tokenizer.decode([token]) for token in drawn.tokens]
        stop = next(piece for piece in pieces[1:] if piece.strip() and "\ufffd" not in piece and "<" not in piece)
        for form in (stop, [stop]):
            stopped = sample(seed=9, max_tokens=8, stop=form)[0]
            decoded = world.tokenizer.decode(list(stopped.tokens))
            ensure(stop in decoded, f"{decoded!r} lacks {stop!r}")
            ensure(stop not in world.tokenizer.decode(list(stopped.tokens)[:-1]), f"{decoded!r} goes on after {stop!r}")
            ensure(stopped.stop_reason == "stop", f"stop reason {stopped.stop_reason}")
        return repr(stop)

    @case("temperature 0 and top_k 1 both take the likeliest token")
    def _():
        greedy, single = sample(temperature=0.0)[0], sample(top_k=1, seed=2)[0]
        ensure(list(greedy.tokens) == list(single.tokens), f"{greedy.tokens} and {single.tokens}")
        ensure(all(math.isfinite(value) for value in greedy.logprobs), f"{greedy.logprobs}")

    @case("prompt log-probabilities: one a token, none for the first, equal to the trainer's")
    def _():
        params = types.SamplingParams(max_tokens=1, seed=1)
        scored = wait(sampler.sample(prompt, 1, params, include_prompt_logprobs=True)).prompt_logprobs
        ensure(len(scored) == len(prompt_tokens) and scored[0] is None, f"{len(scored)} entries, first {scored[0]}")
        inputs = {"target_tokens": prompt_tokens[1:], "weights": [1.0] * (len(prompt_tokens) - 1)}
        datum = types.Datum(model_input=types.ModelInput.from_ints(prompt_tokens[:-1]), loss_fn_inputs=inputs)
        trained = wait(trainer.forward([datum], "cross_entropy")).loss_fn_outputs[0]["logprobs"].data
        return f"largest difference {same(scored[1:], trained, 'log-probabilities', 1e-4):.1e}"

    @case("top-k prompt log-probabilities are sorted, hold the likeliest token, and agree with the prompt's own")
    def _():
        params = types.SamplingParams(max_tokens=1, seed=1)
        result = wait(sampler.sample(prompt, 1, params, include_prompt_logprobs=True, topk_prompt_logprobs=5))
        rows, own = result.topk_prompt_logprobs, result.prompt_logprobs
        ensure(len(rows) == len(prompt_tokens) and not rows[0], f"{len(rows)} rows, first {rows[0]}")
        for place in range(1, len(rows)):
            check_row(rows[place], 5, prompt_tokens[place], own[place])

    if world.newest:
        newest(world, sampler, prompt, prompt_tokens)
    else:
        base_model(world, prompt)


def check_row(row, k, token, logprob):
    """`row` holds k (token, log-probability) pairs in falling order; the chosen token agrees if it is among them."""
    ensure(len(row) == k, f"{len(row)} pairs instead of {k}")
    values = [value for _, value in row]
    ensure(values == sorted(values, reverse=True), f"not in falling order: {values}")
    ensure(sum(math.exp(value) for value in values) <= 1.0 + 1e-5, f"probabilities add up to more than 1: {values}")
    found = dict(row).get(token)
    if found is None:
        ensure(logprob <= values[-1] + 1e-4, f"token {token} with {logprob} is missing from {row}")
    else:
        same(found, logprob, f"token {token}", 1e-4)


def base_model(world, prompt):
    @case("create_sampling_client of the base model samples")
    def _():
        client = wait(world.service.create_sampling_client(base_model=world.base_model))
        result = wait(client.sample(prompt, 1, types.SamplingParams(max_tokens=3, seed=1)))
        ensure(len(result.sequences[0].tokens) > 0, "no tokens")


def newest(world, sampler, prompt, prompt_tokens):
    base_model(world, prompt)
    params = types.SamplingParams(max_tokens=4, seed=12, temperature=1.0)

    @case("top-k log-probabilities of sampled tokens hold the sampled one")
    def _():
        sequence = wait(sampler.sample(prompt, 1, params, topk_sample_logprobs=4)).sequences[0]
        ensure(len(sequence.topk_logprobs) == len(sequence.tokens), "one row a token")
        for row, token, logprob in zip(sequence.topk_logprobs, sequence.tokens, sequence.logprobs):
            check_row(row, 4, token, logprob)

    @case("target prompt log-probabilities score the ids named, 0 where none is")
    def _():
        length = len(prompt_tokens) - 1
        ids = [[prompt_tokens[place + 1], -1 if place % 2 else 5] for place in range(length)]
        target = types.TensorData(data=[one for row in ids for one in row], dtype="int64", shape=[length, 2])
        result = wait(sampler.sample(prompt, 1, params, include_prompt_logprobs=True, target_prompt_logprobs=target))
        got = result.target_prompt_logprobs
        ensure(list(got.shape) == [length, 2], f"shape {got.shape}")
        same(list(got.data)[0::2], result.prompt_logprobs[1:], "the prompt's own tokens", 1e-4)
        ensure(all(got.data[2 * place + 1] == 0.0 for place in range(1, length, 2)), "cells of -1 must be 0")
        ensure(all(got.data[2 * place + 1] < 0.0 for place in range(0, length, 2)), "cells of id 5 must be scored")

    @case("prompt_logprobs_last_n scores the last entries only, with the values of the whole")
    def _():
        whole = wait(sampler.compute_logprobs(prompt))
        last = wait(sampler.compute_logprobs(prompt, prompt_logprobs_last_n=3))
        ensure(all(value is None for value in last[:-3]), f"{last}")
        same(last[-3:], whole[-3:], "log-probabilities", 1e-4)

    @case("prompt_alt_tokens_k draws alternatives, or is refused by name")
    def _():
        length = len(prompt_tokens) - 1
        try:
            result = wait(sampler.sample(prompt, 1, params, prompt_alt_tokens_k=2))
        except Exception as error:
            return refused_by_name(error, "prompt_alt_tokens_k")
        alternatives = result.prompt_alt_tokens
        ensure(list(alternatives.tokens.shape) == [length, 2], f"shape {alternatives.tokens.shape}")
        target = types.TensorData(data=list(alternatives.tokens.data), dtype="int64", shape=[length, 2])
        scored = wait(sampler.sample(prompt, 1, params, target_prompt_logprobs=target)).target_prompt_logprobs
        same(list(alternatives.logprobs.data), list(scored.data), "log-probabilities of the draws", 1e-4)

    @case("a prompt plus max_tokens beyond the context window is refused with both numbers")
    def _():
        return refused(lambda: wait(sampler.sample(prompt, 1, types.SamplingParams(max_tokens=100000))), "100000")

    @case("64 samples at once all arrive, each with its own seed's tokens")
    def _():
        futures = [sampler.sample(prompt, 1, types.SamplingParams(max_tokens=4, seed=seed)) for seed in range(64)]
        tokens = [tuple(wait(future).sequences[0].tokens) for future in futures]
        again = tuple(wait(sampler.sample(prompt, 1, types.SamplingParams(max_tokens=4, seed=40))).sequences[0].tokens)
        ensure(tokens[40] == again, f"{tokens[40]} and alone {again}")
        ensure(len(set(tokens)) > 8, f"only {len(set(tokens))} different sequences")


def refused_by_name(error, name):
    ensure(name in str(error) and type(error).__name__ in ("RequestFailedError", "BadRequestError", "UnprocessableEntityError"), f"{type(error).__name__}: {error}")
    return f"refused: {error}"[:300]
