"""Movements, indexing, creation and random numbers."""
import numpy as np
import torch
import torch.nn.functional as F

from .common import ALL, DTYPES, FLOATS, File, INF, INTS, Input, NAN, emit, numbers, random, specials


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
