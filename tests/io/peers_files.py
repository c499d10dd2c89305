#!/usr/bin/env python3
"""Model files against the `safetensors` and `gguf` packages, both ways. usage: peers_files.py TEST_IO LUMINAL"""
import os
import subprocess
import sys
import tempfile

try:
    import gguf
    import numpy as np
    import safetensors.numpy
    import safetensors.torch
except ImportError as error:
    print(f"skipped: {error}; './luminal setup --references' installs it")
    sys.exit(77)

TEST_IO, LUMINAL = sys.argv[1:3]
Q = gguf.GGMLQuantizationType


def run(*arguments, **environment):
    subprocess.run(arguments, check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment})


def read_gguf(path):
    return {t.name: t for t in gguf.GGUFReader(path).tensors}


def ours_in_theirs(folder):
    run(TEST_IO, "--gtest_filter=PeerFiles.*", LUMINAL_PEER_DIR=folder)
    tensors = safetensors.torch.load_file(f"{folder}/ours.safetensors")
    assert len(tensors) == 18, sorted(tensors)
    for name, tensor in tensors.items():
        if name.startswith("of."):
            assert tensor.double().tolist() == [[0, 1], [0, 1], [0, 1]], name
    for name, tensor in read_gguf(f"{folder}/ours.gguf").items():
        values = gguf.quants.dequantize(tensor.data, Q.BF16) if tensor.tensor_type == Q.BF16 else tensor.data
        assert values.astype(float).reshape(3, 2).tolist() == [[0, 1], [0, 1], [0, 1]], name


def theirs_in_ours(folder):
    random = np.random.default_rng(5)
    matrix = random.normal(0, 1, (4, 512)).astype(np.float32)
    safetensors.numpy.save_file({"m": matrix, "v": matrix[0]}, f"{folder}/theirs.safetensors")
    writer = gguf.GGUFWriter(f"{folder}/theirs.gguf", "test")
    writer.add_tensor("m", matrix)
    writer.add_tensor("v", matrix[0])
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    for source in ("theirs.safetensors", "theirs.gguf"):
        for kind in ("f32", "f16", "bf16", "q8_0", "q4_0", "q4_k", "q6_k"):
            out = f"{folder}/out.gguf"
            run(LUMINAL, "quantize", f"{folder}/{source}", out, "--type", kind)
            tensors = read_gguf(out)
            assert (tensors["v"].data == matrix[0]).all()
            stored = tensors["m"]
            assert stored.tensor_type.name.lower() == kind, stored
            if kind in ("q8_0", "q4_0", "bf16"):
                assert (stored.data == gguf.quants.quantize(matrix, stored.tensor_type)).all(), kind
            values = gguf.quants.dequantize(stored.data, stored.tensor_type).reshape(matrix.shape)
            error = np.linalg.norm(values - matrix) / np.linalg.norm(matrix)
            assert error < {"f32": 1e-9, "f16": 1e-3, "bf16": 1e-2, "q8_0": 0.01, "q6_k": 0.03}.get(kind, 0.12), (kind, error)


def every_block_format(folder):
    """Random blocks, decoded by us (through quantize --type f32) and by the package."""
    random = np.random.default_rng(6)
    kinds = [Q.Q4_0, Q.Q4_1, Q.Q5_0, Q.Q5_1, Q.Q8_0, Q.Q2_K, Q.Q3_K, Q.Q4_K, Q.Q5_K, Q.Q6_K, Q.IQ4_NL, Q.IQ4_XS]
    writer = gguf.GGUFWriter(f"{folder}/blocks.gguf", "test")
    blocks = {}
    for kind in kinds:
        size = gguf.GGML_QUANT_SIZES[kind][1]
        blocks[kind.name] = data = random.integers(0, 256, (64, 16 * size), dtype=np.uint8)
        writer.add_tensor(kind.name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    run(LUMINAL, "quantize", f"{folder}/blocks.gguf", f"{folder}/decoded.gguf", "--type", "f32")
    for name, tensor in read_gguf(f"{folder}/decoded.gguf").items():
        with np.errstate(all="ignore"):
            expected = gguf.quants.dequantize(blocks[name], Q[name]).reshape(-1)
        ours = tensor.data.reshape(-1)
        same = (ours.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(ours) & np.isnan(expected))
        assert same.all(), (name, int((~same).sum()))


with tempfile.TemporaryDirectory() as work:
    ours_in_theirs(work)
    theirs_in_ours(work)
    every_block_format(work)
print("model files agree with the packages")
