"""Blocks of Q4_1 against the library that llama.cpp publishes."""

import gguf
import numpy as np
import pytest
import torch

from glassformer.quantization.gguf_blocks import dequantize_q4_1, read_q4_1

Q4_1, Q8_0 = gguf.GGMLQuantizationType.Q4_1, gguf.GGMLQuantizationType.Q8_0


@pytest.fixture
def stored(tmp_path):
    """A file with fields of many types, and the weights that it has."""
    weights = {
        name: np.random.default_rng(seed).normal(size=shape).astype(np.float32)
        for seed, (name, shape) in enumerate({"a": (7, 64), "b": (11, 96), "c": (3, 32)}.items())
    }
    path = tmp_path / "some.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_token_list(["one", "two", "dreißig"])
    writer.add_token_scores([0.5, 1.5, 2.5])
    writer.add_add_bos_token(False)
    writer.add_rope_freq_base(500.0)
    writer.add_array("names", [["x", "yy"], ["zzz"]])
    for name, weight in weights.items():
        kind = Q8_0 if name == "c" else Q4_1
        writer.add_tensor(name, gguf.quants.quantize(weight, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, weights


def test_any_bytes_are_the_same_weights_as_in_the_library(subtests):
    for shape in [(5, 20), (3, 7, 20), (20,)]:
        with subtests.test(shape=shape):
            blocks = torch.randint(256, shape, dtype=torch.uint8)
            blocks[..., [1, 3]] &= 0b10111111  # finite scales and minimums
            ours, theirs = dequantize_q4_1(blocks), gguf.quants.dequantize(blocks.numpy(), Q4_1)
            assert ours.dtype == torch.float32
            assert ours.equal(torch.tensor(theirs))


def test_blocks_read_from_a_file(stored, subtests):
    for name in ["a", "b"]:
        with subtests.test(name=name):
            path, weights = stored
            blocks = read_q4_1(path, name)
            assert blocks.shape == (weights[name].size // 32, 20)
            theirs = gguf.quants.quantize(weights[name], Q4_1)
            assert blocks.numpy().tobytes() == theirs.tobytes()


def test_what_cannot_be_read(stored):
    path, _ = stored
    with pytest.raises(ValueError, match=r"some\.gguf has no weight named 'd'"):
        read_q4_1(path, "d")
    with pytest.raises(ValueError, match=r"c is of type 8 in some\.gguf, not of type 3 \(Q4_1\)"):
        read_q4_1(path, "c")


def test_blocks_of_another_length(unhooked):
    with pytest.raises(ValueError, match=r"blocks of shape \(5, 18\) must end in 20"):
        dequantize_q4_1(torch.zeros(5, 18, dtype=torch.uint8))
