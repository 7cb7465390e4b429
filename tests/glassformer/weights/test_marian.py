"""Marian's encoder-decoder of transformers and ours, with the same weights."""

import math
from itertools import product

import pytest
import torch
import transformers
from small_models import SIZES, TOLERANCE, small_config
from test_parity import difference
from torch import nn

from glassformer import Transformer, TransformerConfig, from_hf, load, record

# Every axis of its own size; heads, layers and inner widths differ between the stacks.
KINDS = [
    SIZES["marian"] | {"activation_function": "swish", "scale_embedding": True},
    {
        **{"d_model": 30, "encoder_attention_heads": 5, "decoder_attention_heads": 2},
        **{"encoder_layers": 3, "decoder_layers": 1},
        **{"encoder_ffn_dim": 41, "decoder_ffn_dim": 53, "max_position_embeddings": 23},
        **{"vocab_size": 101, "decoder_vocab_size": 107, "pad_token_id": 7},
        **{"share_encoder_decoder_embeddings": False, "activation_function": "relu"},
    },
    {
        **{"d_model": 14, "encoder_attention_heads": 1, "decoder_attention_heads": 7},
        **{"encoder_layers": 2, "decoder_layers": 3},
        **{"encoder_ffn_dim": 31, "decoder_ffn_dim": 43, "max_position_embeddings": 17},
        **{"vocab_size": 103, "decoder_vocab_size": 109, "pad_token_id": 0},
        **{"share_encoder_decoder_embeddings": False, "tie_word_embeddings": False},
        "scale_embedding": True,
    },
]
CASES = [*((sizes, torch.float64) for sizes in KINDS), (KINDS[0], torch.float32)]
BATCH, SRC, TGT = 5, 13, 11


def positions(length, width):
    """Marian's table one number at a time: all sines, then all cosines."""
    half = width // 2
    rows = []
    for place in range(length):
        angles = [place / 10000 ** (2 * pair / width) for pair in range(half)]
        rows.append([math.sin(angle) for angle in angles] + [math.cos(angle) for angle in angles])
    return torch.tensor(rows, dtype=torch.float64)


def marian(sizes, dtype):
    """A random model of transformers, with nothing left at zero."""
    hf = transformers.MarianMTModel(
        small_config("MarianMTModel", **sizes, attn_implementation="eager")
    )
    for name, parameter in hf.named_parameters():
        if "embed_positions" not in name:
            nn.init.normal_(parameter, std=0.3)
    nn.init.normal_(hf.final_logits_bias)
    hf = hf.to(dtype).eval()
    if dtype == torch.float64:  # in transformers the table is of float32
        for stack in (hf.model.encoder, hf.model.decoder):
            table = stack.embed_positions.weight.data
            table.copy_(positions(*table.shape))
    return hf


def inputs(side="right"):
    """Source, target, and which of their tokens are real."""
    lengths = torch.tensor([[2], [13], [1], [5], [7]])
    read = torch.arange(SRC) < lengths
    read = read if side == "right" else read.flip(1)
    real = torch.arange(TGT) < torch.tensor([[11], [7], [3], [2], [1]])
    return torch.randint(101, (BATCH, SRC)), torch.randint(101, (BATCH, TGT)), read, real


def answer(hf, src, tgt, read, real):
    """All that the reference puts out."""
    return hf(
        input_ids=src,
        attention_mask=read.long(),
        decoder_input_ids=tgt,
        decoder_attention_mask=real.long(),
        output_attentions=True,
        output_hidden_states=True,
    )


def test_logits_equal(tmp_path, subtests):
    for (sizes, dtype), side in product(CASES, ["right", "left"]):
        with subtests.test(sizes=sizes, dtype=dtype, side=side):
            torch.set_default_dtype(dtype)  # so that our positions are of it too
            hf = marian(sizes, dtype)
            hf.save_pretrained(tmp_path)
            live, loaded = from_hf(hf), load(tmp_path)
            src, tgt, read, real = inputs(side)
            with torch.no_grad():
                output = live(src, tgt, read.long(), real.long())
                expected = answer(hf, src, tgt, read, real).logits
                assert isinstance(live, Transformer)
                assert output.dtype == dtype
                assert difference(output, expected, real) < TOLERANCE[dtype]
                assert torch.equal(loaded(src, tgt, read.long(), real.long()), output)


def test_every_attention_and_hidden_state_is_equal(subtests):
    for sizes, dtype in CASES:
        with subtests.test(sizes=sizes, dtype=dtype):
            torch.set_default_dtype(dtype)
            hf = marian(sizes, dtype)
            ours = from_hf(hf)
            src, tgt, read, real = inputs()
            with torch.no_grad(), record(ours) as tape:
                ours(src, tgt, read.long(), real.long())
                expected = answer(hf, src, tgt, read, real)
            for found, theirs, rows in (
                (tape.attentions, expected.encoder_attentions, read),
                (tape.decoder_attentions, expected.decoder_attentions, real),
                (tape.cross_attentions, expected.cross_attentions, real),
            ):
                for weights, other in zip(found, theirs, strict=True):
                    error = difference(weights.transpose(1, 2), other.transpose(1, 2), rows)
                    assert error < TOLERANCE[dtype]
            for found, theirs, rows in (
                (tape.hidden_states, expected.encoder_hidden_states, read),
                (tape.decoder_hidden_states, expected.decoder_hidden_states, real),
            ):
                for hidden, other in zip(found, theirs, strict=True):
                    assert difference(hidden, other, rows) < TOLERANCE[dtype]
            heads = sizes["decoder_attention_heads"]
            assert tape.cross_attentions[0].shape == (BATCH, heads, TGT, SRC)


def test_gradients_equal(subtests):
    """Of all weights: their gradients, carried over as if they were weights, against ours."""
    for sizes, dtype in CASES:
        with subtests.test(sizes=sizes, dtype=dtype):
            torch.set_default_dtype(dtype)
            hf = marian(sizes, dtype)
            ours = from_hf(hf)
            src, tgt, read, real = inputs()
            answer(hf, src, tgt, read, real).logits[real].square().mean().backward()
            ours(src, tgt, read.long(), real.long())[real].square().mean().backward()
            for name, parameter in hf.named_parameters():
                if "embed_positions" not in name:
                    parameter.data = parameter.grad
            theirs = dict(from_hf(hf).named_parameters())
            for name, parameter in ours.named_parameters():
                if name == "lm_head.bias":  # a buffer there
                    continue
                assert parameter.grad.ne(0).any() or name.endswith("k_proj.bias"), name
                largest = theirs[name].abs().max().clamp(min=1)
                error = (parameter.grad - theirs[name]).abs().max() / largest
                assert error < TOLERANCE[dtype], name


def test_tables_of_the_reference_are_shared_here_as_there():
    for sizes, different in zip(KINDS, (1, 2, 3), strict=True):
        ours = from_hf(marian(sizes, torch.float32))
        tables = [
            ours.encoder.embeddings.tokens.weight,
            ours.decoder.embeddings.tokens.weight,
            ours.lm_head.weight,
        ]
        assert len({id(table) for table in tables}) == different


def test_defaults_are_those_of_transformers():
    expected = TransformerConfig.from_hf(transformers.MarianConfig())
    assert TransformerConfig.from_hf({"model_type": "marian"}) == expected
    assert (expected.d_model, expected.decoder.d_ff, expected.vocab_size) == (1024, 4096, 58101)


def test_the_stacks_have_their_own_sizes():
    config = TransformerConfig.from_hf(small_config("MarianMTModel", **KINDS[1]))
    assert (config.num_layers, config.num_heads, config.d_ff) == (3, 5, 41)
    decoder = config.decoder
    assert (decoder.num_layers, decoder.num_heads, decoder.d_ff) == (1, 2, 53)
    assert (config.vocab_size, decoder.vocab_size) == (101, 107)
    assert decoder.cross_attention
    assert not config.cross_attention


def test_what_is_not_built_is_refused(subtests):
    for field, value in [
        ("normalize_before", True),
        ("encoder_layerdrop", 0.5),
        ("activation_dropout", 0.25),
    ]:
        with (
            subtests.test(field=field, value=value),
            pytest.raises(ValueError, match=rf"{field} \({value}\) is not honored for marian"),
        ):
            TransformerConfig.from_hf({"model_type": "marian", field: value})


def test_a_shared_table_beside_a_last_map_of_its_own_is_refused():
    """transformers then leaves the shared table unread, and has three."""
    with pytest.raises(ValueError, match=r"tie_embeddings \(False\) must be True"):
        TransformerConfig.from_hf({"model_type": "marian", "tie_word_embeddings": False})


def test_missing_and_unexpected_weights_are_listed(tmp_path):
    from safetensors.torch import load_file, save_file

    marian(KINDS[1], torch.float32).save_pretrained(tmp_path)
    weights = load_file(tmp_path / "model.safetensors")
    weights["model.decoder.layers.0.encoder_attn.z_proj.weight"] = weights.pop(
        "model.decoder.layers.0.encoder_attn.k_proj.weight"
    )
    del weights["final_logits_bias"]
    save_file(weights, tmp_path / "model.safetensors")
    with pytest.raises(ValueError, match="missing: final_logits_bias") as error:
        load(tmp_path)
    message = str(error.value)
    assert "missing: model.decoder.layers.0.encoder_attn.k_proj.weight" in message
    assert "unexpected: model.decoder.layers.0.encoder_attn.z_proj.weight" in message


def test_a_model_in_place_of_its_parts_is_in_eval_mode_and_a_copy():
    hf = marian(KINDS[0], torch.float32)
    ours = from_hf(hf)
    assert not any(module.training for module in ours.modules())
    before = ours.lm_head.weight.clone()
    with torch.no_grad():
        hf.lm_head.weight.zero_()
    assert torch.equal(ours.lm_head.weight, before)
