"""Layers for few rows beside the same layers as they are."""

from contextlib import nullcontext
from itertools import product

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from small_models import TOLERANCE, VOCAB, small_model
from torch import nn

from glassformer import from_hf, generate, stream
from glassformer.inference import fast_decode, generation

IN, OUT = 11, 30
DECODERS = [
    *("GPT2LMHeadModel", "LlamaForCausalLM", "MistralForCausalLM", "Qwen2ForCausalLM"),
    "Qwen3ForCausalLM",
]
sizes = st.integers(1, 23)


@pytest.fixture(autouse=True)
def _in_parts(monkeypatch):
    """Two threads, whatever the machine has, and small layers that count as large ones."""
    monkeypatch.setattr(fast_decode, "LEAST_SIZE", 1)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)


@given(
    *(sizes, sizes, st.integers(1, fast_decode.MOST_ROWS + 3)),
    *(st.integers(1, 3), st.booleans(), st.sampled_from([*TOLERANCE])),
)
def test_a_linear_layer_multiplies_as_ever(width, out, rows, batch, bias, dtype):
    layer = nn.Linear(width, out, bias=bias, dtype=dtype)
    hidden = torch.randn(batch, 1 + rows // batch, width + 2, dtype=dtype)[:, 1:, 1:-1]
    wanted = hidden.double() @ layer.weight.double().mT
    wanted = wanted + layer.bias.double() if bias else wanted
    with torch.inference_mode(), fast_decode.few_rows(layer):
        found = layer(hidden)
    torch.testing.assert_close(found.double(), wanted, rtol=0, atol=TOLERANCE[dtype])


def test_no_weight_is_copied():
    layer = nn.Linear(IN, OUT)
    ours = fast_decode.Multiply(layer)
    assert ours.turned.untyped_storage().data_ptr() == layer.weight.untyped_storage().data_ptr()


class Doubled(nn.Linear):
    def forward(self, hidden):
        return 2 * super().forward(hidden)


def computed_elsewhere():
    layer = nn.Linear(IN, OUT)
    layer.forward = lambda hidden: hidden
    return layer


def test_any_other_layer_is_left_alone(subtests):
    layers = [
        nn.Linear(IN, OUT, device="meta"),
        nn.Linear(IN, OUT, dtype=torch.bfloat16),
        nn.Linear(IN, OUT)
        .requires_grad_(False)
        .apply(
            lambda layer: layer.register_parameter(
                "weight", nn.Parameter(torch.randn(IN, OUT).mT, requires_grad=False)
            )
        ),
        Doubled(IN, OUT),
        computed_elsewhere(),
        nn.LayerNorm(IN),
    ]
    for layer in layers:
        with subtests.test(layer=layer):
            before = dict(vars(layer))
            with fast_decode.few_rows(layer):
                assert vars(layer) == before


def test_a_small_layer_is_left_alone(monkeypatch):
    monkeypatch.setattr(fast_decode, "LEAST_SIZE", IN * OUT + 1)
    layer = nn.Linear(IN, OUT)
    with fast_decode.few_rows(layer):
        assert "forward" not in vars(layer)


def test_the_layers_are_as_before_when_it_ends():
    layer = nn.Linear(IN, OUT)
    before = dict(vars(layer))
    with pytest.raises(RuntimeError, match="size"), fast_decode.few_rows(layer):
        layer(torch.randn(2, IN + 1))
    assert vars(layer) == before


def test_a_model_writes_the_same(monkeypatch, subtests):
    for batch, make in [(1, "LlamaForCausalLM"), (3, "GPT2LMHeadModel"), (7, "MarianMTModel")]:
        with subtests.test(batch=batch, make=make):
            model = from_hf(small_model(make))
            ids = torch.randint(3, VOCAB - 1, (batch, 4))
            written = generate(model, ids, max_new_tokens=9)
            streamed = torch.stack([*stream(model, ids, max_new_tokens=9)], dim=1)
            with monkeypatch.context() as patch:
                patch.setattr(generation, "few_rows", lambda model: nullcontext())
                plain = generate(model, ids, max_new_tokens=9)
            assert torch.equal(written, plain)
            assert torch.equal(streamed, plain[:, -9:])


def test_a_model_has_the_same_logits(subtests):
    for dtype, make in product(TOLERANCE, DECODERS):
        with subtests.test(dtype=dtype, make=make):
            model = from_hf(small_model(make)).to(dtype)
            ids = torch.randint(3, VOCAB - 1, (2, 8))
            mask = torch.ones_like(ids)
            mask[0, :3] = 0
            with torch.inference_mode():
                wanted = model(ids, mask)
                with fast_decode.few_rows(model):
                    found = model(ids, mask)
            torch.testing.assert_close(found, wanted, rtol=0, atol=TOLERANCE[dtype])


def test_between_the_tokens_of_a_stream_the_model_is_as_ever():
    """What changes in the meantime counts: here another type, and all weights new."""
    model = from_hf(small_model("LlamaForCausalLM"))
    other = from_hf(small_model("LlamaForCausalLM")).double()
    before = [dict(vars(layer)) for layer in model.modules()]
    ids = torch.randint(3, VOCAB - 1, (1, 4))
    tokens = stream(model, ids, max_new_tokens=3, use_cache=False)
    first = next(tokens)
    assert [vars(layer) for layer in model.modules()] == before
    model.double().load_state_dict(other.state_dict())
    read = torch.cat([ids, first[None]], dim=1)
    with torch.no_grad():
        assert torch.equal(next(tokens), other(read)[:, -1].argmax(-1))
