"""A linear layer with its weight first beside the same layer as it is."""

import pytest
import torch
from torch import nn

from glassformer import TransformerConfig, TransformerForCausalLM, generate
from glassformer.few_rows import weight_first

IN, OUT = 11, 29


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(2, 1), (5, 1), (3, 7), (4,)])
def test_gives_what_the_layer_gives(shape, bias):
    linear = nn.Linear(IN, OUT, bias=bias)
    hidden = torch.randn(*shape, IN)
    wanted = hidden.double() @ linear.weight.double().mT
    wanted = wanted + linear.bias.double() if bias else wanted
    with torch.inference_mode(), weight_first(linear, 2):
        found = linear(hidden)
    torch.testing.assert_close(found.double(), wanted, rtol=0, atol=1e-6)


def test_a_part_of_a_longer_text_is_multiplied_too():
    """What a step takes is a slice: the last position of each row."""
    linear = nn.Linear(IN, OUT)
    hidden = torch.randn(3, 19, IN)
    with weight_first(linear, 3):
        found = linear(hidden[:, -1:])
    torch.testing.assert_close(found, linear(hidden)[:, -1:], rtol=0, atol=1e-6)


def test_the_weight_comes_first(monkeypatch):
    linear, factors = nn.Linear(IN, OUT), []
    real = torch.Tensor.__matmul__
    monkeypatch.setattr(
        torch.Tensor,
        "__matmul__",
        lambda a, b: factors.append((tuple(a.shape), tuple(b.shape))) or real(a, b),
    )
    with weight_first(linear, 5):
        linear(torch.randn(5, 1, IN))
    assert factors == [((OUT, IN), (IN, 5))]


def test_the_layer_is_as_before_when_it_ends():
    linear = nn.Linear(IN, OUT)
    before = dict(vars(linear))
    with pytest.raises(RuntimeError, match="cannot be multiplied"), weight_first(linear, 2):
        linear(torch.randn(2, IN + 1))
    assert vars(linear) == before


def test_hooks_see_what_the_layer_gives():
    linear, seen = nn.Linear(IN, OUT), []
    linear.register_forward_hook(lambda module, inputs, output: seen.append(output))
    with weight_first(linear, 2):
        output = linear(torch.randn(2, IN))
    assert len(seen) == 1
    assert seen[0] is output


@pytest.mark.parametrize(("device", "rows"), [("cpu", 1), ("meta", 5)])
def test_one_row_and_other_devices_are_left_alone(device, rows):
    linear = nn.Linear(IN, OUT, device=device)
    with weight_first(linear, rows):
        assert "forward" not in vars(linear)


@pytest.mark.parametrize(("batch", "beams", "turned"), [(1, 1, 0), (3, 1, 4), (1, 2, 4)])
def test_generation_uses_it_where_there_are_several_rows(monkeypatch, batch, beams, turned):
    calls = []
    real = torch.Tensor.__matmul__

    def spy(a, b):
        calls.extend([1] * (a.shape == (OUT, 8)))
        return real(a, b)

    monkeypatch.setattr(torch.Tensor, "__matmul__", spy)
    sizes = {"vocab_size": OUT, "d_model": 8, "num_heads": 2, "num_layers": 1, "d_ff": 13}
    model = TransformerForCausalLM(TransformerConfig(**sizes, pad_token_id=None)).eval()
    generate(model, torch.ones(batch, 3, dtype=torch.long), max_new_tokens=4, num_beams=beams)
    assert len(calls) == turned
