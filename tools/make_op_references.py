#!/usr/bin/env python3
"""Makes tests/ops/references/*.txt: what PyTorch 2.13 (CPU) gives for every op of the tensor API.

    python tools/make_op_references.py [--seed N] [--random N] [--folder DIR] [FAMILY ...]

Another seed, into another folder, gives other values, and --random adds rounds of random shapes and options:
test_ops --references DIR runs them.

Needs torch and numpy ('./luminal setup --references'). The format is described in tests/ops/case_file.h. Values are seeded,
so a second run writes the same bytes. Exact results are PyTorch's own; other floats are computed by PyTorch in f64 and
rounded to the dtype that PyTorch gives, and compared here with PyTorch's own result in that dtype.
"""
import argparse
import os

from op_references import arithmetic, compare, configurations, elementwise, products, reductions, structure
from op_references.common import File, random

FAMILIES = {
    "arithmetic": arithmetic.arithmetic, "math": elementwise.math_family, "compare": compare.compare,
    "activation": elementwise.activation, "reduce": reductions.reduce_family, "normalise": reductions.normalise,
    "matmul": products.matmul, "movement": structure.movement, "convolution": products.convolution,
    "pooling": products.pooling, "index": structure.index, "scan": reductions.scan, "create": structure.create,
    "random": structure.random_family,
}


def parse():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--folder", default=os.path.join(here, "..", "tests", "ops", "references"))
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=" ".join(FAMILIES))
    return parser.parse_args()


def main():
    options = parse()
    File.folder = options.folder
    if options.random:
        configurations.plan(options.random)
    for number, (name, make) in enumerate(FAMILIES.items()):
        random.seed(options.seed + number)
        if not options.families or name in options.families:
            make()


main()
