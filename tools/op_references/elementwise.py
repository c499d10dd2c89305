"""Arithmetic, functions of each element, activations."""
import numpy as np
import torch
import torch.nn.functional as F

from .common import (
    ALL, DIGITS, DTYPES, FLOATS, File, INF, INTS, Input, NAN, as_input, emit, exp_ulps, layouts, limits, numbers, specials,
)


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
