"""Whether vLLM takes an adapter folder as PEFT does. Run here, unchanged, on the CPU: vLLM's model classes, its worker's
LoRA manager (config read and judged, tensors read, named, packed into the modules' buffers) and the product of those buffers
with activations, in the PyTorch form that vLLM has for CPUs. Not run: attention, whose CPU kernels are not in the wheel, so no
text is made; the Triton kernels of GPUs; the HTTP server.

Reads {"jobs": [{"name", "model", "adapter", "scaling"}], "broken": [{"name", "model", "adapter"}]} on stdin and writes
{"version", "jobs": [{"matrices", "tensors", "error": largest relative difference} or {"refused": why}], "broken": [why or null]}.
"""

import contextlib
import json
import os
import sys
import tempfile

os.environ.update(VLLM_TARGET_DEVICE="cpu", HF_HUB_OFFLINE="1", VLLM_LOGGING_LEVEL="ERROR", VLLM_NO_USAGE_STATS="1")

import torch  # noqa: E402
import vllm  # noqa: E402
from vllm.config import DeviceConfig, ModelConfig, VllmConfig, set_current_vllm_config  # noqa: E402
from vllm.config.lora import LoRAConfig  # noqa: E402
from vllm.distributed import ensure_model_parallel_initialized, init_distributed_environment  # noqa: E402
from vllm.lora.layers import LoRAMapping  # noqa: E402
from vllm.lora.request import LoRARequest  # noqa: E402
from vllm.lora.worker_manager import WorkerLoRAManager  # noqa: E402
from vllm.model_executor.model_loader.utils import initialize_model  # noqa: E402

from peft_deltas import deltas_of, pairs_of, relative_error  # noqa: E402

ROWS = 5


@contextlib.contextmanager
def manager_of(folder):
    model_config = ModelConfig(model=folder, tokenizer=folder, dtype="float32", skip_tokenizer_init=True, enforce_eager=True)
    config = VllmConfig(
        model_config=model_config, lora_config=LoRAConfig(max_lora_rank=8), device_config=DeviceConfig(device="cpu")
    )
    with set_current_vllm_config(config):
        ensure_model_parallel_initialized(1, 1)
        model = initialize_model(vllm_config=config)
        worker = WorkerLoRAManager(config, torch.device("cpu"), getattr(model, "embedding_modules", {}))
        worker.create_lora_manager(model, config)
        yield worker


def check(job):
    pairs, deltas = pairs_of(job["adapter"]), deltas_of(job["model"], job["adapter"])
    assert set(pairs) == set(deltas), set(pairs) ^ set(deltas)
    request = LoRARequest("ours", 1, job["adapter"])
    with manager_of(job["model"]) as worker:
        try:
            read = worker._load_adapter(request)
        except ValueError as error:
            return {"refused": str(error)}
        assert set(read.loras) == set(pairs), set(read.loras) ^ set(pairs)
        for name, (a, b) in pairs.items():
            lora = read.loras[name]
            assert lora.rank == a.shape[0] and lora.scaling == job["scaling"], (name, lora.rank, lora.scaling)
            assert torch.equal(lora.lora_a, a) and torch.equal(lora.lora_b, b), name
        assert worker.add_adapter(request)
        worker.set_active_adapters({request}, LoRAMapping((1,) * ROWS, (1,) * ROWS, is_prefill=True))
        return compare(worker._adapter_manager, pairs, deltas)


def compare(manager, pairs, deltas):
    placed, worst = [], 0.0
    for name, module in manager.modules.items():
        a, b = module.lora_a_stacked, module.lora_b_stacked
        a, b = (a, b) if isinstance(a, tuple) else ((a,), (b,))
        parts = manager.packed_modules.get(name, [name])
        if name not in manager.packed_modules and name not in pairs:
            assert not any(half[0].any() for half in (*a, *b)), name
            continue
        x = torch.randn(ROWS, a[0].shape[-1])
        for part, one, two in zip(parts, a, b, strict=True):
            placed.append(part)
            worst = max(worst, relative_error(two[0, 0] @ one[0, 0], deltas[part]))
        wanted = torch.cat([x @ deltas[part].T for part in parts], -1)
        zeros = torch.zeros(ROWS, wanted.shape[1])
        if name == "lm_head":
            got = module.punica_wrapper.add_lora_logits(zeros, x, module.lora_a_stacked, module.lora_b_stacked, 1.0)
            got = zeros if got is None else got
        else:
            got = module._apply_lora_to_output(x, zeros)
        worst = max(worst, relative_error(got, wanted))
    assert sorted(placed) == sorted(pairs), set(placed) ^ set(pairs)
    return {"matrices": len(placed), "tensors": 2 * len(pairs), "error": worst}


def refusal(job):
    with manager_of(job["model"]) as worker:
        try:
            worker.add_adapter(LoRARequest("broken", 1, job["adapter"]))
        except Exception as error:  # noqa: BLE001 - whatever it says is the answer
            return f"{type(error).__name__}: {error}"
    return None


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    task = json.load(sys.stdin)
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # vLLM prints there.
    with tempfile.TemporaryDirectory() as folder:
        init_distributed_environment(1, 0, f"file://{folder}/store", 0, backend="gloo")
        jobs = [check(job) for job in task["jobs"]]
        broken = [refusal(job) for job in task["broken"]]
    json.dump({"version": vllm.__version__, "jobs": jobs, "broken": broken}, answers)


main()
