from dataclasses import replace
from functools import partial
from itertools import product

import pytest
import torch
from torch import nn
from torch_layers import copied, torch_layer, twin_state

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


def drawn(model):
    """The model in float64 and eval mode, with every weight and bias drawn anew."""
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


def inputs(config):
    """Ids, and what a decoder of this configuration reads besides, without masks."""
    memory = torch.randn(BATCH, SRC, config.d_model, dtype=torch.float64)
    return torch.randint(101, (BATCH, SEQ)), memory if config.cross_attention else None


def test_layer_equals_torchs_layer(subtests):
    for norm_first, activation in product([False, True], ["relu", "gelu"]):
        with subtests.test(norm_first=norm_first, activation=activation):
            config = replace(CONFIG, norm_first=norm_first, activation=activation)
            ours = drawn(TransformerDecoderLayer(config))
            twin = torch_layer(nn.TransformerDecoderLayer, config).double().eval()
            twin.load_state_dict(twin_state(ours))
            hidden = torch.randn(BATCH, SEQ, config.d_model, dtype=torch.float64)
            memory = torch.randn(BATCH, SRC, config.d_model, dtype=torch.float64)
            expected = twin(
                hidden,
                memory,
                tgt_mask=torch.ones(SEQ, SEQ, dtype=torch.bool).triu(1),
                tgt_key_padding_mask=~REAL,
                memory_key_padding_mask=~THERE,
            )
            output = ours(hidden, memory, REAL[:, None, None, :], THERE[:, None, None, :])
            torch.testing.assert_close(output[REAL], expected[REAL], rtol=0, atol=1e-12)


def test_stack_equals_torchs_stack(subtests):
    for norm_first in [False, True]:
        with subtests.test(norm_first=norm_first):
            config = replace(CONFIG, norm_first=norm_first)
            ours = drawn(TransformerDecoder(config))
            layer = torch_layer(nn.TransformerDecoderLayer, config)
            norm = nn.LayerNorm(config.d_model, eps=config.norm_eps) if norm_first else None
            twin = nn.TransformerDecoder(layer, config.num_layers, norm).double().eval()
            for theirs, layer in zip(twin.layers, ours.layers, strict=True):
                theirs.load_state_dict(twin_state(layer))
            if norm_first:
                twin.norm.load_state_dict(ours.final_norm.state_dict())
            ids, memory = inputs(config)
            expected = twin(
                ours.embeddings(ids),
                memory,
                tgt_mask=torch.ones(SEQ, SEQ, dtype=torch.bool).triu(1),
                memory_key_padding_mask=~THERE,
            )
            output = ours(ids, memory=memory, memory_attention_mask=THERE.long())
            torch.testing.assert_close(output, expected, rtol=0, atol=1e-12)


def test_without_cross_attention_it_is_torchs_encoder_with_a_causal_mask(subtests):
    for norm_first in [False, True]:
        with subtests.test(norm_first=norm_first):
            config = replace(ALONE, norm_first=norm_first)
            ours = drawn(TransformerDecoder(config))
            twin = nn.TransformerEncoder(
                torch_layer(nn.TransformerEncoderLayer, config),
                config.num_layers,
                nn.LayerNorm(config.d_model, eps=config.norm_eps) if norm_first else None,
                enable_nested_tensor=False,
            ).double()
            for theirs, layer in zip(twin.layers, ours.layers, strict=True):
                theirs.load_state_dict(
                    copied(
                        layer,
                        {"self_attn": layer.attention},
                        {
                            "linear1": layer.feed_forward.up_proj,
                            "linear2": layer.feed_forward.down_proj,
                            "norm1": layer.attention_norm,
                            "norm2": layer.feed_forward_norm,
                        },
                    )
                )
            if norm_first:
                twin.norm.load_state_dict(ours.final_norm.state_dict())
            ids, _ = inputs(config)
            causal = torch.ones(SEQ, SEQ, dtype=torch.bool).triu(1)
            expected = twin.eval()(ours.embeddings(ids), mask=causal, src_key_padding_mask=~REAL)
            output = ours(ids, REAL.long())
            torch.testing.assert_close(output[REAL], expected[REAL], rtol=0, atol=1e-12)


def test_what_is_read_is_added_to_and_never_replaced(subtests):
    """With sub-layers that find nothing, a layer gives back what it read; post-norm, normalised."""
    for norm_first, config in product([False, True], [CONFIG, ALONE, MODERN]):
        with subtests.test(norm_first=norm_first, config=config):
            layer = TransformerDecoderLayer(replace(config, norm_first=norm_first)).eval()
            for name, module in layer.named_modules():
                if name.endswith(("out_proj", "down_proj")):
                    nn.init.zeros_(module.weight), nn.init.zeros_(module.bias)
            hidden = torch.randn(BATCH, SEQ, config.d_model)
            memory = torch.randn(BATCH, SRC, config.d_model) if config.cross_attention else None
            output = layer(hidden, memory)
            if not norm_first:
                kernels = {"layer": nn.functional.layer_norm, "rms": nn.functional.rms_norm}
                hidden = kernels[config.norm](hidden, [config.d_model], eps=config.norm_eps)
            torch.testing.assert_close(output, hidden, rtol=0, atol=1e-5)


def test_no_position_sees_a_later_one(subtests):
    """Change the future, and the past must not move; change the past, and the future must."""
    for config, masked in product([CONFIG, ALONE, MODERN], [False, True]):
        with subtests.test(config=config, masked=masked):
            decoder = drawn(TransformerDecoder(config))
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


def through(layers, memory, vectors):
    for layer in layers:
        vectors = layer(vectors, memory)
    return vectors


def test_no_gradient_flows_from_a_position_to_a_later_one(subtests):
    for config in [CONFIG, ALONE, MODERN]:
        with subtests.test(config=config):
            decoder = drawn(TransformerDecoder(config))
            vectors = torch.randn(1, SEQ, config.d_model, dtype=torch.float64)
            memory = inputs(config)[1]
            memory = None if memory is None else memory[:1]
            run = partial(through, decoder.layers, memory)
            jacobian = torch.autograd.functional.jacobian(run, vectors)[0, :, :, 0]
            # (seq, seq): of the position read on each output
            strength = jacobian.abs().amax(dim=(1, 3))
            assert strength.triu(1).eq(0).all()
            assert strength.tril()[torch.ones(SEQ, SEQ).tril().bool()].min() > 0


def test_padding_in_target_and_memory_changes_nothing():
    decoder = drawn(TransformerDecoder(CONFIG))
    ids, memory = inputs(CONFIG)
    expected = decoder(ids, REAL.long(), memory, THERE.long())
    ids, memory = ids.clone(), memory.clone()
    ids[~REAL] = 7
    memory[~THERE] = 1e3
    output = decoder(ids, REAL.long(), memory, THERE.long())
    torch.testing.assert_close(output[REAL], expected[REAL], rtol=0, atol=1e-12)
    unmasked = decoder(ids, REAL.long(), memory)
    moved = (unmasked - expected).abs().amax(dim=2)  # (batch, seq)
    assert moved[REAL & ~THERE.all(dim=1, keepdim=True)].min() > 1e-3


def test_padding_on_the_left_takes_no_position(subtests):
    for config in [CONFIG, ALONE, MODERN]:
        with subtests.test(config=config):
            decoder = drawn(TransformerDecoder(config))
            ids, memory = inputs(config)
            mask = REAL.flip(1).long()
            output = decoder(ids, mask, memory)
            for row, length in enumerate((11, 7, 3, 2, 1)):
                one = None if memory is None else memory[row : row + 1]
                alone = decoder(ids[row : row + 1, SEQ - length :], memory=one)
                torch.testing.assert_close(
                    output[row, SEQ - length :], alone[0], rtol=0, atol=1e-12
                )


def test_the_order_of_the_memory_does_not_matter():
    """Cross-attention reads a set; the order is in the encoder's positions."""
    decoder = drawn(TransformerDecoder(CONFIG))
    ids, memory = inputs(CONFIG)
    order = torch.randperm(SRC)
    output = decoder(ids, None, memory[:, order], THERE[:, order].long())
    expected = decoder(ids, None, memory, THERE.long())
    torch.testing.assert_close(output, expected, rtol=0, atol=1e-12)


def test_with_a_cache_it_gives_what_it_gives_without(subtests):
    for config, norm_first, steps, masked in product(
        [CONFIG, ALONE, MODERN], [False, True], [(1,) * SEQ, (7, 1, 3)], [False, True]
    ):
        with subtests.test(config=config, norm_first=norm_first, steps=steps, masked=masked):
            decoder = drawn(TransformerDecoder(replace(config, norm_first=norm_first)))
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
            decoder = TransformerDecoder(config)
            ids, memory = inputs(config)
            memory = None if memory is None else memory.float()
            mask, there = torch.ones_like(ids), torch.ones(BATCH, SRC, dtype=torch.int64)
            mask[2], there[3] = 0, 0
            output = decoder(ids, mask, memory, there if config.cross_attention else None)
            output.square().sum().backward()
            assert output.isfinite().all()
            assert all(parameter.grad.isfinite().all() for parameter in decoder.parameters())


def test_dropout_runs_in_training_mode_alone():
    ids, memory = inputs(CONFIG)
    decoder = TransformerDecoder(replace(CONFIG, dropout=0.3, attn_dropout=0.3))
    assert not torch.equal(decoder(ids, None, memory.float()), decoder(ids, None, memory.float()))
    decoder.eval()
    assert torch.equal(decoder(ids, None, memory.float()), decoder(ids, None, memory.float()))


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


def test_is_made_of_our_modules_and_torchs_elements_alone():
    elements = (nn.Linear, nn.Embedding, nn.LayerNorm, nn.Dropout, nn.GELU, nn.ModuleList)
    for module in TransformerDecoder(CONFIG).modules():
        assert type(module) in elements or type(module).__module__.startswith("glassformer.")


def test_without_cross_attention_there_is_nothing_of_it():
    assert not [name for name, _ in TransformerDecoder(ALONE).named_parameters() if "cross" in name]
    crossing = [
        name for name, _ in TransformerDecoder(CONFIG).named_parameters() if "cross" in name
    ]
    assert len(crossing) == 2 * (4 * 2 + 2)  # layers · (projections · (weight, bias) + norm)


def test_runs_on_the_device_of_its_input():
    with torch.device("meta"):
        decoder = TransformerDecoder(CONFIG)
    ids = torch.zeros(BATCH, SEQ, dtype=torch.int64, device="meta")
    memory = torch.zeros(BATCH, SRC, CONFIG.d_model, device="meta")
    assert decoder(ids, ids, memory).device.type == "meta"


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_more_targets_than_positions(self):
        ids = torch.zeros(BATCH, 29, dtype=torch.int64)
        assert TransformerDecoder(ALONE)(ids[:, :23]).shape == (BATCH, 23, 21)
        with pytest.raises(ValueError, match=r"29 tokens is longer than max_positions \(23\)"):
            TransformerDecoder(ALONE)(ids)

    def test_more_targets_than_positions_counted_with_those_in_the_cache(self):
        ids = torch.zeros(BATCH, 23, dtype=torch.int64)
        decoder, cache = TransformerDecoder(ALONE), KVCache()
        with torch.no_grad():
            decoder(ids, cache=cache)
            with pytest.raises(ValueError, match=r"positions 23 to 23 .* max_positions \(23\)"):
                decoder(ids[:, :1], cache=cache)

    def test_no_memory_to_attend_to(self):
        ids = torch.zeros(BATCH, SEQ, dtype=torch.int64)
        with pytest.raises(ValueError, match="cross_attention is True, so the decoder needs"):
            TransformerDecoder(CONFIG)(ids)
        with pytest.raises(ValueError, match="cross_attention is True, so the decoder needs"):
            TransformerDecoderLayer(CONFIG)(torch.zeros(BATCH, SEQ, 21))

    def test_a_memory_that_nothing_reads(self):
        ids, memory = torch.zeros(BATCH, SEQ, dtype=torch.int64), torch.zeros(BATCH, SRC, 21)
        with pytest.raises(ValueError, match=r"memory of shape \(5, 13, 21\) .* is False"):
            TransformerDecoder(ALONE)(ids, memory=memory)
        with pytest.raises(ValueError, match=r"memory of shape \(5, 13, 21\) .* is False"):
            TransformerDecoderLayer(ALONE)(torch.zeros(BATCH, SEQ, 21), memory)

    def test_a_mask_of_a_memory_that_is_not_there(self):
        ids = torch.zeros(BATCH, SEQ, dtype=torch.int64)
        with pytest.raises(ValueError, match=r"memory_attention_mask of shape \(5, 11\) .* no mem"):
            TransformerDecoder(ALONE)(ids, memory_attention_mask=ids)

    def test_memory_of_another_batch_or_width(self):
        ids, memory = torch.zeros(BATCH, SEQ, dtype=torch.int64), torch.zeros(BATCH, SRC, 21)
        with pytest.raises(ValueError, match=r"\(5, 11, 21\), \(3, 13, 21\)"):
            TransformerDecoder(CONFIG)(ids, memory=memory[:3])
        with pytest.raises(ValueError, match=r"\(5, 11, 21\), \(5, 13, 19\)"):
            TransformerDecoder(CONFIG)(ids, memory=memory[:, :, :19])

    def test_masks_of_other_shapes(self):
        ids, memory = torch.zeros(BATCH, SEQ, dtype=torch.int64), torch.zeros(BATCH, SRC, 21)
        decoder = TransformerDecoder(CONFIG)
        with pytest.raises(ValueError, match=r"attention_mask of shape \(5, 7\) .* \(5, 11\)"):
            decoder(ids, ids[:, :7], memory)
        with pytest.raises(ValueError, match=r"memory_attention_mask .* \(5, 11\) .* \(5, 13\)"):
            decoder(ids, ids, memory, ids)

    def test_a_mask_that_leaves_out_what_is_in_the_cache(self):
        ids = torch.zeros(BATCH, SEQ, dtype=torch.int64)
        decoder, cache = TransformerDecoder(ALONE), KVCache()
        with torch.no_grad():
            decoder(ids, cache=cache)
            with pytest.raises(ValueError, match=r"\(5, 11\) must have shape \(5, 22\)"):
                decoder(ids, ids, cache=cache)

    def test_the_cache_of_another_decoder(self):
        ids, cache = torch.zeros(BATCH, SEQ, dtype=torch.int64), KVCache()
        with torch.no_grad():
            TransformerDecoder(ALONE)(ids, cache=cache)
            with pytest.raises(ValueError, match="filled by another model: it holds 11 tokens"):
                TransformerDecoder(ALONE)(ids, cache=cache)

    def test_token_beyond_the_vocabulary(self):
        with pytest.raises(ValueError, match=r"between 0 and 100, got \[101\]"):
            TransformerDecoder(ALONE)(torch.full((BATCH, SEQ), 101))
