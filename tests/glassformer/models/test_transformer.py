from copy import deepcopy
from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import nn
from torch_layers import copied, torch_layer, twin_state

from glassformer import Transformer, TransformerConfig
from glassformer.layers.kv_cache import KVCache

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


def test_equals_torchs_transformer(pairs, subtests):
    """torch's has neither tables nor a last map, and a last norm in both stacks."""
    for norm_first, activation in product([False, True], ["relu", "gelu"]):
        with subtests.test(norm_first=norm_first, activation=activation):
            config = both(norm_first=norm_first, activation=activation, final_norm=True)
            ours = drawn(config)
            encoder_layer = torch_layer(nn.TransformerEncoderLayer, config)
            decoder_layer = torch_layer(nn.TransformerDecoderLayer, config.decoder)
            norms = [nn.LayerNorm(D_MODEL, eps=config.norm_eps) for _ in range(2)]
            twin = nn.Transformer(
                D_MODEL,
                batch_first=True,
                custom_encoder=nn.TransformerEncoder(
                    encoder_layer, config.num_layers, norms[0], enable_nested_tensor=False
                ),
                custom_decoder=nn.TransformerDecoder(
                    decoder_layer, config.decoder.num_layers, norms[1]
                ),
            ).double()
            for theirs, layer in zip(twin.encoder.layers, ours.encoder.layers, strict=True):
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
            for theirs, layer in zip(twin.decoder.layers, ours.decoder.layers, strict=True):
                theirs.load_state_dict(twin_state(layer))
            for stack in ("encoder", "decoder"):
                norm = ours.get_submodule(f"{stack}.final_norm")
                twin.get_submodule(f"{stack}.norm").load_state_dict(norm.state_dict())
            src, tgt = pairs
            hidden = twin.eval()(
                ours.encoder.embeddings(src),
                ours.decoder.embeddings(tgt),
                tgt_mask=torch.ones(TGT, TGT, dtype=torch.bool).triu(1),
                src_key_padding_mask=~READ,
                memory_key_padding_mask=~READ,
                tgt_key_padding_mask=~REAL,
            )
            expected = hidden @ ours.decoder.embeddings.tokens.weight.mT
            output = ours(src, tgt, READ.long(), REAL.long())
            assert output.shape == (BATCH, TGT, 103)
            torch.testing.assert_close(output[REAL], expected[REAL], rtol=0, atol=1e-11)


def test_change_the_future_and_the_past_does_not_move(pairs):
    model = drawn(CONFIG)
    src, tgt = pairs
    before = model(src, tgt, READ.long())
    changed = tgt.clone()
    changed[:, 6:] = (tgt[:, 6:] + 1) % 101
    after = model(src, changed, READ.long())
    torch.testing.assert_close(after[:, :6], before[:, :6], rtol=0, atol=1e-12)
    assert (after[:, 6:] - before[:, 6:]).abs().amax(dim=2).min() > 1e-6


def test_change_the_padding_and_nothing_moves(pairs):
    model = drawn(CONFIG)
    src, tgt = pairs
    expected = model(src, tgt, READ.long(), REAL.long())
    src, tgt = src.masked_fill(~READ, 7), tgt.masked_fill(~REAL, 7)
    output = model(src, tgt, READ.long(), REAL.long())
    torch.testing.assert_close(output[REAL], expected[REAL], rtol=0, atol=1e-12)
    without = model(src, tgt, READ.long())
    torch.testing.assert_close(without[REAL], expected[REAL], rtol=0, atol=1e-12)


def test_every_target_token_can_see_every_source_token(pairs):
    model = drawn(CONFIG)
    src, tgt = pairs
    before = model(src, tgt)
    for place in range(SRC):
        changed = src.clone()
        changed[:, place] = (src[:, place] + 1) % 101
        assert (model(changed, tgt) - before).abs().amax(dim=2).min() > 1e-6


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


def test_decoding_with_a_cache_gives_the_same_logits(pairs):
    model = drawn(CONFIG)
    src, tgt = pairs
    with torch.no_grad():
        expected = model(src, tgt, READ.long())
        memory, cache = model.encode(src, READ.long()), KVCache()
        steps = [
            model.decode(tgt[:, at : at + 1], memory, READ.long(), cache=cache) for at in range(TGT)
        ]
    torch.testing.assert_close(torch.cat(steps, dim=1), expected, rtol=0, atol=1e-12)


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


def test_gradients_reach_every_weight_by_every_way(pairs, subtests):
    """The tied table's gradient is the sum of those that it has as several tables."""
    for table in ["separate", "tied", "shared"]:
        with subtests.test(table=table):
            config = sharing() if table == "shared" else CONFIG
            tied = drawn(replace(config, tie_embeddings=table != "separate"))
            apart = Transformer(replace(config, tie_embeddings=False, share_embeddings=False))
            apart.double().eval().load_state_dict(tied.state_dict())
            src, tgt = pairs
            for model in (tied, apart):
                model(src, tgt, READ.long())[REAL].square().mean().backward()
            for name, parameter in tied.named_parameters():
                assert parameter.grad.ne(0).any() or name.endswith("k_proj.bias"), name
            names = ["encoder.embeddings.tokens", "decoder.embeddings.tokens", "lm_head"]
            first = {"separate": 2, "tied": 1, "shared": 0}[table]
            expected = sum(apart.get_submodule(name).weight.grad for name in names[first:])
            gradient = tied.get_submodule(names[first]).weight.grad
            assert tied.get_submodule("lm_head").weight.grad is gradient
            torch.testing.assert_close(gradient, expected, rtol=1e-10, atol=1e-12)


def test_the_last_map_has_a_bias_only_where_asked(pairs):
    assert drawn(CONFIG).lm_head.bias is None
    model = drawn(replace(CONFIG, output_bias=True))
    before = model(*pairs)
    with torch.no_grad():
        model.lm_head.bias[7] += 1.5
    change = model(*pairs) - before
    torch.testing.assert_close(change[:, :, 7], torch.full_like(change[:, :, 7], 1.5))
    assert change[:, :, :7].eq(0).all()


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
    def test_a_source_that_is_all_padding(self, pairs):
        src, tgt = pairs
        mask = READ.long()
        mask[[1, 3]] = 0
        with pytest.raises(ValueError, match=r"source of row \[1, 3\] is all padding"):
            Transformer(CONFIG)(src, tgt, mask)
        with pytest.raises(ValueError, match=r"source of row \[1, 3\] is all padding"):
            Transformer(CONFIG).encode(src, mask)

    def test_targets_and_sources_longer_than_the_positions(self):
        model = Transformer(CONFIG)
        long, short = torch.zeros(BATCH, 23, dtype=torch.int64), torch.zeros(BATCH, 2).long()
        with pytest.raises(ValueError, match=r"23 tokens is longer than max_positions \(17\)"):
            model(short, long)
        with pytest.raises(ValueError, match=r"23 tokens is longer than max_positions \(19\)"):
            model(long, short)

    def test_masks_that_do_not_fit(self, pairs):
        src, tgt = pairs
        model = Transformer(CONFIG)
        with pytest.raises(ValueError, match=r"src_attention_mask of shape \(5, 11\) .* \(5, 13\)"):
            model(src, tgt, tgt)
        with pytest.raises(ValueError, match=r"attention_mask of shape \(5, 13\) .* \(5, 11\)"):
            model(src, tgt, src, src)

    def test_sources_and_targets_of_unequal_batches(self, pairs):
        with pytest.raises(ValueError, match=r"\(3, 11, 24\), \(5, 13, 24\)"):
            Transformer(CONFIG)(pairs[0], pairs[1][:3])

    def test_ids_that_are_no_ids(self, pairs):
        src, tgt = pairs
        model = Transformer(CONFIG)
        with pytest.raises(ValueError, match=r"between 0 and 100, got \[101\]"):
            model(torch.full_like(src, 101), tgt)
        with pytest.raises(ValueError, match=r"between 0 and 102, got \[103\]"):
            model(src, torch.full_like(tgt, 103))
        with pytest.raises(ValueError, match=r"src_ids must be int64 or int32, got torch.float"):
            model(src.float(), tgt)
        with pytest.raises(ValueError, match=r"tgt_ids must be int64 or int32, got torch.float"):
            model(src, tgt.float())

    def test_a_config_without_a_second_stack(self):
        with pytest.raises(ValueError, match=r"decoder \(None\) must be the TransformerConfig"):
            Transformer(replace(CONFIG, decoder=None))

    def test_stacks_that_do_not_fit_together(self):
        decoder = CONFIG.decoder
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
