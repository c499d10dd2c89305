"""Inputs, cases and the file they go to; the format is described in tests/ops/case_file.h."""
import math
import os
import struct
import warnings

import numpy as np
import torch

warnings.filterwarnings("ignore")
torch.set_num_threads(1)

INF, NAN = math.inf, math.nan
DTYPES = {
    "f64": torch.float64, "f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16,
    "i64": torch.int64, "i32": torch.int32, "i16": torch.int16, "i8": torch.int8, "u8": torch.uint8, "bool": torch.bool,
}
NAMES = {dtype: name for name, dtype in DTYPES.items()}
FLOATS = ["f64", "f32", "f16", "bf16"]
INTS = ["i64", "i32", "i16", "i8", "u8"]
ALL = FLOATS + INTS + ["bool"]
DIGITS = {"f64": 53, "f32": 24, "f16": 11, "bf16": 8}


class Input:
    """Values, and the movements through which the op sees them."""

    def __init__(self, base, *view):
        self.base, self.view = base, view

    def value(self):
        x = self.base
        for movement in self.view:
            name, numbers = movement.split(":")
            n = [int(k) for k in numbers.split(",")]
            if name == "permute":
                x = x.permute(n)
            elif name == "slice":
                index = [slice(None)] * x.dim()
                index[n[0]] = slice(n[1], n[2], n[3])
                x = x[tuple(index)]
            elif name == "flip":
                x = x.flip(n[0])
            elif name == "expand":
                shape = list(x.shape)
                shape[n[0]] = n[1]
                x = x.expand(shape)
        return x


def as_input(x):
    return Input(x) if isinstance(x, torch.Tensor) else x


def value_of(x):
    return x.value() if isinstance(x, Input) else x


def hex_of(x):
    if x.numel() == 0:
        return "-"
    x = x.detach().contiguous()
    if x.dtype == torch.bfloat16:
        x = x.view(torch.int16)
    return x.numpy().tobytes().hex()


def dims_of(x):
    return ",".join(str(n) for n in x.shape) or "-"


def text_of(value):
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, (list, tuple)):
        return ",".join(str(v) for v in value) or "-"
    if isinstance(value, torch.dtype):
        return NAMES[value]
    return repr(value) if isinstance(value, float) else str(value)


class File:
    """The cases of one family."""

    folder = ""
    extra = None  # adds cases to a file before it is written

    def __init__(self, family):
        self.family, self.lines, self.count = family, [], 0

    def add(self, op, note, inputs, args, outputs):
        self.count += 1
        self.lines.append(f"case {op} {note}")
        for x in inputs:
            if isinstance(x, Input):
                line = f"in {NAMES[x.base.dtype]} {dims_of(x.base)} {hex_of(x.base)}"
                self.lines.append(" ".join([line, *x.view]))
            elif isinstance(x, bool):
                self.lines.append(f"num b {int(x)}")
            elif isinstance(x, int):
                self.lines.append(f"num i {x}")
            else:
                self.lines.append(f"num r {struct.pack('>d', x).hex()}")
        for name, value in args.items():
            self.lines.append(f"arg {name} {text_of(value)}")
        for value, ulps, scale in outputs:
            self.lines.append(f"out {NAMES[value.dtype]} {dims_of(value)} {ulps:g} {scale:g} {hex_of(value)}")
        self.lines.append("")

    def write(self):
        if File.extra:
            File.extra(self)
        os.makedirs(File.folder, exist_ok=True)
        with open(os.path.join(File.folder, self.family + ".txt"), "w") as out:
            out.write(f"# Made by tools/make_op_references.py with PyTorch {torch.__version__.split('+')[0]}.\n\n")
            out.write("\n".join(self.lines))
        print(f"{self.family}: {self.count} cases")


def outputs_of(result):
    return [result] if isinstance(result, torch.Tensor) else list(result)


def require_near(op, note, native, precise, ulps, scale):
    """PyTorch's own narrow result must be near the one computed in f64: a bug of ours here must not pass."""
    a, b = native.to(torch.float64).flatten(), precise.to(torch.float64).flatten()
    finite = torch.isfinite(a) & torch.isfinite(b)
    if finite.any():
        size = torch.maximum(b[finite].abs(), torch.tensor(max(scale, 1e-30), dtype=torch.float64))
        off = ((a[finite] - b[finite]).abs() / size).max().item()
        limit = 64 * (ulps + 2) * 2.0 ** -DIGITS[NAMES[native.dtype]]
        if off > max(limit, 1e-5):
            print(f"note: {op} {NAMES[native.dtype]} {note}: PyTorch's own result is off by {off:.2g} relative")


def own_result(fn, values):
    """PyTorch's result; where it lacks a narrow dtype, its f32 result, rounded."""
    try:
        return fn(*values)
    except NotImplementedError:
        wide = [v.float() if isinstance(v, torch.Tensor) and v.dtype in (torch.float16, torch.bfloat16) else v for v in values]
        return fn(*wide).to(values[0].dtype)


def emit(file, op, note, inputs, args, fn, ulps=0, scale=0.0):
    """ulps 0: PyTorch's own result, exactly. Otherwise its result in f64, rounded, within ulps (1 for f16 and bf16)."""
    inputs = [as_input(x) for x in inputs]
    values = [value_of(x) for x in inputs]
    native = outputs_of(own_result(fn, values))
    if ulps == 0 or not any(x.dtype.is_floating_point for x in native):
        file.add(op, note, inputs, args, [(x, 0, 0) for x in native])
        return
    # Only what takes part as numbers is widened; masks and positions stay.
    floating = any(isinstance(v, torch.Tensor) and v.dtype.is_floating_point for v in values)

    def widen(v):
        if not isinstance(v, torch.Tensor):
            return v
        return v.to(torch.float64) if v.dtype.is_floating_point or not floating else v

    precise = outputs_of(fn(*[widen(v) for v in values]))
    outputs = []
    for own, wide in zip(native, precise):
        if own.dtype.is_floating_point:
            narrow = NAMES[own.dtype] in ("f16", "bf16")
            rounded = wide.to(own.dtype)
            require_near(op, note, own, rounded, ulps, scale)
            outputs.append((rounded, min(ulps, 1) if narrow else ulps, scale))
        else:
            outputs.append((own, 0, 0))
    file.add(op, note, inputs, args, outputs)


# ---- values ----

random = np.random.RandomState(0)


def limits(dtype):
    info = torch.iinfo(DTYPES[dtype])
    return info.min, info.max


def numbers(dtype, shape, low=-4.0, high=4.0):
    """Random numbers in a range, of the given shape."""
    if dtype == "bool":
        return torch.from_numpy(random.randint(0, 2, size=shape).astype(bool)).reshape(shape)
    if dtype in FLOATS:
        return torch.tensor(random.uniform(low, high, size=shape), dtype=torch.float64).reshape(shape).to(DTYPES[dtype])
    least, most = limits(dtype)
    return torch.tensor(random.randint(max(least, math.ceil(low * 4)), min(most, math.floor(high * 4)) + 1, size=shape)).reshape(shape).to(
        DTYPES[dtype])


def specials(dtype):
    """The edges of a dtype."""
    if dtype == "bool":
        return torch.tensor([False, True])
    if dtype in FLOATS:
        info = torch.finfo(DTYPES[dtype])
        return torch.tensor([0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5, 3.0, -3.0, 20.5, -20.5, INF, -INF, NAN,
                             info.max, info.min, info.tiny, -info.tiny, info.eps], dtype=torch.float64).to(DTYPES[dtype])
    least, most = limits(dtype)
    return torch.tensor([0, 1, 2, 3, 7, most, most - 1, least, least + 1, 100], dtype=torch.int64).to(DTYPES[dtype])


def layouts(dtype, low=-4.0, high=4.0):
    """(note, input) in every layout the issue names."""
    make = lambda *shape: numbers(dtype, shape, low, high)
    return [
        ("matrix", Input(make(3, 4))),
        ("strided", Input(make(4, 5, 2), "permute:2,0,1", "slice:2,1,5,2")),
        ("flipped", Input(make(3, 4), "flip:1", "slice:0,1,3,1")),
        ("broadcast", Input(make(1, 3), "expand:0,2")),
        ("empty", Input(make(0, 3))),
        ("one", Input(make(1))),
        ("scalar", Input(make())),
        ("rank6", Input(make(1, 2, 1, 3, 2, 1))),
    ]


def largest(x):
    """The largest finite size among the values, at least 1."""
    x = value_of(as_input(x))
    if not isinstance(x, torch.Tensor) or x.numel() == 0:
        return 1.0
    x = x.to(torch.float64)
    x = x[torch.isfinite(x)].abs()
    return max(1.0, x.max().item()) if x.numel() else 1.0


def exp_ulps(x, limit=800.0):
    """exp2(x · log2 e) is off by |x| ulps or so."""
    return 4 + math.ceil(1.5 * min(largest(x), limit))
