"""Random configurations: shapes, axes and options drawn at random, for `--random N`."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from .common import FLOATS, INTS, File, Input, emit, exp_ulps, largest, numbers, random
from .elementwise import MATH
from .products import widest
from .reductions import args_of, over_axes

DTYPES_OF_SUMS = FLOATS + ["i32"]


def pick(choices):
    return choices[random.randint(0, len(choices))]


def between(low, high):
    return int(random.randint(low, high + 1))


def some_shape(low_rank, high_rank, low=1, high=4):
    return [between(low, high) for _ in range(between(low_rank, high_rank))]


def seen_through_views(dtype, shape, low=-3.0, high=3.0):
    """An input of this shape, plain or through movements."""
    wide = [axis for axis, size in enumerate(shape) if size > 1]  # an axis of 1 stays known to be 1
    if not wide or random.randint(0, 2) == 0:
        return Input(numbers(dtype, shape, low, high))
    order = list(random.permutation(len(shape)))
    base = [0] * len(shape)
    for k, axis in enumerate(order):
        base[axis] = shape[k]
    step = between(1, 3)
    cut = pick(wide)
    base[order[cut]] = shape[cut] * step + 1
    return Input(numbers(dtype, base, low, high), "permute:" + ",".join(str(a) for a in order),
                 f"slice:{cut},1,{shape[cut] * step + 1},{step}", f"flip:{between(0, len(shape) - 1)}")


def reductions(file):
    dtype = pick(FLOATS)
    shape = some_shape(1, 5)
    axes = [int(a) for a in random.permutation(len(shape))[: between(1, len(shape))]]
    keep = bool(random.randint(0, 2))
    x = seen_through_views(dtype, shape)
    table = {
        "sum": (lambda v: torch.sum(v, axes, keepdim=keep), 4, 3.0 * math.prod(shape)),
        "mean": (lambda v: torch.mean(v, axes, keepdim=keep), 4, 3.0), "max": (lambda v: torch.amax(v, axes, keepdim=keep), 0, 0),
        "min": (lambda v: torch.amin(v, axes, keepdim=keep), 0, 0), "logsumexp": (lambda v: torch.logsumexp(v, axes, keepdim=keep), 12, 4.0),
        "var": (lambda v: torch.var(v, axes, keepdim=keep), 8, 9.0), "std": (lambda v: torch.std(v, axes, keepdim=keep), 8, 3.0),
        "norm": (lambda v: torch.linalg.vector_norm(v, 2, axes, keepdim=keep), 6, 0),
        "prod": (lambda v: over_axes(lambda u, a, k: torch.prod(u, a, keepdim=k))(v, axes, keep), 16, 0),
        "any": (lambda v: over_axes(lambda u, a, k: torch.any(u, a, keepdim=k))(v.bool(), axes, keep), 0, 0),
    }
    op = pick(sorted(table))
    fn, ulps, scale = table[op]
    emit(file, op, "random", [x], args_of(axes, keep), fn, ulps, scale)
    axis = between(-len(shape), len(shape) - 1)
    which, position = pick([("argmax", torch.argmax), ("argmin", torch.argmin)])
    ties = Input(numbers("i32", shape, -0.5, 0.5))
    emit(file, which, "random", [ties], {"axis": axis}, lambda v: position(v, axis))


def normalisation(file):
    dtype = pick(FLOATS)
    shape = some_shape(1, 4)
    x = seen_through_views(dtype, shape, -9, 9)
    axis = between(-len(shape), len(shape) - 1)
    emit(file, "softmax", "random", [x], {"axis": axis}, lambda v: torch.softmax(v, axis), 8 + math.ceil(3 * largest(x)))
    emit(file, "log_softmax", "random", [x], {"axis": axis}, lambda v: torch.log_softmax(v, axis), 24, 18.0)
    last = between(1, len(shape))
    axes, sizes = list(range(len(shape) - last, len(shape))), shape[len(shape) - last:]
    emit(file, "layer_norm", "random", [x, numbers(dtype, sizes), numbers(dtype, sizes)], {"axes": axes}, lambda v, w, b: F.layer_norm(v, sizes, w, b), 32, 16.0)


def products(file):
    dtype = pick(DTYPES_OF_SUMS)
    tolerance = 6 if dtype in FLOATS else 0
    n, k, m = between(0, 4), between(0, 4), between(1, 4)
    batch = some_shape(0, 3)
    left = [s if random.randint(0, 2) else 1 for s in batch[between(0, len(batch)):]]
    right = [s if random.randint(0, 2) else 1 for s in batch[between(0, len(batch)):]]
    a, b = seen_through_views(dtype, left + [n, k], -2, 2), seen_through_views(dtype, right + [k, m], -2, 2)
    emit(file, "matmul", "random", [a, b], {}, widest(torch.matmul), tolerance, 16.0)
    sizes = {letter: between(1, 3) for letter in "abcde"}
    terms = ["".join(random.permutation(list("abcde"))[: between(1, 4)]) for _ in range(between(1, 3))]
    known = sorted(set("".join(terms)))
    formula = ",".join(terms) + "->" + "".join(random.permutation(known)[: between(0, len(known))])
    inputs = [seen_through_views(dtype, [sizes[letter] for letter in term], -1, 1) for term in terms]
    emit(file, "einsum", "random", inputs, {"formula": formula}, widest(lambda *v: torch.einsum(formula, *v)), tolerance * 2, 243.0)
    dtype = pick(FLOATS)
    heads, group, queries, keys, size = between(1, 2), between(1, 3), between(1, 4), between(1, 4), between(1, 4)
    q = seen_through_views(dtype, [1, heads * group, queries, size], -2, 2)
    kv = [seen_through_views(dtype, [1, heads, keys, size], -2, 2) for _ in range(2)]
    causal = bool(random.randint(0, 2))
    emit(file, "scaled_dot_product_attention", "random", [q, *kv], {"causal": causal},
         lambda x, y, z: F.scaled_dot_product_attention(x, y, z, is_causal=causal, enable_gqa=True), 48, 2.0)


def convolutions(file):
    dtype = pick(DTYPES_OF_SUMS)
    tolerance = 6 if dtype in FLOATS else 0
    axes = pick([1, 1, 2, 2, 3])
    groups, inner, outer = between(1, 2), between(1, 2), between(1, 2)
    window = [between(1, 3) for _ in range(axes)]
    dilation = [between(1, 2) for _ in range(axes)]
    padding = [between(0, 2) for _ in range(axes)]
    stride = [between(1, 3) for _ in range(axes)]
    places = [max(d * (w - 1) + 1 - 2 * p, 1) + between(0, 4 - axes) for d, w, p in zip(dilation, window, padding)]
    options = {"stride": stride, "padding": padding, "dilation": dilation, "groups": groups}
    x = seen_through_views(dtype, [between(1, 2), groups * inner, *places], -1, 1)
    fn, back = getattr(F, f"conv{axes}d"), getattr(F, f"conv_transpose{axes}d")
    w = seen_through_views(dtype, [groups * outer, inner, *window], -1, 1)
    emit(file, f"conv{axes}d", "random", [x, w], options, widest(lambda v, k: fn(v, k, **options)), tolerance, 54.0)
    spans = [(n - 1) * s + d * (k - 1) + 1 - 2 * p for n, s, d, k, p in zip(places, stride, dilation, window, padding)]
    if min(spans) >= 1:
        extra = [between(0, max(s, d) - 1) for s, d in zip(stride, dilation)]
        w = seen_through_views(dtype, [groups * inner, outer, *window], -1, 1)
        more = {**options, "output_padding": extra}
        emit(file, f"conv_transpose{axes}d", "random", [x, w], more, widest(lambda v, k: back(v, k, **more)), tolerance, 54.0)


def pools(file):
    dtype = pick(FLOATS)
    axes = between(1, 2)
    window = [between(1, 4) for _ in range(axes)]
    padding = [between(0, w // 2) for w in window]
    stride = [between(1, 4) for _ in range(axes)]
    places = [max(w - 2 * p, 1) + between(0, 5) for w, p in zip(window, padding)]
    ceil_mode = bool(random.randint(0, 2))
    x = seen_through_views(dtype, [1, 2, *places])
    args = {"window": window, "stride": stride, "padding": padding, "ceil_mode": ceil_mode}
    emit(file, "max_pool", "random", [x], args, lambda v: getattr(F, f"max_pool{axes}d")(v, window, stride, padding, ceil_mode=ceil_mode))
    include = bool(random.randint(0, 2))
    emit(file, "avg_pool", "random", [x], {**args, "count_include_pad": include},
         lambda v: getattr(F, f"avg_pool{axes}d")(v, window, stride, padding, ceil_mode, include), 6, 4.0)
    sizes = [between(1, 7) for _ in range(axes)]
    adaptive = getattr(F, f"adaptive_avg_pool{axes}d")
    emit(file, "adaptive_avg_pool", "random", [x], {"sizes": sizes}, lambda v: adaptive(v, sizes), 8, 4.0)
    emit(file, "interpolate_nearest", "random", [x], {"sizes": sizes}, lambda v: F.interpolate(v, size=sizes, mode="nearest"))
    corners = bool(random.randint(0, 2))
    emit(file, "interpolate_bilinear", "random", [x], {"sizes": sizes, "align_corners": corners},
         lambda v: F.interpolate(v, size=sizes, mode=["linear", "bilinear"][axes - 1], align_corners=corners), 12, 8.0)


def movements(file):
    dtype = pick(FLOATS + INTS)
    shape = some_shape(1, 5)
    rank = len(shape)
    x = seen_through_views(dtype, shape)
    axis = between(-rank, rank - 1)
    length = shape[axis]
    start, end, step = between(-7, 7), between(-7, 7), between(1, 3)
    emit(file, "slice", "random", [x], {"axis": axis, "start": start, "end": end, "step": step},
         lambda v: v.movedim(axis, 0)[start:end:step].movedim(0, axis))
    shift = between(-9, 9)
    emit(file, "roll", "random", [x], {"shift": shift, "axis": axis}, lambda v: v.roll(shift, axis))
    factors = [p for n in shape for p in ([2, 2] if n == 4 else [n])]
    cuts = sorted(random.choice(len(factors) + 1, between(0, 2)))
    wanted = [int(np.prod(part)) for part in np.split(np.array(factors), cuts)]
    emit(file, "reshape", "random", [x], {"shape": wanted}, lambda v: v.reshape(wanted))
    times = [between(0, 3) for _ in range(between(rank, rank + 1))]
    emit(file, "repeat", "random", [x], {"times": times}, lambda v: v.repeat(times))
    size = between(1, length)
    stride = between(1, 3)
    emit(file, "unfold", "random", [x], {"axis": axis, "size": size, "stride": stride}, lambda v: v.unfold(axis, size, stride))
    if rank > 1:
        offset, first, second = between(-4, 4), *[int(a) for a in random.permutation(rank)[:2]]
        emit(file, "diagonal", "random", [x], {"offset": offset, "first": first, "second": second}, lambda v: v.diagonal(offset, first, second))
    others = [list(shape) for _ in range(between(1, 4))]
    for other in others:
        other[axis] = between(0, 3)
    parts = [x] + [seen_through_views(dtype, other) if 0 not in other else Input(numbers(dtype, other)) for other in others]
    emit(file, "concat", "random", parts, {"axis": axis}, lambda *v: torch.cat(v, axis))


def indices(file):
    dtype = pick(FLOATS + INTS)
    shape = some_shape(1, 4)
    axis = between(-len(shape), len(shape) - 1)
    at = [between(1, n) for n in shape]
    at[axis] = between(0, 5)
    place = torch.tensor(random.randint(0, shape[axis], size=at)).reshape(at)
    x = seen_through_views(dtype, shape)
    emit(file, "gather", "random", [x, place], {"axis": axis}, lambda v, i: torch.gather(v, axis, i))
    source = numbers(dtype, [n + between(0, 1) for n in at])
    emit(file, "scatter_add", "random", [x, place, source], {"axis": axis}, lambda v, i, s: torch.scatter_add(v, axis, i, s),
         6 if dtype in FLOATS else 0, 24.0)
    count = between(1, len(shape))
    spots = [between(1, 3) for _ in range(between(1, 2))]
    where = [torch.tensor(random.randint(-n, n, size=spots)).reshape(spots) for n in shape[:count]]
    values = numbers(dtype, spots + shape[count:])
    emit(file, "index_put", "random", [x, *where, values], {"accumulate": True},
         lambda v, *rest: torch.index_put(v, tuple(rest[:-1]), rest[-1], True), 6 if dtype in FLOATS else 0, 24.0)


def scans(file):
    dtype = pick(FLOATS + INTS)
    shape = some_shape(1, 4, 1, 6)
    axis = between(-len(shape), len(shape) - 1)
    x = seen_through_views(dtype, shape, -1, 1)
    descending = bool(random.randint(0, 2))
    ties = Input(numbers("i16", shape, -0.5, 0.5))
    for one in (x, ties):
        emit(file, "sort", "random", [one], {"axis": axis, "descending": descending}, lambda v: torch.sort(v, dim=axis, descending=descending, stable=True))
        emit(file, "cummax", "random", [one], {"axis": axis}, lambda v: torch.cummax(v, axis))
    emit(file, "cumsum", "random", [x], {"axis": axis}, lambda v: torch.cumsum(v, axis), 6, 6.0)
    emit(file, "cumprod", "random", [x], {"axis": axis}, lambda v: torch.cumprod(v, axis), 12)


def elements(file):
    dtype = pick(FLOATS)
    op = pick(sorted(MATH))
    fn, ulps, low, high = MATH[op]
    spread = 10.0 ** between(-3, 1)
    x = seen_through_views(dtype, some_shape(1, 4), max(low, -9) * spread if op not in ("asin", "acos", "log1p") else low, high * spread if op not in ("asin", "acos") else high)
    emit(file, op, "random", [x], {}, fn, exp_ulps(x) if ulps == "exp" else (ulps and ulps + 2))


EXTRA = {
    "reduce": reductions, "normalise": normalisation, "matmul": products, "convolution": convolutions, "pooling": pools,
    "movement": movements, "index": indices, "scan": scans, "math": elements,
}


def plan(count):
    """Every file gets `count` rounds of random configurations as it is written."""
    File.extra = lambda file: [EXTRA[file.family](file) for _ in range(count)] if file.family in EXTRA else None
