"""Writes tests/models/fixtures/quantisers.json: numbers of every size and what the `gguf` package (0.19.0) makes of them in
the types that are written here. Run in an environment that has it:
python export-quantiser-fixture.py ../../tests/models/fixtures/quantisers.json"""

import base64
import json
import sys

import gguf
import numpy as np

TYPES = ["F32", "F16", "Q8_0"]


def values() -> np.ndarray:
    rng = np.random.default_rng(20260102)
    blocks = [rng.standard_normal(32) * 10.0**power for power in range(-9, 5) for _ in range(2)]
    blocks.append(np.zeros(32))
    # The largest is 127, so that the scale is 1 and every other is rounded from a half.
    blocks.append(np.concatenate([[127.0], np.arange(31) - 15.5]))
    blocks.append(np.concatenate([[-127.0], 15.5 - np.arange(31)]))
    # One outlier, beside which all else becomes 0; then ones that are all the same.
    blocks.append(np.concatenate([rng.standard_normal(31) * 1e-4, [3.0]]))
    blocks.append(np.full(32, -0.3))
    return np.concatenate(blocks).astype(np.float32)


def main(path: str) -> None:
    given = values()
    encode = lambda array: base64.b64encode(array.tobytes()).decode()
    cases = [
        {"type": name, "bytes": encode(gguf.quants.quantize(given, gguf.GGMLQuantizationType[name]))} for name in TYPES
    ]
    with open(path, "w") as file:
        json.dump({"source": "PyPI gguf 0.19.0, gguf.quants.quantize", "values": encode(given), "cases": cases}, file, indent=1)
        file.write("\n")


main(sys.argv[1])
