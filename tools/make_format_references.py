#!/usr/bin/env python3
"""Writes tests/io/format_references.txt: random blocks of every quantised format as the `gguf` package decodes them, and
random values as it quantises them. Needs gguf and numpy (./luminal setup --references)."""
import pathlib

import numpy as np
from gguf import GGMLQuantizationType as T
from gguf import quants
from gguf.constants import GGML_QUANT_SIZES

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "io" / "format_references.txt"
# Where a block holds f16 numbers: random bytes there would mostly be NaN or infinite.
HALVES = {T.Q4_0: [0], T.Q4_1: [0, 2], T.Q5_0: [0], T.Q5_1: [0, 2], T.Q8_0: [0], T.Q2_K: [80, 82], T.Q3_K: [108],
          T.Q4_K: [0, 2], T.Q5_K: [0, 2], T.Q6_K: [208], T.IQ4_NL: [0], T.IQ4_XS: [0]}


def main():
    random = np.random.default_rng(7)
    lines = ["# made by tools/make_format_references.py: 'decode FORMAT BLOCKS F32' and 'quantise FORMAT F32 BLOCKS', in hex"]
    for kind, halves in HALVES.items():
        size = GGML_QUANT_SIZES[kind][1]
        blocks = random.integers(0, 256, (2, size), dtype=np.uint8)
        for offset in halves:
            blocks[:, offset:offset + 2] = random.normal(0, 0.1, (2, 1)).astype(np.float16).view(np.uint8)
        decoded = quants.dequantize(blocks, kind)
        lines.append(f"decode {kind.name.lower()} {blocks.tobytes().hex()} {decoded.astype('<f4').tobytes().hex()}")
    for kind in (T.Q8_0, T.Q4_0):
        for scale in (1, 1e-4, 3000, 0):
            values = (random.normal(0, 1, (1, 128)) * scale).astype(np.float32)
            values[0, :32] = np.round(values[0, :32])  # ties
            blocks = quants.quantize(values, kind)
            lines.append(f"quantise {kind.name.lower()} {values.tobytes().hex()} {blocks.tobytes().hex()}")
    OUT.write_text("\n".join(lines) + "\n")


main()
