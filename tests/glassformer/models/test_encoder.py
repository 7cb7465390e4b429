from dataclasses import replace
from itertools import product

import pytest
import torch
from torch import nn
from torch_layers import torch_stack

from glassformer import TransformerConfig, TransformerEncoder, load
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


def test_equals_torchs_stack(subtests):
    for norm_first, activation in product([False, True], ["relu", "gelu"]):
        with subtests.test(norm_first=norm_first, activation=activation):
            config = replace(CONFIG, norm_first=norm_first, activation=activation)
            ours = TransformerEncoder(config).double().eval()
            for parameter in ours.parameters():
                nn.init.normal_(parameter, std=0.3)
            ids = torch.randint(101, (BATCH, SEQ))
            real = torch.arange(SEQ) < torch.tensor([11, 7, 3, 2, 1])[:, None]
            expected = torch_stack(ours)(ours.embeddings(ids), src_key_padding_mask=~real)
            output = ours(ids, real.long())
            torch.testing.assert_close(output[real], expected[real], rtol=0, atol=1e-12)


def test_pre_norm_stack_ends_in_a_norm_and_post_norm_does_not_unless_asked_for():
    for norm_first, given, ends in [
        (False, None, False),
        (True, None, True),
        (True, False, False),
        (False, True, True),
    ]:
        encoder = TransformerEncoder(replace(CONFIG, norm_first=norm_first, final_norm=given))
        assert (encoder.final_norm is not None) is ends


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


def test_without_positions_shuffled_tokens_give_shuffled_vectors():
    """Equivariant, and not invariant: each vector moves with its token."""
    encoder = TransformerEncoder(CONFIG).double().eval()
    nn.init.zeros_(encoder.embeddings.positions.table.weight)
    ids = torch.randperm(101)[:SEQ][None]
    order = torch.randperm(SEQ)
    output, shuffled = encoder(ids), encoder(ids[:, order])
    torch.testing.assert_close(shuffled, output[:, order], rtol=0, atol=1e-12)
    assert (shuffled - output).abs().max() > 0.1


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


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_equals_itself_on_a_gpu(trained, batch):
    with torch.no_grad():
        expected = trained(**batch)
        output = load(default_checkpoint()).cuda()(**batch.to("cuda")).cpu()
    real = batch["attention_mask"].bool().cpu()
    torch.testing.assert_close(output[real], expected[real], rtol=0, atol=1e-4)


@pytest.mark.usefixtures("unhooked")
def test_what_does_not_fit_is_refused(subtests):
    ids = torch.zeros(BATCH, SEQ, dtype=torch.int64)
    rows = [
        ((ids, ids[:, :7]), r"attention_mask of shape \(5, 7\) .* \(5, 11\)"),
        ((ids, ids[:, None]), r"attention_mask of shape \(5, 1, 11\) .* \(5, 11\)"),
        ((ids, torch.zeros(BATCH, SEQ)), r"bool or integer.*got torch\.float32"),
    ]
    for given, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            TransformerEncoder(CONFIG)(*given)
