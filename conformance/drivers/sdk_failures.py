"""What sdk.py must see refused: unknown options by name, as errors of the user, with the client usable afterwards."""

from harness import case, ensure, refused, wait
from tinker import types


def run(world):
    client, data = world.create(seed=37), world.examples()

    def still_works():
        ensure(wait(client.forward(data, "cross_entropy")).metrics["loss:sum"] > 0, "a loss")

    if world.version >= (0, 35):

        @case("stable_reinforce is refused with the names of the losses that are there, and the client goes on")
        def _():
            text = refused(lambda: wait(client.forward_backward(data, "stable_reinforce")), "gspo", "importance_sampling")
            still_works()
            return text

        @case("a custom loss of the server's is refused, and the client goes on")
        def _():
            text = refused(lambda: wait(client.forward_backward(data, "custom", {"loss_id": "x"})), "cross_entropy")
            still_works()
            return text

    @case("a datum with too few weights is refused with its index, and the client goes on")
    def _():
        inputs = dict(data[1].loss_fn_inputs)
        inputs["weights"] = types.TensorData(data=[1.0], dtype="float32", shape=[1])
        broken = types.Datum(model_input=data[1].model_input, loss_fn_inputs=inputs)
        text = refused(lambda: wait(client.forward_backward([data[0], broken], "cross_entropy")), "1", "weights")
        still_works()
        return text

    @case("a missing loss input and an unknown configuration key are refused by name")
    def _():
        first = refused(lambda: wait(client.forward_backward(data, "importance_sampling")), "advantages")
        second = refused(lambda: wait(client.forward_backward(data, "ppo", {"clip_hihg": 1.0})))
        still_works()
        return f"{first} | {second}"

    @case("a token outside the vocabulary is refused by value")
    def _():
        inputs = {"target_tokens": [10**6], "weights": [1.0]}
        datum = types.Datum(model_input=types.ModelInput.from_ints([1]), loss_fn_inputs=inputs)
        text = refused(lambda: wait(client.forward_backward([datum], "cross_entropy")), "1000000")
        still_works()
        return text

    @case("an unknown base model is refused by name, with what is served")
    def _():
        create = world.service.create_lora_training_client
        return refused(lambda: wait(create(base_model="Nobody/Nothing-1B", rank=8)), "Nobody/Nothing-1B", world.base_model)

    @case("saving other weights under a name that is taken is an error, not a conflict that is retried for minutes")
    def _():
        wait(client.save_state("taken"))
        wait(client.forward_backward(data, "cross_entropy"))
        wait(client.optim_step(types.AdamParams(learning_rate=1e-2)))
        return refused(lambda: wait(client.save_state("taken")), "taken")
