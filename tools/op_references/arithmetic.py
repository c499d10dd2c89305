"""Arithmetic of two sides."""
import numpy as np
import torch

from .common import ALL, DTYPES, FLOATS, INF, INTS, NAN, File, Input, as_input, emit, limits, numbers, specials


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


DIVISIONS = ("fmod", "remainder", "floor_divide")
PLAIN = {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div, "pow": torch.pow, "maximum": torch.maximum,
         "minimum": torch.minimum, "atan2": torch.atan2}
ULPS = {"pow": 3, "atan2": 4, "remainder": 1}  # of floats; the others are exact
NO_BOOLS = ("sub", "pow", "fmod", "remainder", "floor_divide", "atan2")


def function(op, floating):
    if op == "fmod":
        return exact_fmod if floating else or_zero(torch.fmod)
    if op == "remainder":
        return python_remainder if floating else or_zero(torch.remainder)
    if op == "floor_divide":
        return narrow_rounded(torch.floor_divide) if floating else or_zero(torch.floor_divide)
    return PLAIN[op]


def pairs_of(op, dtype):
    """(note, left, right) in every layout, and every pair of edges."""
    make = lambda *shape: numbers(dtype, shape)
    pairs = [
        ("same", make(3, 4), make(3, 4)), ("broadcast", make(2, 1, 3), make(4, 1)),
        ("strided", Input(make(4, 3), "permute:1,0"), Input(make(3, 7), "slice:1,0,7,2", "flip:0")),
        ("scalar", make(3), make()), ("rank6", make(1, 2, 1, 3, 1, 2), make(2, 1, 3, 2, 1)), ("empty", make(0, 3), make(1, 3)),
    ]
    edge = specials(dtype)
    if op == "pow" and dtype in INTS:  # PyTorch's integers to negative powers depend on the processor
        pairs = [(note, a, Input(as_input(b).base.abs() % 8, *as_input(b).view)) for note, a, b in pairs]
        return pairs + [("wrap", edge.repeat(4), torch.arange(2, 6).to(edge.dtype).repeat_interleave(len(edge)))]
    if op == "pow" or op in DIVISIONS and dtype in FLOATS:
        edge = torch.tensor([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 3.0, -3.0, 7.0, INF, -INF, NAN]).to(edge.dtype)
    x, y = edge.repeat(len(edge)), edge.repeat_interleave(len(edge))
    if op in DIVISIONS and dtype in INTS:  # the lowest divided by -1 traps there
        trap = (x == limits(dtype)[0]) & (y == -1) & (dtype != "u8")
        x, y = x[~trap], y[~trap]
    return pairs + [("edges", x, y)]


def with_numbers(file, op):
    """A number on either side takes the tensor's dtype, unless it is of a higher kind."""
    for dtype in ["f64", "f32", "f16", "bf16", "i64", "i32", "i8", "u8", "bool"]:
        for number in (3, -2.5, True):
            if op in NO_BOOLS and (dtype == "bool" or isinstance(number, bool)):
                continue
            x = numbers(dtype, (2, 3), 0.5, 4)
            floating = torch.result_type(x, number).is_floating_point
            fn = function(op, floating)
            tolerance = ULPS.get(op, 0) if floating or op == "atan2" else 0
            as_tensors = lambda a, b: [v if isinstance(v, torch.Tensor) else torch.tensor(v, dtype=torch.result_type(a, b)) for v in (a, b)]
            call = lambda a, b: fn(*as_tensors(a, b))
            if op in ("pow", "div", "add", "sub", "mul"):
                emit(file, op, "number_right", [x, number], {}, lambda a, b: fn(a, b), tolerance)
            else:
                x = x.to(torch.result_type(x, number))
                emit(file, op, "number_right", [x, number], {}, call, tolerance)
            if op in ("maximum", "minimum", "atan2", "add", "sub", "mul", "div"):
                x = x.to(torch.result_type(x, number))
                emit(file, op, "number_left", [number, x], {}, call, tolerance)


def with_promotion(file, op):
    for left in ALL:
        for right in ALL:
            if left == right or (op in NO_BOOLS and "bool" in (left, right)):
                continue
            common = torch.promote_types(DTYPES[left], DTYPES[right])
            thinned = op != "add" and (ALL.index(left) + ALL.index(right)) % 3 != 0
            if thinned or (op == "pow" and not common.is_floating_point):
                continue
            a, b = numbers(left, (3,), 0.5, 4), numbers(right, (3,), 0.5, 4)
            floating = common.is_floating_point or op == "atan2"
            emit(file, op, "promotion_" + right, [a, b], {}, function(op, floating), ULPS.get(op, 0) if floating else 0)


def arithmetic():
    file = File("arithmetic")
    for op in ("add", "sub", "mul", "div", "pow", "fmod", "remainder", "floor_divide", "maximum", "minimum", "atan2"):
        for dtype in ALL:
            if dtype == "bool" and op in NO_BOOLS:
                continue
            floating = dtype in FLOATS
            for note, a, b in pairs_of(op, dtype):
                emit(file, op, note, [a, b], {}, function(op, floating), ULPS.get(op, 0) if floating or op == "atan2" else 0)
        with_numbers(file, op)
        with_promotion(file, op)
    for dtype in FLOATS:
        for exponent in (2, 3, 0.5, -0.5, -1, -2, 0, 1, 2.5):
            emit(file, "pow", "simple", [specials(dtype), exponent], {}, torch.pow, 3)
    for op, fn in (("add_assign", torch.add), ("sub_assign", torch.sub), ("mul_assign", torch.mul), ("div_assign", torch.div)):
        for dtype in ["f64", "f32", "f16", "bf16", "i64", "i32"]:
            emit(file, op, "tensor", [numbers(dtype, (2, 3)), numbers(dtype, (3,), 1, 4)], {}, fn)
            emit(file, op, "number", [numbers(dtype, (2, 3)), 3], {}, fn)
    file.write()
