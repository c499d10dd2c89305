"""Comparison, logic and choice."""
import torch

from .common import ALL, DTYPES, FLOATS, File, INF, INTS, Input, NAN, emit, layouts, numbers, specials


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
