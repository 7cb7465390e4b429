from copy import deepcopy
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import nn
from torch_layers import torch_stack

from glassformer import Transformer, TransformerConfig

BATCH, SRC, TGT = 5, 13, 11
D_MODEL = 24
SIZES = {"d_model": D_MODEL, "num_token_types": 0, "initializer_range": 0.3}
CONFIG = TransformerConfig(
    vocab_size=101,
    num_heads=2,
    num_layers=1,
    d_ff=37,
    max_positions=19,
    **SIZES,
    decoder=TransformerConfig(
        vocab_size=103,
        num_heads=3,
        num_layers=2,
        d_ff=29,
        max_positions=17,
        cross_attention=True,
        **SIZES,
    ),
)

READ = torch.arange(SRC) < torch.tensor([2, 13, 1, 5, 7])[:, None]
REAL = torch.arange(TGT) < torch.tensor([11, 7, 3, 2, 1])[:, None]


def both(**changes):
    """The configuration with changes in both stacks."""
    return replace(CONFIG, **changes, decoder=replace(CONFIG.decoder, **changes))


def sharing():
    """The configuration with as many tokens on both sides, and one table for all."""
    decoder = replace(CONFIG.decoder, vocab_size=CONFIG.vocab_size)
    return replace(CONFIG, decoder=decoder, share_embeddings=True)


def drawn(config):
    """The model in float64 and eval mode, with every weight and bias drawn anew."""
    model = Transformer(config)
    for parameter in model.parameters():
        nn.init.normal_(parameter, std=0.3)
    return model.double().eval()


@pytest.fixture
def pairs():
    return torch.randint(101, (BATCH, SRC)), torch.randint(101, (BATCH, TGT))


def test_equals_torchs_two_stacks(pairs, subtests):
    """torch's have neither tables nor a last map, and a last norm in both stacks."""
    for norm_first, activation in product([False, True], ["relu", "gelu"]):
        with subtests.test(norm_first=norm_first, activation=activation):
            config = both(norm_first=norm_first, activation=activation, final_norm=True)
            ours = drawn(config)
            src, tgt = pairs
            memory = torch_stack(ours.encoder)(
                ours.encoder.embeddings(src), src_key_padding_mask=~READ
            )
            hidden = torch_stack(ours.decoder)(
                ours.decoder.embeddings(tgt),
                memory,
                tgt_mask=torch.ones(TGT, TGT, dtype=torch.bool).triu(1),
                memory_key_padding_mask=~READ,
                tgt_key_padding_mask=~REAL,
            )
            expected = hidden @ ours.decoder.embeddings.tokens.weight.mT
            output = ours(src, tgt, READ.long(), REAL.long())
            assert output.shape == (BATCH, TGT, 103)
            torch.testing.assert_close(output[REAL], expected[REAL], rtol=0, atol=1e-11)


def test_encode_and_decode_are_the_two_halves(pairs):
    model = drawn(CONFIG)
    src, tgt = pairs
    expected = model(src, tgt, READ.long(), REAL.long())
    memory = model.encode(src, READ.long())
    assert torch.equal(memory, model.encoder(src, READ.long()))
    logits = model.decode(tgt, memory, READ.long(), REAL.long())
    assert torch.equal(logits, expected)
    last = model.decode(tgt, memory, READ.long(), REAL.long(), last_only=True)
    torch.testing.assert_close(last, expected[:, -1:], rtol=0, atol=1e-12)


def test_tables_are_three_two_or_one():
    separate, tied, shared = (
        Transformer(config) for config in (replace(CONFIG, tie_embeddings=False), CONFIG, sharing())
    )
    for model, different in ((separate, 3), (tied, 2), (shared, 1)):
        tables = [
            model.encoder.embeddings.tokens.weight,
            model.decoder.embeddings.tokens.weight,
            model.lm_head.weight,
        ]
        assert len({id(table) for table in tables}) == different
        twin = deepcopy(model)
        twin.load_state_dict(model.state_dict())
        assert len(list(twin.parameters())) == len(list(model.parameters()))
    count = {
        model: sum(parameter.numel() for parameter in model.parameters())
        for model in (separate, tied, shared)
    }
    assert count[separate] - count[tied] == 103 * D_MODEL
    assert count[tied] - count[shared] == 103 * D_MODEL


def test_new_weights_are_drawn_as_wide_as_the_config_says():
    model = Transformer(replace(CONFIG, tie_embeddings=False))
    assert model.lm_head.weight.std().item() == pytest.approx(0.3, rel=0.05)
    assert Transformer(sharing()).lm_head.weight[0].eq(0).all()


def test_the_base_model_of_the_paper_has_65_million_weights():
    """Vaswani et al. 2017, table 3, counted by hand with its 37,000 shared tokens."""
    width, inner, vocab = 512, 2048, 37000
    sizes = {"d_model": width, "d_ff": inner, "num_heads": 8, "num_layers": 6}
    sizes |= {"vocab_size": vocab, "positions": "sinusoidal", "num_token_types": 0}
    sizes |= {"embedding_norm": False, "activation": "relu"}
    with torch.device("meta"):
        decoder = TransformerConfig(**sizes, cross_attention=True)
        model = Transformer(TransformerConfig(**sizes, decoder=decoder, share_embeddings=True))
    attention, norm = 4 * (width * width + width), 2 * width
    feed_forward = (width * inner + inner) + (inner * width + width)
    layers = 6 * (attention + feed_forward + 2 * norm) + 6 * (
        2 * attention + feed_forward + 3 * norm
    )
    assert sum(p.numel() for p in model.parameters()) == layers + vocab * width == 63_082_496


def test_runs_on_the_device_of_its_input():
    with torch.device("meta"):
        model = Transformer(CONFIG)
    src, tgt = (torch.zeros(BATCH, n, dtype=torch.int64, device="meta") for n in (SRC, TGT))
    assert model(src, tgt, src, tgt).device.type == "meta"


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_inputs_that_do_not_fit(self, pairs, subtests):
        model, (src, tgt) = Transformer(CONFIG), pairs
        mask = READ.long()
        mask[[1, 3]] = 0
        nothing = r"source of row \[1, 3\] is all padding"
        rows = [
            (model, [src, tgt, mask], nothing),
            (model.encode, [src, mask], nothing),
            (model, [src, tgt.repeat(1, 2)], r"22 tokens is longer than max_positions \(17\)"),
            (model, [src.repeat(1, 2), tgt], r"26 tokens is longer than max_positions \(19\)"),
            (model, [src, tgt, tgt], r"src_attention_mask of shape \(5, 11\) .* \(5, 13\)"),
            (model, [src, tgt, src, src], r"attention_mask of shape \(5, 13\) .* \(5, 11\)"),
            (model, [src, tgt[:3]], r"\(3, 11, 24\), \(5, 13, 24\)"),
            (model, [src * 0 + 101, tgt], r"between 0 and 100, got \[101\]"),
            (model, [src, tgt * 0 + 103], r"between 0 and 102, got \[103\]"),
            (model, [src.float(), tgt], r"src_ids must be int64 or int32, got torch.float"),
            (model, [src, tgt.float()], r"tgt_ids must be int64 or int32, got torch.float"),
        ]
        for part, given, message in rows:
            with subtests.test(message, part=part), pytest.raises(ValueError, match=message):
                part(*given)

    def test_stacks_that_do_not_fit_together(self):
        decoder = CONFIG.decoder
        with pytest.raises(ValueError, match=r"decoder \(None\) must be the TransformerConfig"):
            Transformer(replace(CONFIG, decoder=None))
        with pytest.raises(ValueError, match=r"decoder.cross_attention \(False\) must be True"):
            replace(CONFIG, decoder=replace(decoder, cross_attention=False))
        with pytest.raises(ValueError, match=r"d_model \(24\) and decoder.d_model \(30\) must be"):
            replace(CONFIG, decoder=replace(decoder, d_model=30))
        with pytest.raises(ValueError, match=r"vocab_size \(101\) and decoder.vocab_size \(103\)"):
            replace(CONFIG, share_embeddings=True)
        with pytest.raises(ValueError, match=r"pad_token_id \(0\) and decoder.pad_token_id \(7\)"):
            replace(
                CONFIG,
                share_embeddings=True,
                decoder=replace(decoder, vocab_size=101, pad_token_id=7),
            )
        with pytest.raises(ValueError, match=r"tie_embeddings \(False\) must be True"):
            replace(sharing(), tie_embeddings=False)
