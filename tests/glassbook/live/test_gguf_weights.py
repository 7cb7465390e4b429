"""The blocks of the language model's file, found by the graph's weights."""

import numpy as np
import pytest
import torch

from glassbook.live.gguf_weights import Blocks
from glassbook.smollm import language_model
from glassbook.smollm.language import extract_gguf
from glassformer.quantization.gguf_blocks import dequantize_q4_1


@pytest.fixture(scope="module")
def blocks(tmp_path_factory):
    return Blocks(extract_gguf(tmp_path_factory.mktemp("gguf")))


@pytest.mark.language_model
def test_every_weight_is_found_by_its_numbers(blocks):
    """Matrices in the graph's layout, transposed; the table and the norms as they are."""
    sizes = {"q4_1": 20 / 32, "q8_0": 34 / 32, "float32": 4.0}
    for name, weight in language_model().state_dict().items():
        is_matrix = weight.ndim > 1 and "layers" in name
        (count, kind, *rows), data = blocks((weight.T if is_matrix else weight).numpy())
        assert kind == ("q4_1" if is_matrix else "q8_0" if weight.ndim > 1 else "float32")
        assert count == weight.numel()
        assert len(data) == count * sizes[kind]
        assert rows == ([len(weight)] if is_matrix else [])


@pytest.mark.language_model
def test_the_rows_of_a_head_are_in_the_models_order(blocks):
    weight = language_model().decoder.layers[3].attention.k_proj.weight
    _, data = blocks(weight.detach().T.numpy())
    packed = torch.frombuffer(bytearray(data), dtype=torch.uint8).view(-1, 20)
    assert dequantize_q4_1(packed).view_as(weight).equal(weight)


@pytest.mark.language_model
def test_a_matrix_that_the_file_lacks_is_an_error(blocks):
    with pytest.raises(ValueError, match=r"shape \(3, 5\) is not in the GGUF file"):
        blocks(np.zeros((3, 5), dtype=np.float32))
    assert blocks(np.ones(2, dtype=np.float32))[0] == [2, "float32"]
