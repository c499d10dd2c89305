"""Products, attention, convolution, pooling and resampling."""
import torch
import torch.nn.functional as F

from .common import ALL, DTYPES, FLOATS, File, INF, INTS, Input, NAN, emit, numbers, specials


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
