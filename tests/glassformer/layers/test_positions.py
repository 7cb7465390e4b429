import math
from itertools import product

import pytest
import torch
import transformers

from glassformer.layers.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    rotary_frequencies,
    sinusoids,
)


def test_looks_up_a_row_of_its_table_for_each_position():
    positions = LearnedPositions(11, 7)
    ids = torch.tensor([[0, 3, 10], [2, 2, 1]])
    assert torch.equal(positions(ids), positions.table.weight[ids])


def test_refuses_positions_beyond_its_table(subtests):
    for kind in [LearnedPositions, SinusoidalPositions]:
        with subtests.test(kind=kind):
            with pytest.raises(ValueError, match=r"max_positions \(0\) and d_model \(7\)"):
                kind(0, 7)
            for low, high in [(3, 11), (-1, 4)]:
                message = rf"positions {low} to {high} .* max_positions \(11\)"
                with pytest.raises(ValueError, match=message):
                    kind(11, 7)(torch.tensor([high, low]))
            for device in ["cpu", "meta"]:
                message = r"12 tokens is longer than max_positions \(11\)"
                with torch.device(device), pytest.raises(ValueError, match=message):
                    kind(11, 7)(torch.arange(12))


def test_sines_and_cosines_by_hand(subtests):
    for d_model in [1, 6, 7]:
        with subtests.test(d_model=d_model):
            table = SinusoidalPositions(11, d_model).table
            for position in range(11):
                for number in range(d_model):
                    angle = position / 10000 ** (2 * (number // 2) / d_model)
                    expected = math.cos(angle) if number % 2 else math.sin(angle)
                    assert table[position, number].item() == pytest.approx(expected, abs=1e-7)


def test_marian_puts_the_sines_first(subtests):
    from transformers.models.marian.modeling_marian import MarianSinusoidalPositionalEmbedding

    for d_model in [6, 7]:
        with subtests.test(d_model=d_model):
            theirs = MarianSinusoidalPositionalEmbedding(11, d_model)
            ours = SinusoidalPositions(11, d_model, interleaved=False)
            ids = torch.tensor([[0, 3, 10]])
            expected = theirs.create_weight()[ids]
            torch.testing.assert_close(ours(ids), expected, rtol=0, atol=1e-7)


def test_sinusoids_are_made_again_and_not_saved():
    assert not SinusoidalPositions(11, 7).state_dict()
    assert not list(SinusoidalPositions(11, 7).parameters())


def test_a_width_of_sinusoids_keeps_their_precision():
    double = sinusoids(5000, 512)
    single = SinusoidalPositions(5000, 512).table
    assert (single - double).abs().max() < 1e-7


BATCH, HEADS, KV_HEADS, SEQ, HEAD_DIM = 2, 3, 5, 11, 14


def heads(seq=SEQ, count=HEADS):
    return torch.randn(BATCH, count, seq, HEAD_DIM, dtype=torch.float64)


def test_rotary_positions_turn_complex_numbers(subtests):
    for interleaved, theta in product([True, False], [10000.0, 500.0]):
        with subtests.test(interleaved=interleaved, theta=theta):
            x, positions = heads(), torch.randint(31, (BATCH, 1, SEQ))
            powers = -torch.arange(0, HEAD_DIM, 2).double() / HEAD_DIM
            angle = positions[..., None] * theta**powers
            first, second = x.split(HEAD_DIM // 2, dim=-1)
            if interleaved:
                first, second = x[..., 0::2], x[..., 1::2]
            turned = torch.complex(first, second) * torch.exp(1j * angle)
            rotary = RotaryPositions(HEAD_DIM, theta=theta, interleaved=interleaved)
            output = rotary(x, positions)
            ours = output.unflatten(-1, (-1, 2) if interleaved else (2, -1))
            ours = ours if interleaved else ours.mT
            # An angle of up to 30 is in float32, where the next one is 2e-6 away.
            torch.testing.assert_close(ours, torch.view_as_real(turned), rtol=0, atol=1e-5)


def test_halves_equal_a_llamas_to_the_last_bit_however_far():
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding, apply_rotary_pos_emb

    config = transformers.LlamaConfig(hidden_size=HEADS * HEAD_DIM, num_attention_heads=HEADS)
    config.rope_parameters["rope_theta"] = 5e5
    query, key = heads().float(), heads(count=KV_HEADS).float()
    positions = torch.randint(100_000, (BATCH, SEQ))
    cos, sin = LlamaRotaryEmbedding(config)(query, positions)
    rotary = RotaryPositions(HEAD_DIM, theta=5e5, interleaved=False)
    for ours, theirs in zip((query, key), apply_rotary_pos_emb(query, key, cos, sin), strict=True):
        assert torch.equal(rotary(ours, positions[:, None]), theirs)


def test_rotary_frequencies_by_hand():
    frequencies = rotary_frequencies(6, 1000.0)
    torch.testing.assert_close(frequencies, torch.tensor([1.0, 0.1, 0.01]), rtol=1e-6, atol=0)


def test_frequencies_keep_their_precision_in_a_model_of_another_type(subtests):
    for dtype in [torch.bfloat16, torch.float16, torch.float64]:
        with subtests.test(dtype=dtype):
            rotary = RotaryPositions(HEAD_DIM)
            before, x = rotary.frequencies.clone(), heads().to(dtype)
            positions = torch.arange(SEQ) + 5000
            expected = rotary(x, positions)
            rotary.to(dtype)
            assert torch.equal(rotary.frequencies, before)
            assert rotary(x, positions).dtype == dtype
            assert torch.equal(rotary(x, positions), expected)


def test_rotary_positions_are_made_again_and_not_saved():
    with torch.device("meta"):
        rotary = RotaryPositions(HEAD_DIM)
    assert rotary.frequencies.device.type == "meta"
    assert rotary(torch.zeros(SEQ, HEAD_DIM, device="meta"), torch.arange(SEQ, device="meta")).shape
    assert not rotary.state_dict()
    assert not list(rotary.parameters())
    rotary.to_empty(device="cpu")
    assert torch.equal(rotary.frequencies, RotaryPositions(HEAD_DIM).frequencies)


def test_rotary_positions_take_numbers_two_by_two():
    for head_dim in [7, 0]:
        message = rf"head_dim \({head_dim}\) must be even, and at least 2"
        with pytest.raises(ValueError, match=message):
            RotaryPositions(head_dim)
    with pytest.raises(ValueError, match=r"theta \(0.0\) must be more than 0"):
        RotaryPositions(HEAD_DIM, theta=0.0)
