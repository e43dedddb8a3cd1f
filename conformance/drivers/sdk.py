"""Drives a Tinker server with the official Python SDK, whichever of the supported generations is installed.

Arguments: --base-url, --base-model (the name that create_model gets), --out (a folder for downloads and for the
figures that the torch comparison reads). Cases are in the sdk_*.py modules beside this file; an option that an SDK
generation does not have is no case of it.
"""

import argparse
import json
import os
import urllib.request
from pathlib import Path

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TINKER_API_KEY", "tml-conformance")

import tinker  # noqa: E402
from harness import DEADLINE_S, case, ensure, wait  # noqa: E402
from tinker import types  # noqa: E402


class World:
    """What the cases share: one service client, its version, the texts that the model is trained on."""

    def __init__(self, args):
        self.base_url = args.base_url
        self.base_model = args.base_model
        self.out = Path(args.out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.version = tuple(int(part) for part in tinker.__version__.split(".")[:2])
        self.newest = self.version >= (0, 38)
        self.service = tinker.ServiceClient(base_url=args.base_url)
        self.training = None
        self.tokenizer = None
        self.made = []

    def create(self, rank=8, seed=7):
        """A new model; the same seed gives the same initial adapter."""
        return self.owned(wait(self.service.create_lora_training_client(base_model=self.base_model, rank=rank, seed=seed)))

    def owned(self, client):
        """The client, whose model `release` ends: a server holds only so many at a time."""
        self.made.append(wait(client.get_info()).model_id)
        return client

    def release(self):
        """Ends the models made so far but the first; newer SDKs have no call for it, the API has."""
        for model_id in self.made[1:]:
            self.post("unload_model", {"model_id": model_id, "type": "unload_model"})
        del self.made[1:]

    def post(self, path, body):
        headers = {"Content-Type": "application/json", "X-API-Key": "tml-conformance"}
        request = urllib.request.Request(f"{self.base_url}/api/v1/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=DEADLINE_S) as response:
            return json.load(response)

    def rest(self):
        return self.service.create_rest_client()

    def encode(self, text):
        return self.tokenizer.encode(text, add_special_tokens=False)

    def datum(self, prompt, completion, weights=None):
        """A supervised example: the completion is trained, the prompt is not."""
        before, after = self.encode(prompt), self.encode(completion)
        tokens = before + after
        weight = [0.0] * (len(before) - 1) + [1.0] * len(after) if weights is None else weights
        return types.Datum(
            model_input=types.ModelInput.from_ints(tokens[:-1]),
            loss_fn_inputs={"target_tokens": tokens[1:], "weights": weight},
        )

    def examples(self):
        return [self.datum(f"What is {a} plus {b}?", f" \\boxed{{{a + b}}}<|im_end|>") for a, b in [(1, 2), (2, 2), (3, 4), (1, 7)]]


def column(output, name):
    """One output field of every datum, as lists of numbers."""
    return [list(one[name].data) for one in output.loss_fn_outputs]


def weighted_nll(data, logprobs):
    """The closed form of cross_entropy: a plain sum over tokens and datums."""
    return -sum(
        weight * logprob
        for datum, row in zip(data, logprobs)
        for weight, logprob in zip(datum.loss_fn_inputs["weights"].data, row)
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--base-url", required=True)
    parser.add_argument("--base-model", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--expect-version", required=True)
    args = parser.parse_args()
    world = World(args)

    @case("the installed SDK is the pinned one")
    def _():
        ensure(tinker.__version__ == args.expect_version, f"{tinker.__version__} instead of {args.expect_version}")
        return tinker.__version__

    @case("capabilities list the served model")
    def _():
        source = world.rest() if world.newest else world.service
        names = [model.model_name for model in wait(source.get_server_capabilities()).supported_models]
        ensure(world.base_model in names, f"{world.base_model} is not among {names}")
        return names

    @case("create_lora_training_client gives a model whose info names base model and rank")
    def _():
        world.training = world.create()
        info = wait(world.training.get_info())
        ensure(info.model_id.endswith(":train:0"), f"model id {info.model_id}")
        ensure(info.model_data.model_name == world.base_model, f"model name {info.model_data.model_name}")
        ensure(info.lora_rank == 8 and info.is_lora, f"rank {info.lora_rank}, is_lora {info.is_lora}")
        return info.model_id

    @case("get_tokenizer finds the tokenizer of the model that the server names")
    def _():
        world.tokenizer = world.training.get_tokenizer()
        ensure(world.tokenizer.decode(world.encode("3 plus 4")) == "3 plus 4", "text does not survive the tokenizer")
        return f"{len(world.tokenizer)} entries"

    import sdk_failures
    import sdk_rl
    import sdk_sampling
    import sdk_state
    import sdk_supervised

    for module in (sdk_supervised, sdk_rl, sdk_sampling, sdk_state, sdk_failures):
        module.run(world)
        world.release()
    sdk_state.close(world)


if __name__ == "__main__":
    main()
