"""The encoder with switches: each does what a changed model does."""

import copy

import pytest
import torch

from glassbook.live.encoder import PARTS, SHOWN, SwitchedEncoder
from glassformer import TransformerConfig, TransformerEncoder, record

LAYERS, HEADS, HEAD_DIM, SEQ = 3, 2, 5, 7


@pytest.fixture
def encoder():
    sizes = {"vocab_size": 11, "d_model": HEADS * HEAD_DIM, "num_heads": HEADS, "d_ff": 13}
    config = TransformerConfig(**sizes, num_layers=LAYERS, max_positions=17)
    return TransformerEncoder(config).double().eval()


@pytest.fixture
def switched(encoder):
    return SwitchedEncoder(copy.deepcopy(encoder))


@pytest.fixture
def inputs(switched):
    on = switched.all_on(SEQ)
    return on | {"input_ids": torch.tensor([[1, 5, 2, 9, 5, 3, 8]])}


def shown(encoder, inputs):
    """What a recorded pass of the encoder itself gives, in the order of SHOWN."""
    with record(encoder) as tape, torch.no_grad():
        encoder(*(inputs[name] for name in ("input_ids", "attention_mask", "token_type_ids")))
    parts = {
        name: torch.cat([tape[f"layers.{n}.attention.{name}"] for n in range(LAYERS)])
        for name in SHOWN[:6]
    }
    steps = [tape[f"{path}.output"][0] for path in PARTS]
    return [*parts.values(), *steps, torch.cat(tape.hidden_states)]


def compare(switched, inputs, encoder):
    with torch.no_grad():
        found = switched(**inputs)
    for name, ours, theirs in zip(SHOWN, found, shown(encoder, inputs), strict=True):
        torch.testing.assert_close(
            ours, theirs, atol=1e-6, rtol=0, msg=lambda m, n=name: f"{n}: {m}"
        )


def test_with_everything_on_it_is_the_encoder(switched, inputs, encoder):
    compare(switched, inputs, encoder)


def test_a_head_that_is_off_adds_nothing(switched, inputs, encoder):
    inputs["heads"][1, 1] = 0
    with torch.no_grad():
        encoder.layers[1].attention.out_proj.weight[:, HEAD_DIM:] = 0
    compare(switched, inputs, encoder)


def test_without_positions_their_table_is_zero(switched, inputs, encoder):
    inputs["positions"][0] = 0
    with torch.no_grad():
        encoder.embeddings.positions.table.weight.zero_()
    compare(switched, inputs, encoder)


def test_the_scale_multiplies_the_queries(switched, inputs, encoder):
    inputs["scale"][0] = HEAD_DIM**0.5
    with torch.no_grad():
        for layer in encoder.layers:
            for weight in layer.attention.q_proj.parameters():
                weight.mul_(HEAD_DIM**0.5)
    compare(switched, inputs, encoder)


def test_a_masked_token_gets_no_weight(switched, inputs, encoder):
    inputs["attention_mask"][0, 2] = 0
    compare(switched, inputs, encoder)
    assert (switched(**inputs)[0][..., 2] == 0).all()


@pytest.mark.parametrize("place", [0, 1])
def test_a_residual_that_is_off_leaves_its_sub_layer_alone(switched, inputs, encoder, place):
    inputs["residuals"][2, place] = 0
    layer = encoder.layers[2]
    with torch.no_grad():
        hidden = switched(**inputs)[-1]
        before = hidden[2][None]
        attended = layer.attention(before) + (before if place else 0)
        middle = layer.attention_norm(attended)
        after = layer.feed_forward_norm(layer.feed_forward(middle) + (0 if place else middle))
    torch.testing.assert_close(hidden[3], after[0], atol=1e-6, rtol=0)


def test_an_encoder_without_position_vectors_is_refused(encoder):
    encoder.embeddings.positions = None
    with pytest.raises(ValueError, match=r"positions \(learned\) must be added"):
        SwitchedEncoder(encoder)
