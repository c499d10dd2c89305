"""Functions of each element, and activations."""
import torch
import torch.nn.functional as F

from .common import ALL, DIGITS, DTYPES, FLOATS, File, INTS, Input, emit, exp_ulps, layouts, limits, numbers, specials


MATH = {
    # op: (function, ulps, low, high); ulps 0: exact
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
