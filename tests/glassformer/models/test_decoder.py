from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import nn
from torch_layers import torch_stack

from glassformer import TransformerConfig, TransformerDecoder, TransformerDecoderLayer
from glassformer.layers.kv_cache import KVCache

BATCH, SEQ, SRC = 5, 11, 13
CONFIG = TransformerConfig(
    vocab_size=101,
    d_model=21,
    num_heads=3,
    num_layers=2,
    d_ff=37,
    max_positions=23,
    num_token_types=0,
    initializer_range=0.3,
    cross_attention=True,
)
ALONE = replace(CONFIG, cross_attention=False)
MODERN = replace(CONFIG, num_kv_heads=1, head_dim=10, positions="rotary", norm="rms", gated=True)

REAL = torch.arange(SEQ) < torch.tensor([11, 7, 3, 2, 1])[:, None]
THERE = torch.arange(SRC) < torch.tensor([2, 13, 1, 5, 7])[:, None]


def drawn(config):
    """A decoder in float64 and eval mode, with every weight and bias drawn anew."""
    model = TransformerDecoder(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def inputs(config):
    """Ids, and what a decoder of this configuration reads besides, without masks."""
    memory = torch.randn(BATCH, SRC, config.d_model, dtype=torch.float64)
    return torch.randint(101, (BATCH, SEQ)), memory if config.cross_attention else None


def test_equals_torchs_stack(subtests):
    """Of its decoder, or, without cross-attention, of its encoder with a causal mask."""
    future = torch.ones(SEQ, SEQ, dtype=torch.bool).triu(1)
    for config, norm_first, activation in product([CONFIG, ALONE], [False, True], ["relu", "gelu"]):
        with subtests.test(config=config, norm_first=norm_first, activation=activation):
            ours = drawn(replace(config, norm_first=norm_first, activation=activation))
            ids, memory = inputs(config)
            theirs, hidden = torch_stack(ours), ours.embeddings(ids)
            if config.cross_attention:
                masks = {"tgt_key_padding_mask": ~REAL, "memory_key_padding_mask": ~THERE}
                expected = theirs(hidden, memory, tgt_mask=future, **masks)
                output = ours(ids, REAL.long(), memory, THERE.long())
            else:
                expected = theirs(hidden, mask=future, src_key_padding_mask=~REAL)
                output = ours(ids, REAL.long())
            torch.testing.assert_close(output[REAL], expected[REAL], rtol=0, atol=1e-12)


def test_no_position_sees_a_later_one(subtests):
    """Change the future, and the past must not move; change the past, and the future must."""
    for config, masked in product([CONFIG, ALONE, MODERN], [False, True]):
        with subtests.test(config=config, masked=masked):
            decoder = drawn(config)
            ids, memory = inputs(config)
            mask = torch.ones_like(ids) if masked else None
            before = decoder(ids, mask, memory)
            for place in (1, 6, SEQ - 1):
                changed = ids.clone()
                changed[:, place:] = (ids[:, place:] + 1) % 101
                after = decoder(changed, mask, memory)
                torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=1e-12)
                assert (after[:, place:] - before[:, place:]).abs().amax(dim=2).min() > 1e-6
            changed = ids.clone()
            changed[:, 0] = (ids[:, 0] + 1) % 101
            assert (decoder(changed, mask, memory) - before).abs().amax(dim=2).min() > 1e-6


def test_padding_on_the_left_takes_no_position(subtests):
    for config in [CONFIG, ALONE, MODERN]:
        with subtests.test(config=config):
            decoder = drawn(config)
            ids, memory = inputs(config)
            mask = REAL.flip(1).long()
            output = decoder(ids, mask, memory)
            for row, length in enumerate((11, 7, 3, 2, 1)):
                one = None if memory is None else memory[row : row + 1]
                alone = decoder(ids[row : row + 1, SEQ - length :], memory=one)
                torch.testing.assert_close(
                    output[row, SEQ - length :], alone[0], rtol=0, atol=1e-12
                )


def test_with_a_cache_it_gives_what_it_gives_without(subtests):
    for config, norm_first, steps, masked in product(
        [CONFIG, ALONE, MODERN], [False, True], [(1,) * SEQ, (7, 1, 3)], [False, True]
    ):
        with subtests.test(config=config, norm_first=norm_first, steps=steps, masked=masked):
            decoder = drawn(replace(config, norm_first=norm_first))
            ids, memory = inputs(config)
            mask = REAL.flip(1).long() if masked else None
            there = THERE.long() if config.cross_attention else None
            with torch.no_grad():
                expected = decoder(ids, mask, memory, there)
                cache, outputs, read = KVCache(), [], 0
                for step in steps:
                    seen = None if mask is None else mask[:, : read + step]
                    new = ids[:, read : read + step]
                    outputs.append(decoder(new, seen, memory, there, cache))
                    read += step
            assert cache.length == SEQ
            real = mask.bool() if masked else torch.ones(BATCH, SEQ, dtype=torch.bool)
            output = torch.cat(outputs, dim=1)
            torch.testing.assert_close(output[real], expected[real], rtol=0, atol=1e-12)


def test_rows_of_nothing_but_padding_stay_finite_both_ways(subtests):
    for config in [CONFIG, ALONE, MODERN]:
        with subtests.test(config=config):
            decoder = drawn(config)
            ids, memory = inputs(config)
            mask, there = torch.ones_like(ids), torch.ones(BATCH, SRC, dtype=torch.int64)
            mask[2], there[3] = 0, 0
            output = decoder(ids, mask, memory, there if config.cross_attention else None)
            output.square().sum().backward()
            assert output.isfinite().all()
            assert all(parameter.grad.isfinite().all() for parameter in decoder.parameters())


def test_dropout_falls_on_what_each_sublayer_adds(subtests):
    """With a rate near 1 and weights that make every addition 1, nearly nothing is added."""
    config = replace(CONFIG, dropout=0.99, attn_dropout=0.0, norm_first=True)
    outputs = ("attention.out_proj", "cross_attention.out_proj", "feed_forward.down_proj")
    for sublayer in ["attention", "cross_attention", "feed_forward"]:
        with subtests.test(sublayer=sublayer):
            layer = TransformerDecoderLayer(config)
            for name in outputs:
                module = layer.get_submodule(name)
                nn.init.zeros_(module.weight)
                nn.init.constant_(module.bias, float(name.startswith(f"{sublayer}.")))
            nothing = torch.zeros(BATCH, SEQ, CONFIG.d_model)
            added = layer(nothing, torch.zeros(BATCH, SRC, CONFIG.d_model))
            assert 0 < added.ne(0).float().mean() < 0.05
            assert layer.eval()(nothing, torch.zeros(BATCH, SRC, CONFIG.d_model)).eq(1).all()


@pytest.mark.usefixtures("unhooked")
def test_what_does_not_fit_is_refused(subtests):
    ids, memory = torch.zeros(BATCH, SEQ, dtype=torch.int64), torch.zeros(BATCH, SRC, 21)
    crossing, alone = TransformerDecoder(CONFIG), TransformerDecoder(ALONE)
    layers, hidden = (crossing.layers[0], alone.layers[0]), torch.zeros(BATCH, SEQ, 21)
    no_memory = "cross_attention is True, so the decoder needs"
    unread = r"memory of shape \(5, 13, 21\) .* is False"
    rows = [
        (alone, [ids.repeat(1, 3)], r"33 tokens is longer than max_positions \(23\)"),
        (alone, [ids + 101], r"between 0 and 100, got \[101\]"),
        (crossing, [ids], no_memory),
        (layers[0], [hidden], no_memory),
        (alone, [ids, None, memory], unread),
        (layers[1], [hidden, memory], unread),
        (alone, [ids, None, None, ids], r"memory_attention_mask of shape \(5, 11\) .* no mem"),
        (crossing, [ids, None, memory[:3]], r"\(5, 11, 21\), \(3, 13, 21\)"),
        (crossing, [ids, None, memory[:, :, :19]], r"\(5, 11, 21\), \(5, 13, 19\)"),
        (crossing, [ids, ids[:, :7], memory], r"attention_mask of shape \(5, 7\) .* \(5, 11\)"),
        (crossing, [ids, ids, memory, ids], r"memory_attention_mask .* \(5, 11\) .* \(5, 13\)"),
    ]
    for part, given, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            part(*given)


@torch.no_grad()
@pytest.mark.usefixtures("unhooked")
def test_what_does_not_go_on_where_the_cache_ends_is_refused():
    ids, cache, decoder = torch.zeros(BATCH, 12, dtype=torch.int64), KVCache(), drawn(ALONE)
    decoder(ids[:, :SEQ], cache=cache)
    with pytest.raises(ValueError, match=r"positions 11 to 23 .* max_positions \(23\)"):
        decoder(ids.repeat(1, 2)[:, :13], cache=cache)
    with pytest.raises(ValueError, match=r"\(5, 12\) must have shape \(5, 23\)"):
        decoder(ids, ids, cache=cache)
    with pytest.raises(ValueError, match="filled by another model: it holds 11 tokens"):
        drawn(ALONE)(ids, cache=cache)
