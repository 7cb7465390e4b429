"""Blocks of Q4_1 against the library that llama.cpp publishes."""

import gguf
import pytest
import torch

from glassformer.quantization.gguf_blocks import dequantize_q4_1

Q4_1 = gguf.GGMLQuantizationType.Q4_1


def test_any_bytes_are_the_same_weights_as_in_the_library(subtests):
    for shape in [(5, 20), (3, 7, 20), (20,)]:
        with subtests.test(shape=shape):
            blocks = torch.randint(256, shape, dtype=torch.uint8)
            blocks[..., [1, 3]] &= 0b10111111  # finite scales and minimums
            ours, theirs = dequantize_q4_1(blocks), gguf.quants.dequantize(blocks.numpy(), Q4_1)
            assert ours.dtype == torch.float32
            assert ours.equal(torch.tensor(theirs))


def test_blocks_of_another_length(unhooked):
    with pytest.raises(ValueError, match=r"blocks of shape \(5, 18\) must end in 20"):
        dequantize_q4_1(torch.zeros(5, 18, dtype=torch.uint8))
