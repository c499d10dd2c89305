#!/usr/bin/env python3
"""Makes tests/ops/references/*.txt: what PyTorch 2.13 (CPU) gives for every op of the tensor API.

    python tools/make_op_references.py [--seed N] [--folder DIR] [FAMILY ...]

Another seed, into another folder, gives other values: test_ops --references DIR runs them.

Needs torch and numpy ('./luminal setup --references'). The format is described in tests/ops/case_file.h. Values are seeded,
so a second run writes the same bytes. Exact results are PyTorch's own; other floats are computed by PyTorch in f64 and
rounded to the dtype that PyTorch gives, and compared here with PyTorch's own result in that dtype.
"""
import argparse
import math
import os
import struct
import warnings

import numpy as np
import torch
import torch.nn.functional as F

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
        os.makedirs(options.folder, exist_ok=True)
        with open(os.path.join(options.folder, self.family + ".txt"), "w") as out:
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


# ---- families ----

def narrow_rounded(fn):
    """f16 and bf16 through f32, rounded once: our definition where PyTorch rounds in between."""

    def call(*values):
        dtypes = [v.dtype for v in values if isinstance(v, torch.Tensor)]
        result = fn(*[v.float() if isinstance(v, torch.Tensor) and v.dtype in (torch.float16, torch.bfloat16) else v
                      for v in values])
        native = torch.result_type(values[0], values[1]) if len(values) > 1 else dtypes[0]
        return result.to(native) if native in (torch.float16, torch.bfloat16) else result

    return call


def exact_fmod(a, b):
    return _by_numpy(np.fmod, a, b)


def _by_numpy(fn, a, b):
    """Floats by NumPy in f64 (exact where PyTorch is not), integers by PyTorch."""
    dtype = torch.result_type(a, b)
    wide = [torch.as_tensor(v).to(torch.float64).numpy() for v in (a, b)]
    return torch.from_numpy(np.asarray(fn(*wide))).to(dtype)


def python_remainder(a, b):
    def remainder(x, y):
        rest = np.fmod(x, y)
        return np.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)

    return _by_numpy(remainder, a, b)


def or_zero(fn):
    """Integer division by 0 gives 0 here; PyTorch raises."""

    def call(a, b):
        if torch.result_type(a, b).is_floating_point:
            return fn(a, b)
        x, y = torch.broadcast_tensors(torch.as_tensor(a), torch.as_tensor(b))
        dtype = torch.result_type(a, b)
        x, y = x.to(dtype), y.to(dtype)
        zero = y == 0
        result = fn(x, torch.where(zero, torch.ones_like(y), y))
        return torch.where(zero, torch.zeros_like(result), result)

    return call


def wrapped_pow(a, b):
    return torch.pow(a, b)


def arithmetic():
    file = File("arithmetic")
    divide = {"fmod": (exact_fmod, torch.fmod), "remainder": (python_remainder, torch.remainder)}
    ops = {
        "add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow, "fmod": None,
        "remainder": None, "floor_divide": None, "maximum": torch.maximum, "minimum": torch.minimum, "atan2": torch.atan2,
    }

    def function(op, floating):
        if op in divide:
            return divide[op][0] if floating else or_zero(divide[op][1])
        if op == "floor_divide":
            return narrow_rounded(torch.floor_divide) if floating else or_zero(torch.floor_divide)
        return ops[op]

    def ulps(op, dtype):
        return {"pow": 3, "atan2": 4, "remainder": 1}.get(op, 0) if dtype in FLOATS or op == "atan2" else 0

    for op in ops:
        for dtype in ALL:
            if dtype == "bool" and op in ("sub", "pow", "fmod", "remainder", "floor_divide", "div", "atan2"):
                continue
            floating = dtype in FLOATS
            fn = function(op, floating)
            make = lambda *shape: numbers(dtype, shape)
            nonzero = lambda x: torch.where(x == 0, torch.ones_like(x), x) if not floating and op in ("div",) else x
            pairs = [
                ("same", make(3, 4), make(3, 4)),
                ("broadcast", make(2, 1, 3), make(4, 1)),
                ("strided", Input(make(4, 3), "permute:1,0"), Input(make(3, 7), "slice:1,1,7,2").value().contiguous()[:, :1]),
                ("scalar", make(3), make()),
                ("rank6", make(1, 2, 1, 3, 1, 2), make(2, 1, 3, 2, 1)),
                ("empty", make(0, 3), make(1, 3)),
            ]
            if op == "pow" and not floating:
                pairs = [(n, a, (b.abs() % 8 if isinstance(b, torch.Tensor) else b)) for n, a, b in pairs]
            edge = specials(dtype)
            if op == "pow" and not floating:
                pairs.append(("wrap", edge.repeat(4), torch.arange(4).to(DTYPES[dtype]).repeat_interleave(len(edge)) + 2))
            elif op == "pow":
                some = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, INF, -INF, NAN]).to(DTYPES[dtype])
                pairs.append(("edges", some.repeat(len(some)), some.repeat_interleave(len(some))))
            elif floating and op in ("fmod", "remainder", "floor_divide"):
                some = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 7.0, -7.0, INF, -INF, NAN]).to(DTYPES[dtype])
                pairs.append(("edges", some.repeat(len(some)), some.repeat_interleave(len(some))))
            else:
                pairs.append(("edges", edge.repeat(len(edge)), edge.repeat_interleave(len(edge))))
            for note, a, b in pairs:
                a, b = as_input(a), as_input(b)
                x, y = a.value(), b.value()
                if not floating and dtype != "bool" and op in ("fmod", "remainder", "floor_divide") and note == "edges":
                    keep = ~((x == limits(dtype)[0]) & (y == -1)) if dtype != "u8" else torch.ones_like(x, dtype=torch.bool)
                    a, b = Input(x[keep]), Input(y[keep])
                if op == "maximum" or op == "minimum" or op == "pow":
                    if op == "pow" and floating is False and dtype != "bool":
                        b = Input(b.value().clone())
                if op == "atan2" and not floating:
                    a, b = Input(nonzero(a.value())), Input(nonzero(b.value()))
                emit(file, op, note, [a, b], {}, fn, ulps(op, dtype) if (op != "atan2" or floating) else 4)
        # numbers on either side, and promotion
        for dtype in ["f32", "f16", "i32", "u8", "bool"]:
            for number in (3, -2.5, True):
                if op in ("maximum", "minimum", "atan2"):
                    continue
                if dtype == "bool" and op in ("fmod", "remainder", "floor_divide", "pow"):
                    continue
                if op == "sub" and (dtype == "bool" or isinstance(number, bool)):
                    continue
                if isinstance(number, bool) and op in ("fmod", "remainder", "floor_divide", "pow", "div"):
                    continue
                x = numbers(dtype, (2, 3))
                if op == "pow" and isinstance(number, int):
                    x = x.abs() if dtype in INTS else x
                floating = torch.result_type(x, number).is_floating_point
                fn = function(op, floating)
                tolerance = ulps(op, "f32" if floating else dtype)
                emit(file, op, "number_right", [x, number], {}, fn, tolerance)
                if op in ("add", "sub", "mul"):
                    emit(file, op, "number_left", [number, x], {}, (lambda a, b, f=fn: f(torch.as_tensor(a), b).to(torch.result_type(a, b)) if op != "sub" else (a - b)), 0)
        if op in ("add", "mul", "sub", "div", "maximum", "pow"):
            for left in ALL:
                for right in ALL:
                    if left == right or "bool" in (left, right) and op in ("pow",) or (left, right) in ():
                        continue
                    if op == "sub" and "bool" in (left, right):
                        continue
                    common = torch.promote_types(DTYPES[left], DTYPES[right])
                    if op == "pow" and not common.is_floating_point:
                        continue
                    if op != "add" and (ALL.index(left) + ALL.index(right)) % 3:
                        continue
                    a, b = numbers(left, (3,), 0.5, 4), numbers(right, (3,), 0.5, 4)
                    emit(file, op, "promotion_" + right, [a, b], {}, function(op, common.is_floating_point), 3 if op == "pow" else 0)
    # what is computed without pow
    for dtype in FLOATS:
        for exponent in (2, 3, 0.5, -0.5, -1, -2, 0, 1, 2.5):
            emit(file, "pow", "simple", [specials(dtype), exponent], {}, torch.pow, 3)
    for op, fn in (("add_assign", torch.add), ("sub_assign", torch.sub), ("mul_assign", torch.mul), ("div_assign", torch.div)):
        for dtype in ["f64", "f32", "f16", "i32"]:
            emit(file, op, "tensor", [numbers(dtype, (2, 3)), numbers(dtype, (3,), 1, 4)], {}, fn)
            emit(file, op, "number", [numbers(dtype, (2, 3)), 3], {}, fn)
    file.write()


MATH = {
    # op: (function, ulps, low, high); ulps None: exact
    "abs": (torch.abs, 0, -4, 4), "sign": (torch.sign, 0, -4, 4), "neg": (torch.neg, 0, -4, 4),
    "reciprocal": (torch.reciprocal, 0, -4, 4), "square": (torch.square, 0, -4, 4), "sqrt": (torch.sqrt, 1, 0, 9),
    "rsqrt": (torch.rsqrt, 2, 0.1, 9), "exp": (torch.exp, "exp", -10, 10), "exp2": (torch.exp2, 2, -10, 10),
    "log": (torch.log, 3, 0.01, 9), "log2": (torch.log2, 2, 0.01, 9), "log10": (torch.log10, 3, 0.01, 9),
    "log1p": (torch.log1p, 2, -0.9, 9), "expm1": (torch.expm1, 2, -4, 4), "sin": (torch.sin, 2, -9, 9),
    "cos": (torch.cos, 2, -9, 9), "tan": (torch.tan, 4, -9, 9), "asin": (torch.asin, 4, -1, 1), "acos": (torch.acos, 4, -1, 1),
    "atan": (torch.atan, 2, -9, 9), "sinh": (torch.sinh, 6, -9, 9), "cosh": (torch.cosh, 6, -9, 9),
    "tanh": (torch.tanh, 5, -4, 4), "erf": (torch.erf, 2, -3, 3), "floor": (torch.floor, 0, -4, 4), "ceil": (torch.ceil, 0, -4, 4),
    "round": (torch.round, 0, -4, 4), "trunc": (torch.trunc, 0, -4, 4), "isnan": (torch.isnan, 0, -4, 4),
    "isinf": (torch.isinf, 0, -4, 4), "isfinite": (torch.isfinite, 0, -4, 4),
}


def edges_within(op, dtype):
    """The edges of a dtype on which PyTorch's f64 result, rounded, is the definition."""
    x = specials(dtype)
    if op in ("sin", "cos", "tan") and dtype in FLOATS:
        return x[~((x.abs() > 1e5) & torch.isfinite(x))]
    return x


def math_family():
    file = File("math")
    for op, (fn, ulps, low, high) in MATH.items():
        whole = op in ("floor", "ceil", "round", "trunc")
        for dtype in ALL:
            if dtype == "bool" and (whole or op in ("abs", "neg", "square")):
                continue
            if dtype not in FLOATS and op in ("asin", "acos"):
                variants = [("matrix", Input(numbers(dtype, (3, 4), -0.25, 0.25)))]
            elif dtype in FLOATS:
                variants = layouts(dtype, low, high)
            else:
                variants = [v for v in layouts(dtype, max(low, -4), min(high, 4)) if v[0] in ("matrix", "strided", "scalar", "rank6")]
            integer_result = whole or op in ("abs", "sign", "neg", "square", "isnan", "isinf", "isfinite")
            if dtype in FLOATS or integer_result:
                variants.append(("edges", Input(edges_within(op, dtype))))
            for note, x in variants:
                tolerance = exp_ulps(x) if ulps == "exp" else ulps
                emit(file, op, note, [x], {}, fn, tolerance)
    for dtype in FLOATS:  # far arguments, where composites overflow early if made carelessly
        far = torch.tensor([-700.0, -104, -100, -89.3, -88, -50, -30, -16.7, 16.7, 30, 50, 88, 89.3, 100, 700], dtype=torch.float64)
        for op in ("exp", "sinh", "cosh", "tanh", "expm1", "exp2"):
            x = far.to(DTYPES[dtype])
            emit(file, op, "far", [x], {}, MATH[op][0], exp_ulps(x) if op == "exp" else 8)
        near = torch.tensor([1e-30, -1e-30, 1e-6, -1e-6, 1e-3, -1e-3, 1 + 2.0**-20, 1 - 2.0**-20], dtype=torch.float64)
        for op in ("log1p", "expm1", "sinh", "tanh", "asin", "acos", "log", "log2", "log10", "tan", "atan", "erf", "sin"):
            emit(file, op, "near", [near.to(DTYPES[dtype])], {}, MATH[op][0], 6)
    casts(file)
    for dtype in ALL:
        for note, x in layouts(dtype)[:4]:
            emit(file, "contiguous", note, [x], {}, lambda v: v.contiguous())
    file.write()


def casts(file):
    for source in ALL:
        for target in ALL:
            x = numbers(source, (2, 3), -4, 4)
            if target in INTS and source in FLOATS and limits(target)[0] == 0:
                x = x.abs()
            emit(file, "cast", "to_" + target, [x], {"dtype": target}, lambda v: v.to(DTYPES[target]))
            if source in FLOATS and target in FLOATS and DIGITS[target] >= DIGITS[source] or (source not in FLOATS and target in INTS):
                emit(file, "cast", "edges_to_" + target, [specials(source)], {"dtype": target}, lambda v: v.to(DTYPES[target]))
    for source, target in (("f32", "i32"), ("i32", "f32"), ("f64", "i64"), ("i64", "f64"), ("f16", "i16"), ("bf16", "i16"),
                           ("i16", "bf16"), ("i8", "u8"), ("u8", "i8"), ("f16", "bf16")):
        emit(file, "as_dtype", "to_" + target, [specials(source)], {"dtype": target}, lambda v: v.view(DTYPES[target]))
        emit(file, "as_dtype", "strided_to_" + target, [Input(numbers(source, (3, 4)), "permute:1,0")], {"dtype": target},
             lambda v: v.contiguous().view(DTYPES[target]))


def compare():
    file = File("compare")
    for op in ("lt", "gt", "le", "ge", "eq", "ne", "logical_and", "logical_or", "logical_xor"):
        fn = getattr(torch, op)
        for dtype in ALL:
            make = lambda *shape: numbers(dtype, shape, -1, 1)
            edge = specials(dtype)
            for note, a, b in (("same", make(3, 4), make(3, 4)), ("broadcast", make(2, 1, 3), make(2, 1)),
                               ("edges", edge.repeat(len(edge)), edge.repeat_interleave(len(edge))),
                               ("rank6", make(1, 2, 1, 1, 2, 1), make(2, 1, 1, 1, 2)),
                               ("strided", Input(make(4, 3), "permute:1,0", "flip:1"), make(3, 4))):
                emit(file, op, note, [a, b], {}, fn)
            if op in ("lt", "gt", "le", "ge", "eq", "ne"):
                emit(file, op, "number", [make(2, 3), 1], {}, fn)
        emit(file, op, "promotion", [numbers("i32", (4,)), numbers("f32", (4,))], {}, fn)
        emit(file, op, "empty", [numbers("f32", (0, 2)), numbers("f32", (2,))], {}, fn)
    for dtype in ALL:
        for note, x in layouts(dtype, -1, 1):
            emit(file, "logical_not", note, [x], {}, torch.logical_not)
    integers = INTS + ["bool"]
    for op, fn in (("bit_and", torch.bitwise_and), ("bit_or", torch.bitwise_or), ("bit_xor", torch.bitwise_xor)):
        for dtype in integers:
            edge = specials(dtype)
            emit(file, op, "edges", [edge.repeat(len(edge)), edge.repeat_interleave(len(edge))], {}, fn)
            emit(file, op, "broadcast", [numbers(dtype, (2, 1, 3)), numbers(dtype, (4, 1))], {}, fn)
            emit(file, op, "strided", [Input(numbers(dtype, (4, 3)), "permute:1,0"), numbers(dtype, (3, 4))], {}, fn)
        emit(file, op, "promotion", [numbers("u8", (4,)), numbers("i16", (4,))], {}, fn)
        emit(file, op, "number", [numbers("i32", (4,)), 5], {}, fn)
    for dtype in integers:
        for note, x in layouts(dtype) + [("edges", Input(specials(dtype)))]:
            emit(file, "bit_not", note, [x], {}, torch.bitwise_not)
    for op, fn in (("shift_left", torch.bitwise_left_shift), ("shift_right", torch.bitwise_right_shift)):
        for dtype in INTS:
            bits = torch.iinfo(DTYPES[dtype]).bits
            edge = specials(dtype)
            amounts = torch.tensor([0, 1, 3, bits - 1]).to(DTYPES[dtype])
            emit(file, op, "edges", [edge.repeat(4), amounts.repeat_interleave(len(edge))], {}, fn)
            emit(file, op, "broadcast", [numbers(dtype, (2, 3)), amounts[:1]], {}, fn)
            emit(file, op, "number", [numbers(dtype, (2, 3)), 2], {}, fn)
    choices(file)
    file.write()


def choices(file):
    for dtype in ALL:
        mask = lambda *shape: numbers("bool", shape)
        make = lambda *shape: numbers(dtype, shape)
        emit(file, "where", "same", [mask(3, 4), make(3, 4), make(3, 4)], {}, torch.where)
        emit(file, "where", "broadcast", [mask(2, 1, 1), make(3, 1), make(4)], {}, torch.where)
        emit(file, "where", "edges", [torch.arange(len(specials(dtype))) % 2 == 0, specials(dtype), make()], {}, torch.where)
        emit(file, "where", "strided", [Input(mask(4, 3), "permute:1,0"), Input(make(4, 6), "slice:1,0,6,2", "permute:1,0"), make(3, 4)], {}, torch.where)
        if dtype != "bool":
            emit(file, "where", "number", [mask(3), make(3), 2], {}, torch.where)
        emit(file, "where", "empty", [mask(0, 3), make(3), make(1, 3)], {}, torch.where)
        emit(file, "masked_fill", "same", [make(3, 4), mask(3, 4), 1], {}, lambda x, m, v: x.masked_fill(m, v))
        emit(file, "masked_fill", "broadcast", [make(2, 3), mask(3), 0], {}, lambda x, m, v: x.masked_fill(m, v))
        if dtype in FLOATS:
            emit(file, "masked_fill", "infinity", [make(2, 3), mask(2, 1), -INF], {}, lambda x, m, v: x.masked_fill(m, v))
    emit(file, "where", "promotion", [numbers("bool", (4,)), numbers("i32", (4,)), numbers("f16", (4,))], {}, torch.where)
    for dtype in FLOATS + INTS:
        for note, x in layouts(dtype) + [("edges", Input(specials(dtype)))]:
            emit(file, "clip", note, [x, 1, 3], {}, torch.clamp)
            if note in ("matrix", "edges", "strided"):
                emit(file, "clip_low", note, [x, 1], {}, lambda v, low: torch.clamp(v, min=low))
                emit(file, "clip_high", note, [x, 1], {}, lambda v, high: torch.clamp(v, max=high))
        x = numbers(dtype, (3, 4))
        emit(file, "clip", "crossed", [x, 3, 1], {}, torch.clamp)
        emit(file, "clip", "tensors", [x, numbers(dtype, (4,), 0, 1), numbers(dtype, (3, 1), 1, 2)], {}, lambda v, a, b: torch.clamp(v, a, b))
        emit(file, "clip", "fraction", [x, -0.5, 1.5] if dtype in FLOATS else [x, 0.5, 1.5], {}, torch.clamp)
    for dtype in FLOATS:
        emit(file, "clip", "nan_bound", [specials(dtype), NAN, 2.0], {}, torch.clamp)
        bounds = torch.tensor([NAN, 0.0, 1.0]).to(DTYPES[dtype])
        emit(file, "clip_low", "nan_tensor", [numbers(dtype, (2, 3)), bounds], {}, lambda v, low: torch.clamp(v, min=low))


def activation():
    file = File("activation")
    table = {
        "relu": ({}, F.relu, 0, 0), "leaky_relu": ({"slope": 0.01}, lambda x: F.leaky_relu(x, 0.01), 1, 0), "elu": ({"alpha": 1.0}, F.elu, 3, 0),
        "selu": ({}, F.selu, 4, 0), "gelu": ({}, F.gelu, 8, 1), "gelu_tanh": ({}, lambda x: F.gelu(x, approximate="tanh"), 12, 1),
        "silu": ({}, F.silu, "exp", 0), "swish": ({}, F.silu, "exp", 0), "sigmoid": ({}, torch.sigmoid, "exp", 0),
        "log_sigmoid": ({}, F.logsigmoid, "exp", 0), "hardsigmoid": ({}, F.hardsigmoid, 2, 0.5), "hardswish": ({}, F.hardswish, 3, 1),
        "softplus": ({}, F.softplus, "exp", 0), "mish": ({}, F.mish, "exp", 0),
    }
    for op, (args, fn, ulps, scale) in table.items():
        for dtype in FLOATS:
            edge = specials(dtype)
            if op == "hardswish":  # PyTorch's product overflows before it is divided
                edge = edge[~((edge.abs() > 1e4) & torch.isfinite(edge))]
            far = torch.tensor([-100.0, -50, -30, -21, -19, 19, 21, 30, 50, 100]).to(DTYPES[dtype])
            for note, x in layouts(dtype, -6, 6) + [("edges", Input(edge)), ("far", Input(far))]:
                tolerance = 4 + exp_ulps(x, 120) if ulps == "exp" else ulps
                emit(file, op, note, [x], args, fn, tolerance, scale)
    for dtype in FLOATS:
        x = numbers(dtype, (3, 4), -6, 6)
        emit(file, "leaky_relu", "slope", [x], {"slope": 0.3}, lambda v: F.leaky_relu(v, 0.3), 1)
        emit(file, "elu", "alpha", [x], {"alpha": 1.7}, lambda v: F.elu(v, 1.7), 3)
        emit(file, "softplus", "beta", [x], {"beta": 2.5, "threshold": 5.0}, lambda v: F.softplus(v, 2.5, 5.0), 24)
        emit(file, "softplus", "negative_beta", [x], {"beta": -1.5, "threshold": 20.0}, lambda v: F.softplus(v, -1.5, 20.0), 24)
    for dtype in INTS:
        emit(file, "relu", "edges", [specials(dtype)], {}, F.relu)
        emit(file, "sigmoid", "integers", [numbers(dtype, (3, 4))], {}, torch.sigmoid, 8 + exp_ulps(torch.tensor(16.0)))
    emit(file, "sigmoid", "bools", [numbers("bool", (3,))], {}, torch.sigmoid, 12)
    file.write()


def total(x):
    """A bound of the sums of absolute values."""
    x = value_of(as_input(x)).to(torch.float64)
    x = x[torch.isfinite(x)].abs()
    return x.sum().item() if x.numel() else 0.0


def reduction_inputs(dtype, low=-4, high=4):
    make = lambda *shape: numbers(dtype, shape, low, high)
    return [
        ("one_axis", Input(make(3, 4)), [1], False), ("keep", Input(make(3, 4)), [0], True), ("all", Input(make(2, 3)), None, False),
        ("several", Input(make(2, 3, 4)), [0, 2], False), ("negative", Input(make(2, 3, 2)), [-2], True),
        ("strided", Input(make(4, 5), "permute:1,0", "slice:0,0,5,2"), [1], False), ("scalar", Input(make()), None, False),
        ("one", Input(make(1, 3)), [0], False), ("rank6", Input(make(1, 2, 1, 3, 2, 1)), [1, 3, 5], True),
        ("broadcast", Input(make(1, 3), "expand:0,4"), [0], False), ("flipped", Input(make(5,), "flip:0"), [0], False),
    ]


def args_of(axes, keep, **more):
    args = {} if axes is None else {"axes": axes}
    if keep:
        args["keep"] = True
    args.update(more)
    return args


def over_axes(fn):
    """A function of one axis over several, one after the other, the last first."""

    def call(x, axes, keep):
        axes = list(range(x.dim())) if axes is None else [a % x.dim() for a in axes]
        if not axes:
            return fn(x.reshape(1), 0, False).reshape(())
        for axis in sorted(axes, reverse=True):
            x = fn(x, axis, keep)
        return x

    return call


def reduce_family():
    file = File("reduce")
    amax = lambda x, axes, keep: torch.amax(x, () if axes is None else axes, keepdim=keep)
    amin = lambda x, axes, keep: torch.amin(x, () if axes is None else axes, keepdim=keep)
    prod = over_axes(lambda x, axis, keep: torch.prod(x, axis, keepdim=keep))
    to_bool = lambda fn: lambda x, axes, keep: over_axes(lambda v, axis, k: fn(v, axis, keepdim=k))(x.to(torch.bool), axes, keep)
    table = {
        "sum": (lambda x, a, k: torch.sum(x, a if a is not None else (), keepdim=k), ALL, 4), "mean": (lambda x, a, k: torch.mean(x, a if a is not None else (), keepdim=k), FLOATS, 4),
        "max": (amax, ALL, 0), "min": (amin, ALL, 0), "prod": (prod, ALL, 8), "any": (to_bool(torch.any), ALL, 0),
        "all": (to_bool(torch.all), ALL, 0),
        "logsumexp": (lambda x, a, k: torch.logsumexp(x, tuple(range(x.dim())) if a is None else a, keepdim=k), ALL, 12),
        "var": (lambda x, a, k: torch.var(x, a, correction=1, keepdim=k), FLOATS, 8), "std": (lambda x, a, k: torch.std(x, a, correction=1, keepdim=k), FLOATS, 8),
        "norm": (lambda x, a, k: torch.linalg.vector_norm(x, 2, a, keepdim=k), FLOATS, 4),
    }
    for op, (fn, dtypes, ulps) in table.items():
        for dtype in dtypes:
            for note, x, axes, keep in reduction_inputs(dtype):
                if dtype not in FLOATS and note in ("negative", "broadcast", "one"):
                    continue
                if op == "logsumexp" and note == "scalar":
                    continue
                scale = {"sum": total(x), "mean": total(x) / max(1, value_of(x).numel()), "var": 16.0, "std": 2.0, "logsumexp": 4.0 if dtype in FLOATS else 16.0}.get(op, 0)
                emit(file, op, note, [x], args_of(axes, keep), lambda v, a=axes, k=keep: fn(v, a, k), ulps, scale)
            if dtype in FLOATS and op != "prod":
                x = specials(dtype).reshape(2, 11)
                x = x.where(~(x.abs() > 1e5) | ~torch.isfinite(x), torch.ones_like(x))
                rows = torch.stack([x[0], x[1], torch.full((11,), -INF).to(x.dtype), torch.full((11,), INF).to(x.dtype),
                                    torch.full((11,), 0.0).to(x.dtype)])
                emit(file, op, "edges", [rows], args_of([1], False), lambda v: fn(v, [1], False), ulps, 400.0 if ulps else 0)
            if dtype in INTS:
                emit(file, op, "edges", [specials(dtype)], {}, lambda v: fn(v, None, False), ulps, 1e20 if op == "logsumexp" else 0)
            if op in ("sum", "mean", "prod", "any", "all", "logsumexp", "var", "norm"):
                emit(file, op, "empty", [numbers(dtype, (2, 0))], args_of([1], False), lambda v: fn(v, [1], False), ulps)
            emit(file, op, "empty_kept", [numbers(dtype, (0, 3))], args_of([1], False), lambda v: fn(v, [1], False), ulps)
    for dtype in ("f64", "f32", "f16"):
        emit(file, "prod", "edges", [specials(dtype)[:6].reshape(2, 3)], args_of([1], False), lambda v: torch.prod(v, 1), 4)
        for correction in (0, 2, 4):
            for op, fn in (("var", torch.var), ("std", torch.std)):
                x = numbers(dtype, (3, 4))
                emit(file, op, "correction", [x], args_of([1], False, correction=correction), lambda v: fn(v, 1, correction=correction), 8, 16.0 if op == "var" else 4.0)
    for dtype in FLOATS:
        for p in (0.0, 1.0, 2.0, 3.0, 0.5, -1.0, 2.5, INF, -INF):
            for note, x, axes, keep in reduction_inputs(dtype):
                if note in ("one_axis", "all", "several", "strided"):
                    emit(file, "norm", f"p_{p:g}", [x], args_of(axes, keep, p=p), lambda v, a=axes, k=keep: torch.linalg.vector_norm(v, p, a, keepdim=k), 8)
            emit(file, "norm", f"zero_p_{p:g}", [torch.zeros(2, 3).to(DTYPES[dtype])], args_of([1], False, p=p), lambda v: torch.linalg.vector_norm(v, p, 1), 8)
    positions(file)
    file.write()


def positions(file):
    for op, fn in (("argmax", torch.argmax), ("argmin", torch.argmin)):
        for dtype in FLOATS + INTS:
            make = lambda *shape: numbers(dtype, shape, -1, 1)
            for note, x, axis, keep in (("axis", make(3, 5), 1, False), ("keep", make(3, 5), 0, True), ("all", make(3, 4), None, False),
                                        ("strided", Input(make(4, 5), "permute:1,0"), 0, False), ("rank6", make(1, 2, 1, 3, 2, 1), 3, False),
                                        ("scalar", make(), None, False), ("one", make(1, 1), 1, False), ("empty_kept", make(0, 3), 1, False)):
                args = {} if axis is None else {"axis": axis}
                if keep:
                    args["keep"] = True
                emit(file, op, note, [x], args, lambda v: fn(v, axis, keepdim=keep) if axis is not None else fn(v))
            ties = torch.tensor([[1, 3, 3, 0, 0], [2, 2, 2, 2, 2]]).to(DTYPES[dtype])
            emit(file, op, "ties", [ties], {"axis": 1}, lambda v: fn(v, 1))
            if dtype in FLOATS:
                nans = torch.tensor([[1.0, NAN, 3.0, NAN], [INF, -INF, 0, 1], [-INF, -INF, -INF, -INF]]).to(DTYPES[dtype])
                emit(file, op, "nan", [nans], {"axis": 1}, lambda v: fn(v, 1))


def normalise():
    file = File("normalise")
    for dtype in FLOATS:
        cases = [("last", Input(numbers(dtype, (3, 5))), -1), ("first", Input(numbers(dtype, (3, 4))), 0), ("middle", Input(numbers(dtype, (2, 3, 2))), 1),
                 ("strided", Input(numbers(dtype, (5, 4), -3, 3), "permute:1,0", "slice:0,0,4,2"), 1), ("one", Input(numbers(dtype, (3, 1))), 1),
                 ("rank6", Input(numbers(dtype, (1, 2, 1, 3, 2, 1))), 3), ("scalar", Input(numbers(dtype, ())), 0), ("empty", Input(numbers(dtype, (2, 0))), 1),
                 ("wide", Input(torch.tensor([[0.0, 30.0, -30.0], [100.0, 99.0, 0.0]]).to(DTYPES[dtype])), 1),
                 ("edges", Input(torch.tensor([[0.0, INF, 1.0], [-INF, 0.0, 1.0], [-INF, -INF, -INF], [NAN, 0.0, 1.0]]).to(DTYPES[dtype])), 1)]
        for note, x, axis in cases:
            spread = 2 * largest(x)
            emit(file, "softmax", note, [x], {"axis": axis}, lambda v: torch.softmax(v, axis), 8 + math.ceil(1.5 * spread))
            emit(file, "log_softmax", note, [x], {"axis": axis}, lambda v: torch.log_softmax(v, axis), 16, largest(x))
        make = lambda *shape: numbers(dtype, shape)
        norms = [("last", Input(make(3, 5)), [1]), ("two", Input(make(2, 3, 4)), [1, 2]), ("strided", Input(make(5, 4), "permute:1,0"), [1]),
                 ("rank6", Input(make(1, 2, 1, 3, 2, 2)), [4, 5]), ("constant", Input(torch.ones(2, 3).to(DTYPES[dtype])), [1]), ("empty", Input(make(0, 3)), [1])]
        for note, x, axes in norms:
            shape = [value_of(x).shape[a] for a in axes]
            weight, bias = numbers(dtype, shape), numbers(dtype, shape)
            mean = lambda v: v.mean(axes, keepdim=True)
            emit(file, "layer_norm", note, [x], {"axes": axes}, lambda v: F.layer_norm(v, shape), 16, 2.0)
            emit(file, "layer_norm", note + "_weight", [x, weight], {"axes": axes, "epsilon": 1e-3}, lambda v, w: F.layer_norm(v, shape, w, None, 1e-3), 16, 8.0)
            emit(file, "layer_norm", note + "_affine", [x, weight, bias], {"axes": axes}, lambda v, w, b: F.layer_norm(v, shape, w, b), 16, 8.0)
            eps = torch.finfo(DTYPES[dtype]).eps
            emit(file, "rms_norm", note, [x], {"axes": axes}, lambda v: F.rms_norm(v, shape, eps=eps), 8)
            emit(file, "rms_norm", note + "_weight", [x, weight], {"axes": axes, "epsilon": 1e-3}, lambda v, w: F.rms_norm(v, shape, w, 1e-3), 8)
            emit(file, "mean_norm", note, [x], {"axes": axes}, lambda v: v - mean(v), 8, 4.0)
            emit(file, "std_norm", note, [x], {"axes": axes, "epsilon": 1e-5}, lambda v: v / torch.sqrt(mean(v * v) + 1e-5), 8)
        emit(file, "mean_norm", "first_axis", [make(3, 4)], {"axes": [0]}, lambda v: v - v.mean(0, keepdim=True), 8, 4.0)
        for p in (1.0, 2.0, 3.0, INF):
            for note, x, axis in (("first", Input(make(3, 4)), 0), ("last", Input(make(2, 5)), 1), ("strided", Input(make(4, 3), "permute:1,0"), 1)):
                emit(file, "normalize", f"{note}_p_{p:g}", [x], {"p": p, "axes": [axis]}, lambda v: F.normalize(v, p, axis), 8)
        emit(file, "normalize", "zero", [torch.zeros(2, 3).to(DTYPES[dtype])], {"p": 2.0, "axes": [1]}, lambda v: F.normalize(v, 2.0, 1), 8)
    file.write()


def widest(fn):
    """Products of f16 and bf16 in f32, rounded once; of integers in i64, which wraps alike."""

    def call(*values):
        common = values[0].dtype
        for v in values:
            common = torch.promote_types(common, v.dtype)
        if common in (torch.float16, torch.bfloat16):
            return fn(*[v.float() for v in values]).to(common)
        if common == torch.bool:
            return fn(*[v.to(torch.int64) for v in values]).to(torch.bool)
        if not common.is_floating_point:
            return fn(*[v.to(torch.int64) for v in values]).to(common)
        return fn(*[v.to(common) for v in values])

    return call


def matmul():
    file = File("matmul")
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((2, 2, 3), (3, 2)), ((2, 3), (2, 3, 2)), ((2, 2, 3), (2, 3, 2)),
              ((2, 1, 2, 3), (3, 3, 2)), ((3,), (2, 3, 2)), ((2, 2, 3), (3,)), ((1, 1), (1, 1)), ((0, 3), (3, 2)), ((2, 0), (0, 3)), ((2, 3), (3, 0)),
              ((1, 2, 1, 1, 2, 3), (2, 1, 1, 3, 2)), ((1, 3), (3, 1))]
    for dtype in ALL:
        for a, b in shapes:
            if dtype in ("i64", "i16", "i8", "u8", "bool") and len(a) > 3:
                continue
            x, y = numbers(dtype, a, -2, 2), numbers(dtype, b, -2, 2)
            emit(file, "matmul", f"{len(a)}x{len(b)}", [x, y], {}, widest(torch.matmul), 4 if dtype in FLOATS else 0, 12.0)
        emit(file, "matmul", "strided", [Input(numbers(dtype, (3, 2), -2, 2), "permute:1,0"), Input(numbers(dtype, (2, 6), -2, 2), "slice:1,0,6,2", "permute:1,0")], {},
             widest(torch.matmul), 4 if dtype in FLOATS else 0, 12.0)
        emit(file, "dot", "plain", [numbers(dtype, (5,), -2, 2), numbers(dtype, (5,), -2, 2)], {}, widest(torch.dot), 4 if dtype in FLOATS else 0, 20.0)
        emit(file, "dot", "empty", [numbers(dtype, (0,)), numbers(dtype, (0,))], {}, widest(torch.dot), 4 if dtype in FLOATS else 0)
        emit(file, "dot", "strided", [Input(numbers(dtype, (9,), -2, 2), "slice:0,0,9,2"), Input(numbers(dtype, (5,), -2, 2), "flip:0")], {}, widest(torch.dot), 4 if dtype in FLOATS else 0, 20.0)
        emit(file, "outer", "plain", [numbers(dtype, (3,)), numbers(dtype, (4,))], {}, torch.outer)
        emit(file, "outer", "empty", [numbers(dtype, (0,)), numbers(dtype, (4,))], {}, torch.outer)
        if dtype in INTS:
            edge = specials(dtype)
            emit(file, "matmul", "wrap", [edge.reshape(1, -1), edge.reshape(-1, 1)], {}, widest(torch.matmul))
        if dtype in FLOATS:
            odd = torch.tensor([[1.0, INF, 2.0], [NAN, 1.0, 1.0], [0.0, 1.0, -1.0]]).to(DTYPES[dtype])
            emit(file, "matmul", "edges", [odd, torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]).to(DTYPES[dtype])], {}, widest(torch.matmul), 4, 4.0)
    emit(file, "matmul", "promotion", [numbers("f32", (2, 3)), numbers("f64", (3, 2))], {}, widest(torch.matmul), 4, 20.0)
    einsums(file)
    attention(file)
    file.write()


def einsums(file):
    table = [("ij,jk->ik", (2, 3), (3, 4)), ("ij,jk", (2, 3), (3, 4)), ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)), ("ii->i", (3, 3)), ("ii", (3, 3)), ("ij->ji", (2, 3)),
             ("ba", (2, 3)), ("ij->", (2, 3)), ("i,j->ij", (2,), (3,)), ("i,i->", (4,), (4,)), ("...ij,...jk->...ik", (2, 2, 3), (3, 2)), ("...i->...", (2, 3, 2)),
             ("b...d,e...d->b...e", (2, 3, 2), (2, 3, 2)), ("ij,jk,kl->il", (2, 3), (3, 2), (2, 2)), ("bhqd,bhkd->bhqk", (1, 2, 2, 3), (1, 2, 3, 3)), ("iij->j", (2, 2, 3)),
             ("i,ij,j->", (2,), (2, 3), (3,)), ("a...->...a", (2, 3, 2)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij,ij->", (2, 3), (1, 3)), ("abcdef->fedcba", (1, 2, 1, 3, 2, 1)),
             ("i->", (0,)), (",i->i", (), (3,)), ("iji->ij", (2, 3, 2))]
    for dtype in ["f64", "f32", "f16", "bf16", "i64", "i32"]:
        for formula, *shapes in table:
            inputs = [numbers(dtype, shape, -2, 2) for shape in shapes]
            emit(file, "einsum", formula.replace(" ", ""), inputs, {"formula": formula}, widest(lambda *v: torch.einsum(formula, *v)), 4 if dtype in FLOATS else 0, 24.0)
        emit(file, "einsum", "strided", [Input(numbers(dtype, (3, 2), -2, 2), "permute:1,0"), numbers(dtype, (3, 2), -2, 2)], {"formula": "ij,jk->ik"},
             widest(lambda *v: torch.einsum("ij,jk->ik", *v)), 4 if dtype in FLOATS else 0, 24.0)


def attention(file):
    def call(mask=None, causal=False, scale=None, grouped=False):
        def run(q, k, v, *rest):
            m = rest[0] if rest else None
            if m is not None and m.dtype != torch.bool:
                m = m.to(q.dtype)
            return F.scaled_dot_product_attention(q, k, v, attn_mask=m, is_causal=causal, scale=scale, enable_gqa=grouped)
        return run

    for dtype in FLOATS:
        make = lambda *shape: numbers(dtype, shape, -1.5, 1.5)
        q, k, v = make(2, 2, 3, 4), make(2, 2, 5, 4), make(2, 2, 5, 2)
        base = [("plain", [q, k, v], {}, call()), ("causal", [q, k, v], {"causal": True}, call(causal=True)), ("scale", [q, k, v], {"scale": 0.3}, call(scale=0.3)),
                ("matrix", [make(3, 4), make(5, 4), make(5, 4)], {}, call()), ("rank3", [make(2, 3, 4), make(2, 3, 4), make(2, 3, 4)], {"causal": True}, call(causal=True)),
                ("grouped", [make(1, 4, 3, 2), make(1, 2, 3, 2), make(1, 2, 3, 2)], {}, call(grouped=True)),
                ("grouped_causal", [make(1, 6, 3, 2), make(1, 2, 3, 2), make(1, 2, 3, 2)], {"causal": True}, call(grouped=True, causal=True)),
                ("multi_query", [make(1, 3, 2, 2), make(1, 1, 3, 2), make(1, 1, 3, 2)], {}, call(grouped=True)),
                ("bool_mask", [q, k, v, torch.tensor([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [1, 1, 1, 1, 1]]).bool()], {}, call()),
                ("head_mask", [q, k, v, numbers("bool", (1, 2, 3, 5))], {}, call()),
                ("float_mask", [q, k, v, make(3, 5)], {}, call()),
                ("infinite_mask", [q, k, v, torch.tensor([[0.0, -INF, 0, 0, -INF], [-INF] * 5, [0.0] * 5]).to(DTYPES[dtype])], {}, call()),
                ("grouped_mask", [make(1, 4, 2, 2), make(1, 2, 3, 2), make(1, 2, 3, 2), make(1, 4, 2, 3)], {}, call(grouped=True)),
                ("strided", [Input(make(2, 3, 2, 4), "permute:0,2,1,3"), Input(make(2, 5, 2, 4), "permute:0,2,1,3"), Input(make(2, 5, 2, 4), "permute:0,2,1,3")], {}, call()),
                ("causal_mask", [q, k, v, numbers("bool", (3, 5))], {"causal": True},
                 lambda a, b, c, m: F.scaled_dot_product_attention(a, b, c, attn_mask=m & torch.ones(3, 5).tril().bool())),
                ("causal_float_mask", [q, k, v, make(3, 5)], {"causal": True},
                 lambda a, b, c, m: F.scaled_dot_product_attention(a, b, c, attn_mask=m.masked_fill(~torch.ones(3, 5).tril().bool(), -INF))),
                ("one", [make(1, 1, 1, 4), make(1, 1, 1, 4), make(1, 1, 1, 4)], {"causal": True}, call(causal=True))]
        for note, inputs, args, fn in base:
            emit(file, "scaled_dot_product_attention", note, inputs, args, fn, 24, 1.0)
            if note in ("plain", "causal", "grouped", "bool_mask"):
                emit(file, "flash_attention", note, inputs, args, fn, 24, 1.0)


def movement():
    file = File("movement")
    for dtype in ALL:
        make = lambda *shape: numbers(dtype, shape)
        strided = lambda: Input(make(4, 6), "permute:1,0", "slice:0,0,6,2")
        run = lambda op, note, x, args, fn: emit(file, op, note, [x] if not isinstance(x, list) else x, args, fn)
        for axes in ([1, 0], [0, 1]):
            run("permute", "rank2", make(2, 3), {"axes": axes}, lambda v: v.permute(axes))
        run("permute", "rank6", make(1, 2, 1, 3, 2, 1), {"axes": [5, 3, 1, 0, 2, 4]}, lambda v: v.permute(5, 3, 1, 0, 2, 4))
        run("permute", "scalar", make(), {"axes": []}, lambda v: v)
        run("permute", "empty", make(0, 3), {"axes": [-1, 0]}, lambda v: v.permute(1, 0))
        run("transpose", "plain", make(2, 3, 2), {"a": 0, "b": -2}, lambda v: v.transpose(0, 1))
        run("transpose", "strided", strided(), {"a": 0, "b": 1}, lambda v: v.transpose(0, 1))
        for shape in ([6, 2], [-1], [2, 2, 3], [3, 1, -1], [1, 2, 1, 3, 2, 1]):
            run("reshape", "plain", make(3, 4), {"shape": shape}, lambda v: v.reshape(shape))
            run("reshape", "strided", strided(), {"shape": shape}, lambda v: v.reshape(shape))
        run("reshape", "scalar", make(1, 1), {"shape": []}, lambda v: v.reshape(()))
        run("reshape", "empty", make(0, 3), {"shape": [3, 0]}, lambda v: v.reshape(3, 0))
        run("merge_dims", "plain", make(2, 3, 2), {"axis": 1}, lambda v: v.flatten(1, 2))
        run("merge_dims", "strided", strided(), {"axis": 0}, lambda v: v.flatten(0, 1))
        run("split_dims", "plain", make(2, 6), {"axis": 1, "inner": 3}, lambda v: v.unflatten(1, (2, 3)))
        run("split_dims", "strided", strided(), {"axis": -1, "inner": 2}, lambda v: v.unflatten(-1, (-1, 2)))
        for first, last in ((0, -1), (1, 2), (0, 1)):
            run("flatten", "plain", make(2, 3, 2), {"first": first, "last": last}, lambda v: v.flatten(first, last))
        run("flatten", "scalar", make(), {}, lambda v: v.flatten())
        run("squeeze", "axis", make(2, 1, 3), {"axis": 1}, lambda v: v.squeeze(1))
        run("squeeze", "all", make(1, 2, 1, 3, 2, 1), {}, lambda v: v.squeeze())
        for axis in (0, 1, -1):
            run("unsqueeze", "plain", make(2, 3), {"axis": axis}, lambda v: v.unsqueeze(axis))
        run("unsqueeze", "scalar", make(), {"axis": 0}, lambda v: v.unsqueeze(0))
        run("expand", "plain", make(2, 1), {"shape": [3, -1, 4]}, lambda v: v.expand(3, -1, 4))
        run("expand", "scalar", make(), {"shape": [2, 3]}, lambda v: v.expand(2, 3))
        run("expand", "empty", make(1, 3), {"shape": [0, 3]}, lambda v: v.expand(0, 3))
        run("expand_dim", "plain", make(2, 3), {"axis": 1, "size": 4}, lambda v: v.unsqueeze(1).expand(2, 4, 3))
        run("expand_dim", "strided", strided(), {"axis": -1, "size": 2}, lambda v: v.unsqueeze(-1).expand(3, 4, 2))
        for times in ([2, 3], [1, 1], [2, 1, 2], [0, 2]):
            run("repeat", "plain", make(2, 3), {"times": times}, lambda v: v.repeat(times))
        run("repeat", "strided", strided(), {"times": [2, 1]}, lambda v: v.repeat(2, 1))
        for times in ([2], [2, 2], [2, 1, 2]):
            run("tile", "plain", make(2, 3), {"times": times}, lambda v: v.tile(times))
        run("tile", "scalar", make(), {"times": [3]}, lambda v: v.tile((3,)))
        run("concat", "first", [make(2, 3), make(1, 3), make(3, 3)], {"axis": 0}, lambda *v: torch.cat(v, 0))
        run("concat", "last", [make(2, 3), strided_rows(dtype), make(2, 0)], {"axis": -1}, lambda *v: torch.cat(v, -1))
        run("concat", "many", [make(2) for _ in range(7)], {"axis": 0}, lambda *v: torch.cat(v, 0))
        run("concat", "single", [make(2, 3)], {"axis": 1}, lambda *v: torch.cat(v, 1))
        run("concat", "edges", [specials(dtype), specials(dtype).flip(0)], {"axis": 0}, lambda *v: torch.cat(v, 0))
        for axis in (0, 1, -1):
            run("stack", "plain", [make(2, 3), make(2, 3), make(2, 3)], {"axis": axis}, lambda *v: torch.stack(v, axis))
        run("stack", "scalars", [make(), make()], {"axis": 0}, lambda *v: torch.stack(v, 0))
        run("split", "plain", make(5, 2), {"sizes": [2, 3], "axis": 0}, lambda v: v.split([2, 3], 0))
        run("split", "strided", strided(), {"sizes": [1, 0, 3], "axis": 1}, lambda v: v.split([1, 0, 3], 1))
        run("chunk", "even", make(2, 6), {"count": 3, "axis": 1}, lambda v: v.chunk(3, 1))
        for start, end, step in ((0, 4, 1), (1, -1, 2), (-3, 100, 1), (3, 1, 1), (0, 6, 4), (-100, 2, 1)):
            run("slice", "plain", make(6, 2), {"axis": 0, "start": start, "end": end, "step": step}, lambda v: v[start:end:step])
            run("slice", "strided", strided(), {"axis": -1, "start": start, "end": end, "step": step}, lambda v: v[:, start:end:step])
        paddings(run, dtype, make, strided)
        for axes in ([0], [1], [0, -1]):
            run("flip", "plain", make(2, 3), {"axes": axes}, lambda v: v.flip(axes))
            run("flip", "strided", strided(), {"axes": axes}, lambda v: v.flip(axes))
        for shift, axis in ((1, 0), (-2, 1), (7, 1), (0, 0)):
            run("roll", "plain", make(3, 4), {"shift": shift, "axis": axis}, lambda v: v.roll(shift, axis))
        run("roll", "strided", strided(), {"shift": 2, "axis": 0}, lambda v: v.roll(2, 0))
        run("roll", "empty", make(0, 2), {"shift": 1, "axis": 0}, lambda v: v.roll(1, 0))
        for size, stride in ((2, 1), (3, 2), (1, 1), (5, 3)):
            run("unfold", "plain", make(2, 5), {"axis": 1, "size": size, "stride": stride}, lambda v: v.unfold(1, size, stride))
        run("unfold", "strided", strided(), {"axis": 0, "size": 2, "stride": 1}, lambda v: v.unfold(0, 2, 1))
        for diagonal in (0, 1, -1, 5, -5):
            run("tril", "plain", make(3, 4), {"diagonal": diagonal}, lambda v: v.tril(diagonal))
            run("triu", "plain", make(4, 3), {"diagonal": diagonal}, lambda v: v.triu(diagonal))
        run("tril", "batch", make(2, 3, 3), {"diagonal": 0}, lambda v: v.tril())
        run("triu", "strided", strided(), {"diagonal": 1}, lambda v: v.triu(1))
        for offset in (0, 1, -1, 2, -2, 4):
            run("diagonal", "plain", make(3, 4), {"offset": offset}, lambda v: v.diagonal(offset))
        run("diagonal", "axes", make(2, 3, 4), {"offset": 1, "first": 0, "second": 2}, lambda v: v.diagonal(1, 0, 2))
        run("diagonal", "strided", strided(), {"offset": 0, "first": -1, "second": 0}, lambda v: v.diagonal(0, -1, 0))
    emit(file, "concat", "promotion", [numbers("i32", (2,)), numbers("f16", (3,)), numbers("bool", (1,))], {"axis": 0}, lambda *v: torch.cat(v))
    file.write()


def strided_rows(dtype):
    return Input(numbers(dtype, (4, 2)), "permute:1,0", "slice:1,0,4,2")


def paddings(run, dtype, make, strided):
    if dtype == "bool":
        return
    for before, after, fill in ((1, 2, 0.0), (0, 1, 3.0), (-1, 1, 2.0), (2, -2, 0.0)):
        run("pad", "last", make(2, 4), {"axis": 1, "before": before, "after": after, "fill": fill}, lambda v: F.pad(v, (before, after), value=fill))
        run("pad", "first", strided(), {"axis": 0, "before": before, "after": after, "fill": fill}, lambda v: F.pad(v, (0, 0, before, after), value=fill))
    if dtype in FLOATS:
        run("pad", "infinity", make(2, 3), {"axis": -1, "before": 1, "after": 0, "fill": -INF}, lambda v: F.pad(v, (1, 0), value=-INF))
    # PyTorch pads the last axes of ranks 2 and 3 only, and floats best.
    as_float = lambda fn: lambda v: fn(v.to(torch.float64)).to(v.dtype)
    for before, after in ((1, 2), (3, 0), (0, 3), (0, 0)):
        run("pad_reflect", "last", make(2, 4), {"axis": 1, "before": before, "after": after}, as_float(lambda v: F.pad(v, (before, after), mode="reflect")))
        run("pad_edge", "last", make(2, 4), {"axis": -1, "before": before + 2, "after": after}, as_float(lambda v: F.pad(v, (before + 2, after), mode="replicate")))
    run("pad_reflect", "first", strided(), {"axis": 0, "before": 1, "after": 2}, as_float(lambda v: F.pad(v.t(), (1, 2), mode="reflect").t()))
    run("pad_edge", "first", strided(), {"axis": 0, "before": 1, "after": 2}, as_float(lambda v: F.pad(v.t(), (1, 2), mode="replicate").t()))


def convolution():
    file = File("convolution")
    wide = lambda fn: lambda *v: widest(fn)(*v)
    for dtype in FLOATS + ["i32", "i64"]:
        make = lambda *shape: numbers(dtype, shape, -1.5, 1.5)
        plain = {1: ((2, 4, 7), (4, 4, 3)), 2: ((1, 2, 5, 4), (2, 2, 3, 2)), 3: ((1, 2, 3, 4, 3), (2, 2, 2, 2, 2))}
        for axes in (1, 2, 3):
            fn = getattr(F, f"conv{axes}d")
            transposed = getattr(F, f"conv_transpose{axes}d")
            x_shape, w_shape = plain[axes]
            variants = [("plain", {}), ("stride", {"stride": 2}), ("padding", {"padding": 1}), ("dilation", {"dilation": 2, "padding": 2}),
                        ("all", {"stride": 2, "padding": 1, "dilation": 1, "groups": 2}), ("groups", {"groups": 2})]
            if axes == 2:
                variants += [("uneven", {"stride": (1, 2), "padding": (2, 0), "dilation": (2, 1)})]
            for note, options in variants:
                if dtype not in FLOATS and note not in ("plain", "all"):
                    continue
                groups = options.get("groups", 1)
                w = make(w_shape[0], w_shape[1] // groups, *w_shape[2:])
                x, b = make(*x_shape), make(w_shape[0])
                args = dict(options)
                tolerance = 4 if dtype in FLOATS else 0
                emit(file, f"conv{axes}d", note, [x, w], args, wide(lambda v, k: fn(v, k, None, **options)), tolerance, 30.0)
                emit(file, f"conv{axes}d", note + "_bias", [x, w, b], args, wide(lambda v, k, c: fn(v, k, c, **options)), tolerance, 30.0)
                kernel = make(w_shape[1], w_shape[0] // groups, *w_shape[2:])
                back = dict(options)
                if note in ("stride", "all"):
                    back["output_padding"] = 1
                bias = make(w_shape[0])
                emit(file, f"conv_transpose{axes}d", note, [x, kernel, bias], back, wide(lambda v, k, c: transposed(v, k, c, **back)), tolerance, 30.0)
                if dtype in FLOATS:
                    emit(file, f"conv_transpose{axes}d", note + "_no_bias", [x, kernel], back, wide(lambda v, k: transposed(v, k, None, **back)), tolerance, 30.0)
            if dtype not in FLOATS:
                continue
            w = make(*w_shape)
            emit(file, f"conv{axes}d", "unbatched", [make(*x_shape[1:]), w], {}, wide(lambda v, k: fn(v, k)), 4, 30.0)
            emit(file, f"conv_transpose{axes}d", "unbatched", [make(*x_shape[1:]), w], {}, wide(lambda v, k: transposed(v, k)), 4, 30.0)
            emit(file, f"conv{axes}d", "empty_batch", [make(0, *x_shape[1:]), w], {}, wide(lambda v, k: fn(v, k)), 4, 30.0)
            order = [1, 0] + list(range(2, axes + 2))
            swapped = (x_shape[1], x_shape[0], *x_shape[2:])
            emit(file, f"conv{axes}d", "strided", [Input(make(*swapped), "permute:" + ",".join(map(str, order))), Input(make(w_shape[1], w_shape[0], *w_shape[2:]), "permute:" + ",".join(map(str, order)))], {},
                 wide(lambda v, k: fn(v, k)), 4, 30.0)
            depth = make(x_shape[1], 1, *w_shape[2:])
            emit(file, f"conv{axes}d", "depthwise", [make(*x_shape), depth], {"groups": x_shape[1]}, wide(lambda v, k: fn(v, k, groups=x_shape[1])), 4, 30.0)
            point = make(3, x_shape[1], *([1] * axes))
            emit(file, f"conv{axes}d", "pointwise", [make(*x_shape), point], {}, wide(lambda v, k: fn(v, k)), 4, 30.0)
    file.write()


def pooling():
    file = File("pooling")
    shapes = {1: (2, 2, 7), 2: (1, 2, 5, 6), 3: (1, 1, 4, 3, 4)}
    for axes in (1, 2, 3):
        max_pool, avg_pool = getattr(F, f"max_pool{axes}d"), getattr(F, f"avg_pool{axes}d")
        for dtype in FLOATS + ["i32", "i8"]:
            make = lambda *shape: numbers(dtype, shape)
            for note, window, options in (("plain", 2, {}), ("stride", 3, {"stride": 1}), ("padding", 3, {"stride": 2, "padding": 1}), ("ceil", 2, {"ceil_mode": True, "stride": 2}),
                                          ("ceil_padding", 3, {"ceil_mode": True, "stride": 2, "padding": 1}), ("dilation", 2, {"dilation": 2, "stride": 1}), ("excluded", 3, {"stride": 2, "padding": 1, "count_include_pad": False}),
                                          ("ceil_excluded", 2, {"ceil_mode": True, "stride": 2, "padding": 1, "count_include_pad": False})):
                args = {"window": [window] * axes, **options}
                x = make(*shapes[axes])
                if "count_include_pad" not in options:
                    fn = lambda v: max_pool(v, window, **options)
                    if dtype not in FLOATS:
                        fn = lambda v: max_pool(v.double(), window, **options).to(v.dtype)
                    emit(file, "max_pool", f"{axes}d_{note}", [x], args, fn)
                if "dilation" not in options and dtype in FLOATS:
                    emit(file, "avg_pool", f"{axes}d_{note}", [x], args, lambda v: avg_pool(v, window, **options), 4, 8.0)
            if dtype in FLOATS:
                emit(file, "max_pool", f"{axes}d_unbatched", [make(*shapes[axes][1:])], {"window": [2] * axes}, lambda v: max_pool(v, 2))
                order = [0, 1] + list(range(axes + 1, 1, -1))
                x = Input(make(*[shapes[axes][i] for i in order]), "permute:" + ",".join(map(str, order)))
                emit(file, "max_pool", f"{axes}d_strided", [x], {"window": [2] * axes}, lambda v: max_pool(v, 2))
                emit(file, "avg_pool", f"{axes}d_strided", [x], {"window": [2] * axes}, lambda v: avg_pool(v, 2), 4, 8.0)
                odd = make(*shapes[axes]).clone()
                odd.view(-1)[3], odd.view(-1)[9] = NAN, -INF
                emit(file, "max_pool", f"{axes}d_nan", [odd], {"window": [2] * axes}, lambda v: max_pool(v, 2))
        adaptive = getattr(F, f"adaptive_avg_pool{axes}d")
        for dtype in FLOATS:
            for sizes in ([1] * axes, [2] * axes, [3] * axes, [4] * axes):
                emit(file, "adaptive_avg_pool", f"{axes}d_{sizes[0]}", [numbers(dtype, shapes[axes])], {"sizes": sizes}, lambda v: adaptive(v, sizes if axes > 1 else sizes[0]), 8, 4.0)
            resample(file, axes, dtype, shapes[axes])
    file.write()


def resample(file, axes, dtype, shape):
    mode = {1: "linear", 2: "bilinear", 3: "trilinear"}[axes]
    for note, sizes in (("double", [2 * n for n in shape[2:]]), ("half", [max(1, n // 2) for n in shape[2:]]), ("odd", [n + 2 for n in shape[2:]]), ("same", list(shape[2:])), ("one", [1] * axes)):
        if axes == 3 and note == "double" and dtype != "f32":
            continue
        x = numbers(dtype, shape)
        emit(file, "interpolate_nearest", f"{axes}d_{note}", [x], {"sizes": sizes}, lambda v: F.interpolate(v, size=sizes, mode="nearest"))
        for corners in (False, True):
            emit(file, "interpolate_bilinear", f"{axes}d_{note}", [x], {"sizes": sizes, "align_corners": corners},
                 lambda v: F.interpolate(v, size=sizes, mode=mode, align_corners=corners), 8, 8.0)


def positions_in(length, shape, dtype="i64"):
    return torch.tensor(random.randint(0, length, size=shape)).reshape(shape).to(DTYPES[dtype])


def index():
    file = File("index")
    for dtype in ALL:
        make = lambda *shape: numbers(dtype, shape)
        for axis, shape, at in ((0, (3, 4), (2, 4)), (1, (3, 4), (3, 2)), (1, (3, 4), (2, 5)), (-1, (2, 3, 4), (2, 3, 2)), (0, (5,), (0,)), (3, (1, 2, 1, 3, 2, 1), (1, 2, 1, 2, 2, 1))):
            emit(file, "gather", f"axis{axis}", [make(*shape), positions_in(shape[axis], at)], {"axis": axis}, lambda x, i: torch.gather(x, axis, i))
        emit(file, "gather", "strided", [Input(make(4, 3), "permute:1,0"), Input(positions_in(4, (2, 3)), "permute:1,0")], {"axis": 1}, lambda x, i: torch.gather(x, 1, i))
        emit(file, "gather", "scalar", [make(), torch.tensor(0)], {"axis": 0}, lambda x, i: torch.gather(x, 0, i))
        for axis, shape, at in ((0, (3, 4), (2, 4)), (1, (3, 4), (3, 3)), (1, (3, 4), (2, 2)), (-1, (2, 2, 5), (2, 2, 3))):
            unique = torch.stack([torch.from_numpy(random.permutation(shape[axis])[:at[axis]].copy()) for _ in range(int(np.prod(at) // at[axis]))])
            order = list(range(len(at)))
            moved = [n for i, n in enumerate(at) if i != axis % len(at)] + [at[axis]]
            i = unique.reshape(moved).movedim(-1, axis).contiguous()
            source = make(*[n + 1 for n in at])
            emit(file, "scatter", f"axis{axis}", [make(*shape), i, source], {"axis": axis}, lambda x, p, s: torch.scatter(x, axis, p, s))
            emit(file, "scatter", f"number_axis{axis}", [make(*shape), i, 1], {"axis": axis}, lambda x, p, s: torch.scatter(x, axis, p, s))
        if dtype != "bool":
            for axis, shape, at in ((0, (3, 4), (5, 4)), (1, (3, 4), (2, 6)), (0, (4,), (7,))):
                repeated = positions_in(shape[axis], at)
                emit(file, "scatter_add", f"axis{axis}", [make(*shape), repeated, make(*at)], {"axis": axis}, lambda x, p, s: torch.scatter_add(x, axis, p, s), 4 if dtype in FLOATS else 0, 24.0)
            emit(file, "scatter_add", "empty", [make(3, 4), positions_in(3, (0, 4)), make(0, 4)], {"axis": 0}, lambda x, p, s: torch.scatter_add(x, 0, p, s), 4 if dtype in FLOATS else 0)
        for axis, shape in ((0, (3, 4)), (1, (3, 4)), (-2, (2, 3, 2))):
            for kind in ("i64", "i32"):
                emit(file, "index_select", f"axis{axis}_{kind}", [make(*shape), positions_in(shape[axis], (5,), kind)], {"axis": axis}, lambda x, i: torch.index_select(x, axis, i))
        emit(file, "index_select", "strided", [Input(make(4, 3), "permute:1,0"), Input(positions_in(3, (6,)), "slice:0,0,6,2")], {"axis": 0}, lambda x, i: torch.index_select(x, 0, i))
        emit(file, "index_select", "none", [make(3, 2), positions_in(3, (0,))], {"axis": 0}, lambda x, i: torch.index_select(x, 0, i))
        puts(file, dtype, make)
        emit(file, "embedding", "vector", [positions_in(4, (3,)), make(4, 2)], {}, lambda i, w: w[i])
        emit(file, "embedding", "matrix", [positions_in(4, (2, 3), "i32"), make(4, 2)], {}, lambda i, w: w[i.long()])
        emit(file, "embedding", "scalar", [torch.tensor(2), make(4, 2)], {}, lambda i, w: w[i])
        emit(file, "embedding", "none", [positions_in(4, (2, 0)), make(4, 2)], {}, lambda i, w: w[i])
        for axis, shape, at in ((0, (3, 4), (2, 4)), (1, (3, 1), (1, 2)), (1, (1, 4), (3, 2)), (-1, (2, 1, 3), (1, 4, 2))):
            if shape[axis] == 1:
                continue
            emit(file, "take_along_axis", f"axis{axis}", [make(*shape), positions_in(shape[axis], at)], {"axis": axis}, lambda x, i: torch.take_along_dim(x, i, axis))
    for kind in ["i64", "i32", "u8"]:
        for shape in ((4,), (2, 3), (), (0,), (1, 2, 1, 2)):
            emit(file, "one_hot", "plain", [positions_in(5, shape, kind)], {"classes": 5}, lambda i: F.one_hot(i.long(), 5))
    file.write()


def puts(file, dtype, make):
    rows, columns = torch.tensor([0, -1, 1]), torch.tensor([2, 0, -2])
    for note, indices, values in (("rows", [rows], make(3, 4)), ("row", [rows], make(4)), ("number", [rows], 1), ("points", [rows, columns], make(3)), ("table", [rows.reshape(3, 1), columns[:2]], make(3, 2))):
        def put(x, *rest, accumulate=False):
            *where, v = rest
            v = v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=x.dtype)
            return torch.index_put(x, tuple(where), v.to(x.dtype), accumulate)
        emit(file, "index_put", note, [make(3, 4), *indices, values], {}, put)
        if dtype in ("f64", "f32", "i64", "i32"):
            again = [torch.cat([i, i]) if i.dim() == 1 and note in ("rows", "points") else i for i in indices]
            more = values if not isinstance(values, torch.Tensor) or note not in ("rows", "points") else torch.cat([values, values])
            emit(file, "index_put", note + "_accumulate", [make(3, 4), *again, more], {"accumulate": True}, lambda *v: put(*v, accumulate=True), 4 if dtype in FLOATS else 0, 12.0)


def scan():
    file = File("scan")
    for dtype in ALL:
        make = lambda *shape: numbers(dtype, shape, -2, 2)
        variants = [("last", Input(make(3, 5)), -1), ("first", Input(make(4, 3)), 0), ("middle", Input(make(2, 3, 2)), 1), ("strided", Input(make(4, 6), "permute:1,0", "slice:0,0,6,2"), 0),
                    ("scalar", Input(make()), 0), ("one", Input(make(1, 3)), 0), ("empty", Input(make(0, 3)), 0), ("rank6", Input(make(1, 2, 1, 3, 2, 1)), 3), ("flipped", Input(make(5,), "flip:0"), 0)]
        for note, x, axis in variants:
            emit(file, "cumsum", note, [x], {"axis": axis}, lambda v: torch.cumsum(v, axis), 4, 8.0)
            emit(file, "cumprod", note, [x], {"axis": axis}, lambda v: torch.cumprod(v, axis), 8)
            emit(file, "cummax", note, [x], {"axis": axis}, lambda v: torch.cummax(v, axis))
            for descending in (False, True):
                args = {"axis": axis, "descending": descending}
                emit(file, "sort", note, [x], args, lambda v: torch.sort(v, dim=axis, descending=descending, stable=True))
                emit(file, "argsort", note, [x], args, lambda v: torch.argsort(v, dim=axis, descending=descending, stable=True))
        edge = specials(dtype)
        edge = edge if dtype not in FLOATS else torch.cat([edge, edge[14:17]])
        emit(file, "cummax", "edges", [edge], {"axis": 0}, lambda v: torch.cummax(v, 0))
        for descending in (False, True):
            emit(file, "sort", "edges", [edge], {"axis": 0, "descending": descending}, lambda v: torch.sort(v, dim=0, descending=descending, stable=True))
        if dtype in INTS:
            emit(file, "cumsum", "wrap", [edge], {"axis": 0}, lambda v: torch.cumsum(v, 0))
            emit(file, "cumprod", "wrap", [edge[1:]], {"axis": 0}, lambda v: torch.cumprod(v, 0))
        if dtype in FLOATS:
            odd = torch.tensor([1.0, INF, 2.0, -INF, 3.0, NAN, 1.0]).to(DTYPES[dtype])
            emit(file, "cumsum", "edges", [odd], {"axis": 0}, lambda v: torch.cumsum(v, 0), 4)
            emit(file, "cumprod", "edges", [odd], {"axis": 0}, lambda v: torch.cumprod(v, 0), 4)
        tops(file, dtype)
    file.write()


def tops(file, dtype):
    if dtype == "bool":
        return
    distinct = lambda *shape: torch.from_numpy(np.stack([random.permutation(shape[-1]) for _ in range(int(np.prod(shape[:-1])))])).reshape(shape).to(DTYPES[dtype])
    for largest_first in (True, False):
        for count in (0, 1, 3, 5):
            emit(file, "topk", "last", [distinct(3, 5)], {"count": count, "axis": -1, "largest": largest_first}, lambda v: torch.topk(v, count, -1, largest_first, True))
        emit(file, "topk", "strided", [Input(distinct(3, 5), "permute:1,0")], {"count": 2, "axis": 0, "largest": largest_first}, lambda v: torch.topk(v, 2, 0, largest_first, True))
        if dtype in FLOATS:
            odd = torch.tensor([1.0, NAN, INF, -INF, 0.5]).to(DTYPES[dtype])
            emit(file, "topk", "edges", [odd], {"count": 3, "axis": 0, "largest": largest_first}, lambda v: torch.topk(v, 3, 0, largest_first, True))


def create():
    file = File("create")
    for dtype in FLOATS + INTS:
        for start, end, step in ((0, 5, 1), (2, 11, 3), (5, 5, 1), (7, 0, -2), (0, 1, 10)):
            args = {"start": start, "end": end, "step": step, "dtype": dtype}
            emit(file, "arange", "whole", [], args, lambda: torch.arange(start, end, step, dtype=DTYPES[dtype]))
        if dtype in FLOATS:
            for start, end, step in ((0.0, 1.0, 0.1), (-1.0, 1.0, 0.25), (1.0, -1.0, -0.3)):
                args = {"real": 1, "start": start, "end": end, "step": step, "dtype": dtype}
                emit(file, "arange", "fraction", [], args, lambda: torch.arange(start, end, step, dtype=torch.float64).to(DTYPES[dtype]), 1, 1.0)
            for start, end, count in ((0.0, 1.0, 5), (-3.0, 7.5, 8), (2.0, 2.0, 3), (0.0, 1.0, 1), (0.0, 1.0, 0), (5.0, -5.0, 4)):
                args = {"start": start, "end": end, "count": count, "dtype": dtype}
                emit(file, "linspace", "plain", [], args, lambda: torch.linspace(start, end, count, dtype=torch.float64).to(DTYPES[dtype]), 2, 4.0)
    for dtype in ALL:
        for rows, columns in ((3, 3), (2, 4), (4, 2), (0, 3), (1, 1)):
            emit(file, "eye", "plain", [], {"rows": rows, "columns": columns, "dtype": dtype}, lambda: torch.eye(rows, columns, dtype=DTYPES[dtype]))
        for shape in ([2, 3], [], [0, 2], [1, 2, 1, 3, 2, 1]):
            emit(file, "zeros", "plain", [], {"shape": shape, "dtype": dtype}, lambda: torch.zeros(shape, dtype=DTYPES[dtype]))
            emit(file, "ones", "plain", [], {"shape": shape, "dtype": dtype}, lambda: torch.ones(shape, dtype=DTYPES[dtype]))
            for value in (3.0, 0.0) + ((-2.5, INF, NAN) if dtype in FLOATS else ()):
                emit(file, "full", "plain", [], {"shape": shape, "value": value, "dtype": dtype}, lambda: torch.full(shape, value, dtype=DTYPES[dtype]))
    file.write()


def random_family():
    """Our sequences are our own: the builders of these cases compute whether they are as they must be."""
    file = File("random")
    true = lambda: torch.tensor(True)
    for dtype in FLOATS:
        for seed, stream in ((1, 0), (2, 0), (1, 7), (2**62, 3)):
            for op in ("rand", "randn"):
                emit(file, op, "moments", [], {"shape": [20, 50], "seed": seed, "stream": stream, "dtype": dtype}, true)
        for p in (0.1, 0.5, 0.9):
            emit(file, "dropout", f"p_{p}", [numbers(dtype, (20, 30), 1, 2)], {"p": p}, lambda x: torch.tensor(True))
        weights = torch.tensor([[0.1, 0.2, 0.0, 0.7], [1.0, 1.0, 1.0, 1.0]]).to(DTYPES[dtype])
        emit(file, "multinomial", "replaced", [weights], {"count": 300, "replacement": 1}, lambda x: torch.tensor(True))
        emit(file, "multinomial", "different", [weights], {"count": 3, "replacement": 0}, lambda x: torch.tensor(True))
        emit(file, "multinomial", "vector", [weights[0]], {"count": 2, "replacement": 0, "seed": 5}, lambda x: torch.tensor(True))
    for dtype in ("i64", "i32", "f32"):
        for low, high in ((0, 10), (-5, 5), (0, 1000)):
            emit(file, "randint", f"{low}_{high}", [], {"low": low, "high": high, "shape": [20, 50], "dtype": dtype}, true)
    file.write()


FAMILIES = {
    "arithmetic": arithmetic, "math": math_family, "compare": compare, "activation": activation, "reduce": reduce_family,
    "normalise": normalise, "matmul": matmul, "movement": movement, "convolution": convolution, "pooling": pooling,
    "index": index, "scan": scan, "create": create, "random": random_family,
}


def parse():
    here = os.path.dirname(os.path.abspath(__file__))
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1000)
    parser.add_argument("--folder", default=os.path.join(here, "..", "tests", "ops", "references"))
    parser.add_argument("families", nargs="*", metavar="FAMILY", help=" ".join(FAMILIES))
    return parser.parse_args()


options = parse()
for number, (name, make) in enumerate(FAMILIES.items()):
    random.seed(options.seed + number)
    if not options.families or name in options.families:
        make()
