#!/usr/bin/env python3
"""Writes tests/op/scalar_references.txt: what every element-wise op and every conversion gives at the edges.

Needs torch (2.13), numpy and mpmath; the tests need only the file. Values come from exact arithmetic (Python's integers
and fractions), from mpmath rounded once (transcendental functions) and from NumPy in f32 and f64 (the rest). Wherever
PyTorch has the operation on the dtype itself its answer is compared, and a row that differs must belong to one of the
deliberate differences listed in DIFFERENCES, or the script fails."""
import collections
import itertools
import math
import pathlib
import random
import struct
import sys
from fractions import Fraction

import mpmath
import numpy
import torch

OUT = pathlib.Path(__file__).resolve().parent.parent / "tests" / "op" / "scalar_references.txt"

DIFFERENCES = {
    "integer-by-zero": "idiv and mod of an integer by 0 give 0, as NumPy; PyTorch raises",
    "lowest-by-minus-one": "the lowest integer idiv -1 wraps and mod -1 gives 0; undefined in PyTorch",
    "float-to-integer": "floats beyond an integer's range saturate and NaN gives 0; undefined in PyTorch",
    "f8e4m3-overflow": "beyond the range of f8e4m3 gives NaN, as it has no infinity; PyTorch 2.13 gives ±448",
    "double-rounding": "conversions to f16, bf16 and 8-bit floats round once; PyTorch goes through f32",
    "zero-max": "max of +0 and -0 is +0 in either order; PyTorch gives the first",
    "square-root": "sqrt is correctly rounded; PyTorch's f32 one may be off by an ulp",
    "remainder": "mod of floats is exact; PyTorch's is not for huge quotients",
    "narrow-idiv": "idiv truncates the f32 quotient; PyTorch rounds it to f16 or bf16 first",
}

Float = collections.namedtuple("Float", "torch bits mantissa lowest_exponent largest infinity")
FLOATS = {
    "f64": Float(torch.float64, 64, 52, -1022, Fraction((2**53 - 1) * 2**971), True),
    "f32": Float(torch.float32, 32, 23, -126, Fraction((2**24 - 1) * 2**104), True),
    "f16": Float(torch.float16, 16, 10, -14, Fraction(65504), True),
    "bf16": Float(torch.bfloat16, 16, 7, -126, Fraction((2**8 - 1) * 2**120), True),
    "f8e4m3": Float(torch.float8_e4m3fn, 8, 3, -6, Fraction(448), False),
    "f8e5m2": Float(torch.float8_e5m2, 8, 2, -14, Fraction(57344), True),
}
Integer = collections.namedtuple("Integer", "torch bits signed")
INTEGERS = {f"{letter}{bits}": Integer(getattr(torch, f"{word}{bits}"), bits, letter == "i")
            for letter, word in (("i", "int"), ("u", "uint")) for bits in (64, 32, 16, 8)}
DTYPES = [*FLOATS, *INTEGERS, "bool"]
CARRIER = {64: torch.int64, 32: torch.int32, 16: torch.int16, 8: torch.int8}


def torch_dtype(name):
    return torch.bool if name == "bool" else (FLOATS.get(name) or INTEGERS.get(name)).torch


def width(name):
    return 8 if name == "bool" else (FLOATS.get(name) or INTEGERS.get(name)).bits


# ------------------------------------------------------------------------------------------------- bits and values

def signed(bits, size):
    return bits - (1 << size) if bits >> (size - 1) else bits


def tensor(name, patterns):
    """The bit patterns as a tensor of the dtype."""
    carrier = torch.tensor([signed(p, width(name)) for p in patterns], dtype=CARRIER[width(name)])
    return carrier.to(torch.bool) if name == "bool" else carrier.view(torch_dtype(name))


def patterns(name, values):
    """The bit patterns of a tensor of the dtype."""
    if name == "bool":
        return [int(v) for v in values.tolist()]
    mask = (1 << width(name)) - 1
    return [v & mask for v in values.view(CARRIER[width(name)]).tolist()]


SMALL = {name: dict(zip(range(1 << f.bits), tensor(name, range(1 << f.bits)).double().tolist()))
         for name, f in FLOATS.items() if f.bits <= 16}
SMALL_BITS = {name: {v: b for b, v in reversed(values.items()) if v == v and v != 0} for name, values in SMALL.items()}


def value(name, bits):
    """The element as a Python bool, int or float; exact."""
    if name == "bool":
        return bool(bits)
    if name in INTEGERS:
        return signed(bits, width(name)) if INTEGERS[name].signed else bits
    if name in SMALL:
        return SMALL[name][bits]
    return struct.unpack("<d" if name == "f64" else "<f", bits.to_bytes(width(name) // 8, "little"))[0]


def float_bits(name, exact, negative=None):
    """The bits of the nearest value, ties to even, of a Fraction, or of 'inf' or 'nan'."""
    f = FLOATS[name]
    negative = exact != "nan" and exact != "inf" and exact < 0 if negative is None else negative
    sign = (1 << (f.bits - 1)) if negative else 0
    top = (1 << (f.bits - 1)) - (1 << f.mantissa)
    nan = top | 1 << (f.mantissa - 1) if f.infinity else (1 << (f.bits - 1)) - 1
    if exact == "nan":
        return nan
    if exact != "inf" and exact != 0:
        magnitude = abs(Fraction(exact))
        exponent = magnitude.numerator.bit_length() - magnitude.denominator.bit_length()
        exponent -= magnitude < Fraction(2) ** exponent
        quantum = Fraction(2) ** (max(exponent, f.lowest_exponent) - f.mantissa)
        rounded = round(magnitude / quantum) * quantum
        if rounded == 0:
            return sign
        if rounded <= f.largest:
            if name in SMALL:
                return SMALL_BITS[name][float(rounded)] | sign
            packed = struct.pack("<d" if name == "f64" else "<f", float(rounded))
            return int.from_bytes(packed, "little") | sign
    elif exact == 0:
        return sign
    return (top if f.infinity else nan) | sign


def float_bits_of(name, number):
    """As float_bits, of a Python float."""
    negative = struct.pack(">d", number)[0] >= 128
    if number != number:
        return float_bits(name, "nan")
    if number in (math.inf, -math.inf):
        return float_bits(name, "inf", negative)
    return float_bits(name, Fraction(number), negative)


def is_finite(number):
    return number == number and abs(number) != math.inf


def is_nan(name, bits):
    return name in FLOATS and value(name, bits) != value(name, bits)


# ------------------------------------------------------------------------------------------------------- operands

def edges(name):
    """The bit patterns at which an op is tried."""
    if name == "bool":
        return [0, 1]
    if name in INTEGERS:
        size = width(name)
        mask = (1 << size) - 1
        known = [0, 1, 2, 3, 7, size - 1, size, -1, -2, -3, 1 << (size - 1), (1 << (size - 1)) - 1]
        return list(dict.fromkeys(k & mask for k in known))
    f = FLOATS[name]
    normal = 1 << f.mantissa
    sign = 1 << (f.bits - 1)
    numbers = [float_bits(name, Fraction(n, 2)) for n in (1, 2, 3, 4, 6)]
    known = [0, 1, normal - 1, normal, *numbers, float_bits(name, f.largest), float_bits(name, "inf", False)]
    return list(dict.fromkeys([*known, *(k | sign for k in known), float_bits(name, "nan")]))


def few_edges(name):
    if name not in FLOATS:
        return edges(name)
    f = FLOATS[name]
    sign = 1 << (f.bits - 1)
    of = lambda n: float_bits(name, Fraction(n))
    largest = of(f.largest)
    infinity = float_bits(name, "inf", False)
    small = [0, sign, 1, sign | ((1 << f.mantissa) - 1), 1 << f.mantissa]
    large = [largest, largest | sign, infinity, infinity | sign, float_bits(name, "nan")]
    return list(dict.fromkeys([*small, of(0.5), of(1), of(-1), of(2), of(-2.5), of(3), *large]))


def ordinary(name, rng):
    if name not in FLOATS:
        return rng.getrandbits(width(name)) >> rng.randrange(width(name))
    return float_bits_of(name, rng.choice((rng.uniform(-4, 4), rng.uniform(-300, 300), rng.gauss(0, 0.01))))


def unary_operands(name, rng):
    ties = [float_bits(name, Fraction(n, 2)) for n in (5, 7, 9, -5, -7, 15, 255, 1001)] if name in FLOATS else []
    more = [ordinary(name, rng) for _ in range(24)] + [rng.getrandbits(width(name)) for _ in range(12)]
    return list(dict.fromkeys(edges(name) + ties + more))


def binary_operands(name, rng):
    pairs = list(itertools.product(few_edges(name), repeat=2))
    if name == "bool":
        return pairs
    pairs += [(ordinary(name, rng), ordinary(name, rng)) for _ in range(24)]
    pairs += [(rng.getrandbits(width(name)), rng.getrandbits(width(name))) for _ in range(6)]
    if name in INTEGERS:
        pairs += [(ordinary(name, rng), rng.randrange(width(name))) for _ in range(10)]
    return list(dict.fromkeys(pairs))


# ----------------------------------------------------------------------------------------------------- the meaning

def mp_fraction(x):
    sign, mantissa, exponent, _ = x._mpf_
    return Fraction(-mantissa if sign else mantissa) * Fraction(2) ** exponent


def c_pow(a, b):
    """C's pow; NumPy's takes the square root for b = 1/2, which differs at -0 and -inf."""
    odd = is_finite(b) and b == int(b) and int(b) % 2 == 1
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and odd else math.inf
    except ValueError:
        return math.nan if a != 0 else math.copysign(math.inf, a) if odd else math.inf


TRANSCENDENTAL = {
    "exp2": (numpy.exp2, lambda x: mpmath.power(2, x)),
    "log2": (numpy.log2, lambda x: mpmath.log(x) / mpmath.log(2)),
    "sin": (numpy.sin, mpmath.sin),
    "cos": (numpy.cos, mpmath.cos),
    "atan": (numpy.arctan, mpmath.atan),
    "erf": (torch.erf, mpmath.erf),
    "log1p": (numpy.log1p, mpmath.log1p),
    "expm1": (numpy.expm1, mpmath.expm1),
    "pow": (c_pow, mpmath.power),
}
UNARY = ["exp2", "log2", "sin", "cos", "atan", "erf", "log1p", "expm1", "sqrt", "recip", "floor", "round"]
IEEE = {  # exact or correctly rounded in NumPy's f32 and f64
    "sqrt": numpy.sqrt, "recip": lambda x: 1 / x, "floor": numpy.floor, "round": numpy.rint, "add": numpy.add,
    "mul": numpy.multiply, "div": numpy.divide, "mod": numpy.fmod, "idiv": lambda a, b: numpy.trunc(a / b),
    "max": numpy.maximum, "less": numpy.less, "equal": numpy.equal,
}
IN_TORCH = {
    "sqrt": torch.sqrt, "recip": torch.reciprocal, "floor": torch.floor, "round": torch.round,
    "add": torch.add, "mul": torch.mul, "div": torch.div, "mod": torch.fmod,
    "idiv": lambda a, b: torch.div(a, b, rounding_mode="trunc"),
    "max": torch.maximum, "less": torch.lt, "equal": torch.eq,
    "bit_and": torch.bitwise_and, "bit_or": torch.bitwise_or, "bit_xor": torch.bitwise_xor,
    "shift_left": torch.bitwise_left_shift, "shift_right": torch.bitwise_right_shift, "pow": torch.pow,
}
ON_FLOATS = ["add", "mul", "div", "idiv", "mod", "pow", "max", "less", "equal"]
ON_INTEGERS = ["add", "mul", "idiv", "mod", "pow", "max", "less", "equal", "bit_and", "bit_or", "bit_xor", "shift_left",
               "shift_right"]
ON_BOOL = ["add", "mul", "max", "less", "equal", "bit_and", "bit_or", "bit_xor"]


def c_library(function, operands):
    """The f64 function: right at zeros, infinities, NaN and overflow, where it matters here."""
    with numpy.errstate(all="ignore"):
        if function is torch.erf:
            return torch.erf(torch.tensor(operands[0], dtype=torch.float64)).item()
        return float(function(*(numpy.float64(x) for x in operands)))


def transcendental(op, name, operands):
    """Correctly rounded in f64 or f32; narrower floats are rounded from the f32 result."""
    native, exact = TRANSCENDENTAL[op]
    result = c_library(native, operands)
    if is_finite(result) and result != 0 and all(is_finite(x) for x in operands):
        largest = max(abs(x) for x in operands)
        mpmath.mp.prec = 1400 if largest > 2**40 else 400
        result = mp_fraction(exact(*(mpmath.mpf(x) for x in operands)))
        bits = float_bits("f64" if name == "f64" else "f32", result)
    else:
        bits = float_bits_of("f64" if name == "f64" else "f32", result)
    return bits if name in ("f64", "f32") else float_bits_of(name, value("f32", bits))


def float_results(op, name, operands):
    """Result bits for a list of operand tuples."""
    if op in TRANSCENDENTAL:
        return [transcendental(op, name, [value(name, x) for x in row]) for row in operands]
    compute = numpy.float64 if name == "f64" else numpy.float32
    columns = [numpy.array([value(name, x) for x in column], compute) for column in zip(*operands)]
    with numpy.errstate(all="ignore"):
        results = IEEE[op](*columns)
    if results.dtype == bool:
        return [int(r) for r in results]
    bits = [float_bits_of(name, float(r)) for r in results]
    if op == "max":
        zero = lambda x: value(name, x) == 0
        bits = [0 if zero(a) and zero(b) and 0 in (a, b) else r for (a, b), r in zip(operands, bits)]
    return bits


def truncated(a, b):
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def integer_power(a, b, size):
    if b >= 0:
        return pow(a, b, 1 << size)
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def integer_result(op, name, a, b):
    size = width(name)
    shift = b if 0 <= b < size else None
    meaning = {
        "add": lambda: a + b, "mul": lambda: a * b, "max": lambda: max(a, b), "less": lambda: a < b,
        "equal": lambda: a == b, "bit_and": lambda: a & b, "bit_or": lambda: a | b, "bit_xor": lambda: a ^ b,
        "idiv": lambda: truncated(a, b) if b else 0, "mod": lambda: a - b * truncated(a, b) if b else 0,
        "pow": lambda: integer_power(a, b, size), "shift_left": lambda: 0 if shift is None else a << shift,
        "shift_right": lambda: (-1 if a < 0 else 0) if shift is None else a >> shift,
    }
    return int(meaning[op]()) & ((1 << size) - 1)


def bool_result(op, a, b):
    return {"add": a | b, "mul": a & b, "max": a | b, "less": int(a < b), "equal": int(a == b), "bit_and": a & b,
            "bit_or": a | b, "bit_xor": a ^ b}[op]


def convert(source, target, bits):
    x = value(source, bits)
    if target == "bool":
        return int(x != 0)
    if target in FLOATS:
        return float_bits_of(target, x) if source in FLOATS else float_bits(target, Fraction(int(x)))
    t = INTEGERS[target]
    mask = (1 << t.bits) - 1
    if source not in FLOATS:
        return int(x) & mask
    low = -(1 << (t.bits - 1)) if t.signed else 0
    high = low + mask
    if not is_finite(x):
        return (0 if x != x else high if x > 0 else low) & mask
    return min(max(int(x), low), high) & mask


# ------------------------------------------------------------------------------------- conversions at their edges

def tie_points(target):
    """Exact values around which rounding to `target` changes: ties, their neighbours, and the ends of the range."""
    f = FLOATS[target]
    tiny = Fraction(2) ** (f.lowest_exponent - f.mantissa)
    normal = Fraction(2) ** f.lowest_exponent
    ulp = Fraction(2) ** -f.mantissa
    last = Fraction(2) ** (f.largest.numerator.bit_length() - 1 - f.mantissa)
    ties = [tiny / 2, tiny * 3 / 2, normal - tiny / 2, 1 + ulp / 2, 1 + ulp * 3 / 2, f.largest + last / 2]
    return ties + [1 + ulp, f.largest, f.largest + last]


def conversion_operands(source, target, rng):
    found = list(edges(source))
    if source in FLOATS:
        last_bit = Fraction(2) ** -FLOATS[source].mantissa
        if target in FLOATS:
            near = [t * (1 + k * last_bit) for t in tie_points(target) for k in (0, 1, -1)]
            near += [t * (1 + Fraction(1, 2**40)) for t in tie_points(target)]
            found += [float_bits(source, x) for x in near] + [float_bits(source, -x) for x in near[:3]]
        elif target in INTEGERS:
            ends = [sign << size for size in (width(target) - 1, width(target)) for sign in (1, -1)]
            near = [end + Fraction(halves, 2) for end in ends for halves in (0, -2, 2, 1, -1)]
            found += [float_bits(source, x) for x in near + [x * (1 - last_bit) for x in near[::5]]]
    elif source in INTEGERS and target in FLOATS:
        size = width(source) - INTEGERS[source].signed
        digits = FLOATS[target].mantissa
        for exponent in {size - 1, size // 2 + 4, digits + 2}:
            half = exponent - digits - 1
            if 0 <= half and exponent < size:
                tie = (1 << exponent) + (1 << half)
                found += [tie, tie + 1, tie - 1, tie + (2 << half), (1 << (exponent + 1)) - 1]
        mask = (1 << width(source)) - 1
        found = [x & mask for x in found + [-x for x in found[-5:] if INTEGERS[source].signed]]
    if source != "bool":
        found += [ordinary(source, rng) for _ in range(4)] + [rng.getrandbits(width(source)) for _ in range(4)]
    return list(dict.fromkeys(found))


# --------------------------------------------------------------------------------------- comparison with PyTorch

differing = collections.Counter()


def allowed_difference(op, name, result_name, operands, ours):
    if result_name == "f8e4m3" and is_nan(result_name, ours):
        return "f8e4m3-overflow"
    if op == "cast":
        x = value(name, operands[0])
        if name in FLOATS and result_name in INTEGERS and not (is_finite(x) and int(x) == value(result_name, ours)):
            return "float-to-integer"
        if result_name in SMALL and Fraction(float(numpy.float32(x))) != Fraction(x):
            return "double-rounding"
    if op == "max" and all(value(name, x) == 0 for x in operands):
        return "zero-max"
    if op == "sqrt" and name != "f64":
        return "square-root"
    if op == "mod" and name in FLOATS and quotient_is_large(*(value(name, x) for x in operands)):
        return "remainder"
    if op == "idiv" and name in ("f16", "bf16"):
        return "narrow-idiv"
    return None


def quotient_is_large(a, b):
    return b != 0 and abs(b) != math.inf and abs(Fraction(a) / Fraction(b)) >= 2**23


def torch_may_run(op, name, operands):
    """PyTorch raises for integers divided by 0, and the processor traps on the lowest value divided by -1."""
    if op in ("idiv", "mod") and name in INTEGERS:
        a, b = (value(name, x) for x in operands)
        if b == 0:
            differing["integer-by-zero"] += 1
            return False
        if b == -1 and a == -(1 << (width(name) - 1)):
            differing["lowest-by-minus-one"] += 1
            return False
    return True


def compare(op, name, result_name, rows):
    """Counts the rows on which PyTorch itself gives something else; fails if that is not deliberate."""
    if op in TRANSCENDENTAL and name in FLOATS:
        return  # within a few ulp of each other only
    rows = [r for r in rows if torch_may_run(op, name, r[:-1])]
    columns = [tensor(name, column) for column in list(zip(*rows))[:-1]]
    try:
        theirs = columns[0].to(torch_dtype(result_name)) if op == "cast" else IN_TORCH[op](*columns)
    except (NotImplementedError, RuntimeError):
        return  # PyTorch has no such op on this dtype
    if theirs.dtype != torch_dtype(result_name):
        sys.exit(f"{op} {name}: PyTorch gives {theirs.dtype}")
    for (*operands, ours), other in zip(rows, patterns(result_name, theirs)):
        if ours == other or is_nan(result_name, ours) and is_nan(result_name, other):
            continue
        why = allowed_difference(op, name, result_name, operands, ours)
        if why is None:
            sys.exit(f"{op} {name} -> {result_name}: {[hex(x) for x in operands]}: {ours:x}, PyTorch {other:x}")
        differing[why] += 1


# ----------------------------------------------------------------------------------------------------------- output

def sections():
    rng = random.Random(20240607)
    for name in FLOATS:
        for op in UNARY:
            operands = [(x,) for x in unary_operands(name, rng)]
            yield op, name, name, [(*o, r) for o, r in zip(operands, float_results(op, name, operands))]
        for op in ON_FLOATS:
            operands = binary_operands(name, rng)
            result = "bool" if op in ("less", "equal") else name
            yield op, name, result, [(*o, r) for o, r in zip(operands, float_results(op, name, operands))]
    for name in INTEGERS:
        for op in ON_INTEGERS:
            rows = [(a, b, integer_result(op, name, value(name, a), value(name, b)))
                    for a, b in binary_operands(name, rng)]
            yield op, name, "bool" if op in ("less", "equal") else name, rows
    for op in ON_BOOL:
        yield op, "bool", "bool", [(a, b, bool_result(op, a, b)) for a, b in binary_operands("bool", rng)]
    for source, target in itertools.permutations(DTYPES, 2):
        rows = [(x, convert(source, target, x)) for x in conversion_operands(source, target, rng)]
        yield "cast", source, target, rows


def main():
    body = []
    count = 0
    for op, name, result_name, rows in sections():
        compare(op, name, result_name, rows)
        body.append(f"= {op} {name} {result_name}")
        body += [" ".join(f"{x:x}" for x in row) for row in rows]
        count += len(rows)
    head = [
        "# What element-wise ops and conversions give, in bits, written by tools/make_scalar_references.py.",
        "# '= op dtype result-dtype' starts a section; each line after it holds the operands and the result in hex.",
        "# The functions (exp2 log2 sin cos atan erf log1p expm1, and pow on floats) are correctly rounded.",
        f"# {count} rows, {len(body) - count} sections; PyTorch {torch.__version__}, NumPy {numpy.__version__}.",
        "#",
        "# Deliberately not what PyTorch gives (in brackets the rows that differ):",
        *(f"#   {key}: {text} [{differing[key]}]" for key, text in DIFFERENCES.items()),
    ]
    OUT.write_text("\n".join(head + body) + "\n")
    print(f"{OUT.name}: {count} rows, {OUT.stat().st_size} bytes")
    print("\n".join(head))


if __name__ == "__main__":
    main()
