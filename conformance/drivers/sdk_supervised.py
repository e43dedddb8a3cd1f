"""Supervised cases of sdk.py: cross-entropy in its closed form, accumulation, custom losses, the optimizer."""

from harness import case, ensure, same, wait
from sdk import column, weighted_nll
from tinker import types

ADAM = dict(beta1=0.9, beta2=0.95, eps=1e-8)


def run(world):
    training, data = world.training, world.examples()

    @case("forward returns one log-probability for every position, and the sum loss in closed form")
    def _():
        output = wait(training.forward(data, "cross_entropy"))
        logprobs = column(output, "logprobs")
        lengths = [len(row) for row in logprobs]
        ensure(lengths == [datum.model_input.length for datum in data], f"lengths {lengths}")
        ensure(all(value < 0 for row in logprobs for value in row), "log-probabilities must be negative")
        return f"loss:sum off by {same(output.metrics['loss:sum'], weighted_nll(data, logprobs), 'loss:sum', 1e-5):.1e}"

    @case("forward_backward computes what forward computes")
    def _():
        first = wait(training.forward(data, "cross_entropy"))
        second = wait(training.forward_backward(data, "cross_entropy"))
        wait(training.optim_step(types.AdamParams(learning_rate=0.0, **ADAM)))
        pairs = zip(column(first, "logprobs"), column(second, "logprobs"))
        return f"largest difference {max(same(right, left, 'logprobs', 1e-5) for left, right in pairs):.1e}"

    @case("a doubled batch has twice the loss, and negative or zero weights are taken as they are")
    def _():
        single = wait(training.forward(data, "cross_entropy")).metrics["loss:sum"]
        double = wait(training.forward(data + data, "cross_entropy")).metrics["loss:sum"]
        same(double, 2 * single, "loss of the doubled batch", 1e-5)
        length = data[0].model_input.length
        weights = [(-1.5, 0.0, 0.25)[index % 3] for index in range(length)]
        odd = [types.Datum(model_input=data[0].model_input, loss_fn_inputs={"target_tokens": data[0].loss_fn_inputs["target_tokens"], "weights": weights})]
        output = wait(training.forward(odd, "cross_entropy"))
        same(output.metrics["loss:sum"], weighted_nll(odd, column(output, "logprobs")), "loss with signed weights", 1e-5)

    @case("several text chunks in a datum are one sequence")
    def _():
        tokens = list(data[0].model_input.to_ints())
        parts = [types.EncodedTextChunk(tokens=part) for part in (tokens[:2], tokens[2:3], tokens[3:])]
        split = types.Datum(model_input=types.ModelInput(chunks=parts), loss_fn_inputs=dict(data[0].loss_fn_inputs))
        whole = column(wait(training.forward([data[0]], "cross_entropy")), "logprobs")[0]
        same(column(wait(training.forward([split], "cross_entropy")), "logprobs")[0], whole, "logprobs", 1e-5)

    @case("K targets a position: outputs are (N, K) and the loss is the weighted sum over both")
    def _():
        import numpy

        targets = numpy.asarray(data[0].loss_fn_inputs["target_tokens"].data)
        other = (targets + 1) % len(world.tokenizer)
        weights = numpy.linspace(0.1, 1.0, 2 * len(targets)).reshape(-1, 2).astype(numpy.float32)
        both = types.Datum(
            model_input=data[0].model_input,
            loss_fn_inputs={"target_tokens": numpy.stack([targets, other], 1).astype(numpy.int64), "weights": weights},
        )
        output = wait(training.forward([both], "cross_entropy"))
        logprobs = output.loss_fn_outputs[0]["logprobs"]
        ensure(list(logprobs.shape) == [len(targets), 2], f"shape {logprobs.shape}")
        first = column(wait(training.forward([data[0]], "cross_entropy")), "logprobs")[0]
        same(list(logprobs.data)[0::2], first, "first column", 1e-5)
        expected = -float((weights.reshape(-1) * numpy.asarray(logprobs.data)).sum())
        same(output.metrics["loss:sum"], expected, "loss", 1e-5)

    @case("two forward_backward calls and one step equal one call on all data, and a forward between them changes nothing")
    def _():
        apart, together = world.create(seed=11), world.create(seed=11)
        step = types.AdamParams(learning_rate=1e-2, **ADAM)
        for batch in (data[:2], data[2:]):
            apart.forward_backward(batch, "cross_entropy")
            apart.forward(data[:1], "cross_entropy")
        wait(apart.optim_step(step))
        together.forward_backward(data, "cross_entropy")
        wait(together.optim_step(step))
        left, right = (column(wait(client.forward(data, "cross_entropy")), "logprobs") for client in (apart, together))
        return f"largest difference {max(same(a, b, 'logprobs after the step', 1e-4) for a, b in zip(left, right)):.1e}"

    if world.newest:
        custom(world, data)

    @case("supervised steps lower the loss")
    def _():
        losses = []
        for _ in range(12):
            result = training.forward_backward(data, "cross_entropy")
            step = training.optim_step(types.AdamParams(learning_rate=1e-2, **ADAM))
            losses.append(wait(result).metrics["loss:sum"])
            wait(step)
        ensure(losses[-1] < 0.7 * losses[0], f"losses {losses}")
        return f"{losses[0]:.2f} to {losses[-1]:.2f} in {len(losses)} steps"


def custom(world, data):
    """forward_backward_custom needs torch, which only the newest SDK's environment has."""
    import torch

    def nll(batch, logprobs):
        loss = -sum((torch.tensor(datum.loss_fn_inputs["weights"].data) * row).sum() for datum, row in zip(batch, logprobs))
        return loss, {"tokens": float(sum(row.numel() for row in logprobs))}

    @case("forward_backward_custom with a cross-entropy of its own makes the same step as cross_entropy")
    def _():
        named, own = world.create(seed=13), world.create(seed=13)
        step = types.AdamParams(learning_rate=1e-2, **ADAM)
        expected = wait(named.forward_backward(data, "cross_entropy")).metrics["loss:sum"]
        wait(named.optim_step(step))
        result = wait(own.forward_backward_custom(data, nll))
        wait(own.optim_step(step))
        same(result.metrics["loss:sum"], expected, "loss of the custom function", 1e-5)
        ensure(result.metrics["tokens"] == sum(datum.model_input.length for datum in data), f"metrics {result.metrics}")
        left, right = (column(wait(client.forward(data, "cross_entropy")), "logprobs") for client in (named, own))
        return f"largest difference {max(same(a, b, 'logprobs after the step', 1e-4) for a, b in zip(left, right)):.1e}"

    @case("forward_backward_custom with a squared loss lowers that loss")
    def _():
        client, losses = world.create(seed=17), []

        def squared(batch, logprobs):
            return sum(((row + 1.0) ** 2).sum() for row in logprobs), {}

        for _ in range(4):
            losses.append(wait(client.forward_backward_custom(data, squared)).metrics["loss:sum"])
            wait(client.optim_step(types.AdamParams(learning_rate=1e-2, **ADAM)))
        ensure(losses[-1] < losses[0], f"losses {losses}")
        return f"{losses[0]:.1f} to {losses[-1]:.1f}"

    @case("sparse targets and weights (CSR) give the loss of the dense ones")
    def _():
        length = data[0].model_input.length
        targets, weights = torch.zeros(length, 8, dtype=torch.int64), torch.zeros(length, 8)
        for row in range(length):
            targets[row, row % 8] = data[0].loss_fn_inputs["target_tokens"].data[row]
            weights[row, row % 8] = 0.5
        inputs = {"target_tokens": targets, "weights": weights}
        sparse = types.Datum(model_input=data[0].model_input, loss_fn_inputs=inputs)
        ensure(sparse.loss_fn_inputs["weights"].sparse_crow_indices is not None, "the SDK sent it densely: no test")
        dense = types.Datum(
            model_input=data[0].model_input,
            loss_fn_inputs={name: types.TensorData.from_torch(value) for name, value in inputs.items()},
        )
        left, right = (wait(world.training.forward([one], "cross_entropy")).metrics["loss:sum"] for one in (sparse, dense))
        same(left, right, "loss", 1e-5)
