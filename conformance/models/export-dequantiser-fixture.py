"""Writes tests/models/fixtures/dequantisers.json: blocks of every GGUF type that is read, with random content, and
their values by the `gguf` package (0.19.0). Run in an environment that has it:
python export-dequantiser-fixture.py ../../tests/models/fixtures/dequantisers.json"""

import base64
import json
import sys

import gguf
import numpy as np

BLOCKS = 4
TYPES = ["F32", "F16", "BF16", "Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q5_K", "Q6_K"]
# Byte offsets of the 16-bit scales of a block, which must be finite numbers.
SCALES = {
    "Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0],
    "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208],
}


def blocks_of(name: str, rng: np.random.Generator) -> np.ndarray:
    kind = gguf.GGMLQuantizationType[name]
    elements, size = gguf.GGML_QUANT_SIZES[kind]
    if elements == 1:
        values = rng.standard_normal(64).astype(np.float32) * np.float32(10.0) ** rng.integers(-6, 4, 64)
        return gguf.quants.quantize(values.astype(np.float32), kind).view(np.uint8)
    raw = rng.integers(0, 256, (BLOCKS, size), dtype=np.uint8)
    raw[0] = 0xFF  # every field at its largest
    raw[1] = 0x00
    for offset in SCALES[name]:
        scales = (rng.standard_normal(BLOCKS) * 0.01).astype(np.float16)
        scales[3] = np.float16(3e-7)  # a subnormal
        raw[:, offset : offset + 2] = scales.view(np.uint8).reshape(BLOCKS, 2)
    return raw.reshape(-1)


def main(path: str) -> None:
    rng = np.random.default_rng(20260101)
    cases = []
    for name in TYPES:
        raw = blocks_of(name, rng)
        values = gguf.quants.dequantize(raw, gguf.GGMLQuantizationType[name]).astype(np.float32).reshape(-1)
        cases.append(
            {
                "type": name,
                "number": int(gguf.GGMLQuantizationType[name]),
                "blocks": base64.b64encode(raw.tobytes()).decode(),
                "values": base64.b64encode(values.tobytes()).decode(),
            }
        )
    with open(path, "w") as file:
        json.dump({"source": "PyPI gguf 0.19.0, gguf.quants.dequantize", "cases": cases}, file, indent=1)
        file.write("\n")


main(sys.argv[1])
