"""Cross-check of codecs: `make` writes messages of this SDK and its descriptor, `compare` judges what came back.

Between the two the runner decodes every message with this project's codecs and encodes it again (parts/codec.ts).
Both forms must mean the same to the SDK's own readers.
"""

import argparse
import json
from pathlib import Path

import codec_shapes as shapes
import numpy
import tinker
from google.protobuf import descriptor_pb2
from harness import case, ensure
from tinker.proto import response_conv
from tinker.proto import tinker_public_pb2 as pb

COUNT = 200
NEWEST = hasattr(pb.ForwardBackwardRequest(), "loss_fn_config_v2")
KINDS = ["sample-request", "forward-backward-output"] + (["sample-response", "forward-backward-request"] if NEWEST else [])


def make(folder):
    for kind in KINDS:
        build = getattr(shapes, kind.replace("-", "_"))
        for seed in range(COUNT):
            (folder / f"{kind}.{seed}.in").write_bytes(build(seed))
    (folder / "descriptor.bin").write_bytes(pb.DESCRIPTOR.serialized_pb)


def plain(value):
    """SDK objects as plain values in which NaN equals NaN."""
    if isinstance(value, (list, tuple)):
        return [plain(one) for one in value]
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, numpy.ndarray):
        return [str(value.dtype), list(value.shape), value.tobytes().hex()]
    if hasattr(value, "_numpy"):
        rest = [value.dtype, value.shape, value.sparse_crow_indices, value.sparse_col_indices]
        return [plain(value._numpy.reshape(-1)), *rest]
    if hasattr(value, "__dataclass_fields__"):
        return {name: plain(getattr(value, name)) for name in value.__dataclass_fields__}
    if hasattr(value, "_fields"):
        return [plain(one) for one in value]
    return repr(value)


def read(kind, data):
    if kind == "sample-request":
        return known(json.loads(data))
    if kind == "sample-response":
        return plain(response_conv.deserialize_sample_response(data))
    if kind == "forward-backward-output":
        return plain(response_conv.deserialize_forward_backward_output(data))
    message = pb.ForwardBackwardRequest()
    message.ParseFromString(data)
    return message.SerializeToString(deterministic=True)


def known(request):
    """Options left out, or not there in an older SDK, may come back switched off; one stop string as a list of one."""
    later = ["topk_sample_logprobs", "prompt_alt_tokens_k", "record_stability_info"]
    stop = request["sampling_params"].get("stop")
    if isinstance(stop, str):
        request["sampling_params"]["stop"] = [stop]
    return {name: value for name, value in request.items() if name not in later or value}


def compare(folder):
    version = tinker.__version__
    for kind in KINDS:

        @case(f"{COUNT} shapes of {kind} survive our codec (SDK {version})")
        def _():
            files = sorted(folder.glob(f"{kind}.*.in"))
            ensure(len(files) == COUNT, f"{len(files)} messages")
            for file in files:
                before, after = read(kind, file.read_bytes()), read(kind, file.with_suffix(".out").read_bytes())
                ensure(before == after, f"{file.name}: {difference(before, after)}")
            return f"{sum(file.stat().st_size for file in files)} bytes"

    @case(f"our descriptor has every field of SDK {version} under its number and type{' and no other' if NEWEST else ''}")
    def _():
        ours, theirs = fields(folder / "descriptor.ours"), fields(folder / "descriptor.bin")
        wrong = [f"{name}: {ours.get(name)} instead of {kind}" for name, kind in theirs.items() if not alike(ours.get(name), kind)]
        ensure(not wrong, "; ".join(wrong[:10]))
        if NEWEST:
            more = sorted(set(ours) - set(theirs))
            ensure(not more, f"not in the SDK: {more}")
        return f"{len(theirs)} fields and values"


def alike(ours, theirs):
    """Older generations had other names for a message and fewer `optional`: number, type and repetition must agree."""
    return ours == theirs if NEWEST else ours is not None and ours[:3] == theirs[:3]


def difference(before, after):
    left, right = str(before), str(after)
    place = next((index for index, pair in enumerate(zip(left, right)) if pair[0] != pair[1]), min(len(left), len(right)))
    return f"at {place}: …{left[max(0, place - 60) : place + 60]}… became …{right[max(0, place - 60) : place + 60]}…"


def fields(file):
    """Every field and enum value by its path; numbers are the identity in older generations, names in the newest."""
    proto = descriptor_pb2.FileDescriptorProto()
    proto.ParseFromString(file.read_bytes())
    found = {}
    for message in proto.message_type:
        collect(message, message.name, found)
    for enum in proto.enum_type:
        for value in enum.value:
            found[f"{enum.name}.{value.name}"] = (value.number,)
    return found


def collect(message, path, found):
    renamed = {"TopkPromptLogprobs": "TopkLogprobs"}.get(path, path)
    for field in message.field:
        oneof = message.oneof_decl[field.oneof_index].name if field.HasField("oneof_index") else None
        kind = (field.number, field.type, field.label, field.type_name, field.proto3_optional, oneof)
        name = field.name if NEWEST else f"#{field.number}"
        found[f"{renamed}.{name}"] = kind
    for nested in message.nested_type:
        collect(nested, f"{path}.{nested.name}", found)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("action", choices=["make", "compare"])
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    Path(arguments.out).mkdir(parents=True, exist_ok=True)
    {"make": make, "compare": compare}[arguments.action](Path(arguments.out))
