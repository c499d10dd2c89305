"""Reductions, normalisation, scans and sorting."""
import math

import numpy as np
import torch
import torch.nn.functional as F

from .common import (
    ALL, DTYPES, FLOATS, File, INF, INTS, Input, NAN, as_input, emit, largest, numbers, random, specials, value_of,
)


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
