"""Marian's encoder-decoder of transformers and ours, with the same weights."""

import math
from itertools import product

import torch
from small_models import SIZES, TOLERANCE, check_gradients, small_model
from test_parity import difference
from torch import nn

from glassformer import Transformer, from_hf, load, record

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
    hf = small_model("MarianMTModel", **sizes, attn_implementation="eager").to(dtype)
    nn.init.normal_(hf.final_logits_bias)
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
    for sizes, dtype in CASES:
        with subtests.test(sizes=sizes, dtype=dtype):
            torch.set_default_dtype(dtype)
            hf = marian(sizes, dtype)
            ours = from_hf(hf)
            src, tgt, read, real = inputs()
            answer(hf, src, tgt, read, real).logits[real].square().mean().backward()
            ours(src, tgt, read.long(), real.long())[real].square().mean().backward()
            check_gradients(ours, hf, TOLERANCE[dtype], skipped={"lm_head.bias"})  # a buffer there
