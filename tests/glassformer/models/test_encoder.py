from dataclasses import replace

import pytest
import torch
from torch import nn

from glassformer import TransformerConfig, TransformerEncoder, TransformerEncoderLayer, load
from glassformer.weights.checkpoints import default_checkpoint

BATCH, SEQ = 5, 11
CONFIG = TransformerConfig(
    vocab_size=101,
    d_model=21,
    num_heads=3,
    num_layers=2,
    d_ff=37,
    max_positions=23,
    num_token_types=3,
    initializer_range=0.3,
)


def torch_twin(ours, config):
    """torch's own layer with our weights."""
    twin = nn.TransformerEncoderLayer(
        config.d_model,
        config.num_heads,
        config.d_ff,
        activation="gelu",
        layer_norm_eps=config.norm_eps,
        batch_first=True,
        norm_first=config.norm_first,
    ).double()
    attention = ours.attention
    projections = (attention.q_proj, attention.k_proj, attention.v_proj)
    state = {
        f"self_attn.in_proj_{kind}": torch.cat([getattr(p, kind) for p in projections])
        for kind in ("weight", "bias")
    }
    for theirs, module in {
        "self_attn.out_proj": attention.out_proj,
        "linear1": ours.feed_forward.up_proj,
        "linear2": ours.feed_forward.down_proj,
        "norm1": ours.attention_norm,
        "norm2": ours.feed_forward_norm,
    }.items():
        state |= {f"{theirs}.{kind}": getattr(module, kind) for kind in ("weight", "bias")}
    twin.load_state_dict(state)
    return twin.eval()


def test_layer_equals_torchs_layer(subtests):
    for norm_first in [False, True]:
        with subtests.test(norm_first=norm_first):
            config = replace(CONFIG, norm_first=norm_first)
            ours = TransformerEncoderLayer(config).double().eval()
            for parameter in ours.parameters():
                nn.init.normal_(parameter, std=0.3)
            hidden = torch.randn(BATCH, SEQ, config.d_model, dtype=torch.float64)
            real = torch.arange(SEQ) < torch.tensor([11, 7, 3, 2, 1])[:, None]
            expected = torch_twin(ours, config)(hidden, src_key_padding_mask=~real)
            output = ours(hidden, real[:, None, None, :])
            torch.testing.assert_close(output[real], expected[real], rtol=0, atol=1e-12)


def test_layer_reads_the_residual_whole(subtests):
    """With sub-layers that add nothing, a layer gives back what it reads; post-norm, normalised."""
    for norm_first in [False, True]:
        with subtests.test(norm_first=norm_first):
            layer = TransformerEncoderLayer(replace(CONFIG, norm_first=norm_first)).eval()
            for module in (layer.attention.out_proj, layer.feed_forward.down_proj):
                nn.init.zeros_(module.weight), nn.init.zeros_(module.bias)
            hidden = torch.randn(BATCH, SEQ, CONFIG.d_model)
            if not norm_first:
                hidden = nn.functional.layer_norm(hidden, [CONFIG.d_model], eps=CONFIG.norm_eps)
            torch.testing.assert_close(layer(hidden), hidden, rtol=0, atol=1e-5)


def test_pre_norm_stack_ends_in_a_norm_and_post_norm_does_not():
    assert TransformerEncoder(CONFIG).final_norm is None
    encoder = TransformerEncoder(replace(CONFIG, norm_first=True)).eval()
    output = encoder(torch.randint(101, (BATCH, SEQ)))
    torch.testing.assert_close(output.mean(-1), torch.zeros(BATCH, SEQ), rtol=0, atol=1e-6)
    torch.testing.assert_close(output.var(-1, unbiased=False), torch.ones(BATCH, SEQ))
    assert TransformerEncoder(replace(CONFIG, norm_first=True, final_norm=False)).final_norm is None
    assert TransformerEncoder(replace(CONFIG, final_norm=True)).final_norm is not None


def test_padding_changes_no_token(trained, words):
    sentence = "time flies like an arrow"
    alone = words(sentence, return_tensors="pt")
    padded = words(sentence, padding="max_length", max_length=16, return_tensors="pt")
    with torch.no_grad():
        expected, output = trained(**alone), trained(**padded)
        unmasked = trained(padded["input_ids"])
    seq = alone["input_ids"].shape[1]
    torch.testing.assert_close(output[:, :seq], expected, rtol=0, atol=1e-5)
    assert (unmasked[:, :seq] - expected).abs().max() > 0.1


def test_a_sentence_of_nothing_but_padding_stays_finite_both_ways():
    encoder = TransformerEncoder(CONFIG)
    mask = torch.ones(BATCH, SEQ, dtype=torch.int64)
    mask[2] = 0
    output = encoder(torch.randint(101, (BATCH, SEQ)), mask)
    output.square().sum().backward()
    assert output.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in encoder.parameters())


def test_the_kernel_never_gets_a_large_number_in_place_of_infinity(monkeypatch):
    import torch.nn.functional as F

    seen = []
    kernel = F.scaled_dot_product_attention

    def spy(*args, attn_mask=None, **kwargs):
        seen.append(attn_mask)
        return kernel(*args, attn_mask=attn_mask, **kwargs)

    monkeypatch.setattr(F, "scaled_dot_product_attention", spy)
    mask = torch.ones(BATCH, SEQ, dtype=torch.int64).tril()
    TransformerEncoder(CONFIG)(torch.randint(101, (BATCH, SEQ)), mask)
    assert [m.dtype for m in seen] == [torch.bool] * 2


def test_without_positions_shuffled_tokens_give_shuffled_vectors():
    """Equivariant, and not invariant: each vector moves with its token."""
    encoder = TransformerEncoder(CONFIG).double().eval()
    nn.init.zeros_(encoder.embeddings.positions.table.weight)
    ids = torch.randperm(101)[:SEQ][None]
    order = torch.randperm(SEQ)
    output, shuffled = encoder(ids), encoder(ids[:, order])
    torch.testing.assert_close(shuffled, output[:, order], rtol=0, atol=1e-12)
    assert (shuffled - output).abs().max() > 0.1


def test_with_positions_order_matters(trained, words):
    ids = words("time flies like an arrow", return_tensors="pt")["input_ids"]
    order = torch.tensor([0, 5, 4, 3, 2, 1, 6])
    with torch.no_grad():
        assert (trained(ids[:, order]) - trained(ids)[:, order]).abs().max() > 0.1


def test_with_rotary_positions_order_matters_and_the_place_of_the_whole_does_not():
    config = replace(CONFIG, positions="rotary_halves", head_dim=10, norm="rms", gated=True)
    encoder = TransformerEncoder(config).double().eval()
    assert "embeddings.positions.table.weight" not in encoder.state_dict()
    ids = torch.randperm(101)[:SEQ][None]
    order = torch.randperm(SEQ)
    assert (encoder(ids[:, order]) - encoder(ids)[:, order]).abs().max() > 0.1
    padded, real = nn.functional.pad(ids, (5, 0)), torch.ones(1, 5 + SEQ, dtype=torch.long)
    real[:, :5] = 0
    torch.testing.assert_close(encoder(padded, real)[:, 5:], encoder(ids), rtol=0, atol=1e-5)


def test_dropout_runs_in_training_mode_alone():
    encoder = TransformerEncoder(replace(CONFIG, dropout=0.3, attn_dropout=0.3))
    ids = torch.randint(101, (BATCH, SEQ))
    assert not torch.equal(encoder(ids), encoder(ids))
    encoder.eval()
    assert torch.equal(encoder(ids), encoder(ids))


def test_dropout_stands_where_bert_has_it(small_bert):
    """After the embeddings, on the weights, and after each sub-layer, each with its own rate."""
    config = replace(CONFIG, dropout=0.25, attn_dropout=0.125)
    encoder = TransformerEncoder(config)
    rates = [m.p for m in encoder.modules() if isinstance(m, nn.Dropout)]
    rates += [layer.attention.dropout for layer in encoder.layers]
    hf = small_bert(hidden_dropout_prob=0.25, attention_probs_dropout_prob=0.125)
    assert sorted(rates) == sorted(m.p for m in hf.modules() if isinstance(m, nn.Dropout))


def test_new_weights_are_drawn_as_wide_as_the_config_says():
    encoder = TransformerEncoder(replace(CONFIG, vocab_size=1009, d_model=96, d_ff=384))
    for module in encoder.modules():
        if isinstance(module, nn.Linear):
            assert module.bias.eq(0).all()
        if isinstance(module, nn.Linear | nn.Embedding) and module.weight.numel() > 9000:
            assert module.weight.std().item() == pytest.approx(0.3, rel=0.03)
    assert encoder.embeddings.tokens.weight[0].eq(0).all()


def test_bias_can_be_left_out():
    encoder = TransformerEncoder(replace(CONFIG, bias=False))
    assert all(m.bias is None for m in encoder.modules() if isinstance(m, nn.Linear))


def test_is_made_of_our_modules_and_torchs_elements_alone(trained):
    elements = (nn.Linear, nn.Embedding, nn.LayerNorm, nn.Dropout, nn.GELU, nn.ModuleList)
    for module in trained.modules():
        assert type(module) in elements or type(module).__module__.startswith("glassformer.")


def test_runs_on_the_device_of_its_input():
    with torch.device("meta"):
        encoder = TransformerEncoder(CONFIG)
    ids = torch.zeros(BATCH, SEQ, dtype=torch.int64, device="meta")
    assert encoder(ids, ids, ids).device.type == "meta"


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_equals_itself_on_a_gpu(trained, batch):
    with torch.no_grad():
        expected = trained(**batch)
        output = load(default_checkpoint()).cuda()(**batch.to("cuda")).cpu()
    real = batch["attention_mask"].bool().cpu()
    torch.testing.assert_close(output[real], expected[real], rtol=0, atol=1e-4)


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_attention_mask_of_another_shape(self):
        ids = torch.zeros(BATCH, SEQ, dtype=torch.int64)
        with pytest.raises(ValueError, match=r"attention_mask of shape \(5, 7\) .* \(5, 11\)"):
            TransformerEncoder(CONFIG)(ids, ids[:, :7])

    def test_attention_mask_that_is_additive(self):
        ids = torch.zeros(BATCH, SEQ, dtype=torch.int64)
        with pytest.raises(ValueError, match=r"bool or integer.*got torch\.float32"):
            TransformerEncoder(CONFIG)(ids, torch.zeros(BATCH, SEQ))

    def test_empty_batch_and_empty_sequence(self):
        with pytest.raises(ValueError, match=r"not be empty, got shape \(0, 11\)"):
            TransformerEncoder(CONFIG)(torch.zeros(0, SEQ, dtype=torch.int64))
        with pytest.raises(ValueError, match=r"not be empty, got shape \(5, 0\)"):
            TransformerEncoder(CONFIG)(torch.zeros(BATCH, 0, dtype=torch.int64))

    def test_token_beyond_the_vocabulary(self):
        with pytest.raises(ValueError, match=r"between 0 and 100, got \[101\]"):
            TransformerEncoder(CONFIG)(torch.full((BATCH, SEQ), 101))
        with pytest.raises(ValueError, match=r"between 0 and 100, got \[-1\]"):
            TransformerEncoder(CONFIG)(torch.full((BATCH, SEQ), -1))

    def test_token_type_beyond_the_table(self):
        ids = torch.zeros(BATCH, SEQ, dtype=torch.int64)
        with pytest.raises(ValueError, match=r"token_type_ids must be between 0 and 2, got \[3\]"):
            TransformerEncoder(CONFIG)(ids, token_type_ids=ids + 3)

    def test_more_tokens_than_positions(self):
        ids = torch.zeros(BATCH, 24, dtype=torch.int64)
        assert TransformerEncoder(CONFIG)(ids[:, :23]).shape == (BATCH, 23, 21)
        with pytest.raises(ValueError, match=r"24 tokens is longer than max_positions \(23\)"):
            TransformerEncoder(CONFIG)(ids)

    def test_mask_of_another_rank(self):
        ids = torch.zeros(BATCH, SEQ, dtype=torch.int64)
        with pytest.raises(ValueError, match=r"attention_mask of shape \(5, 1, 11\) .* \(5, 11\)"):
            TransformerEncoder(CONFIG)(ids, ids[:, None])

    def test_heads_that_do_not_divide(self):
        with pytest.raises(ValueError, match=r"num_heads \(4\) must divide d_model \(21\)"):
            TransformerEncoder(replace(CONFIG, num_heads=4))
