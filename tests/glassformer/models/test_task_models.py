from dataclasses import replace

import pytest
import torch
from torch import nn

from glassformer import (
    TransformerConfig,
    TransformerForCausalLM,
    TransformerForMaskedLM,
    TransformerForNextSentencePrediction,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
)
from glassformer.models.task_models import Pooler

BATCH, SEQ = 5, 11
CONFIG = TransformerConfig(
    vocab_size=101,
    d_model=21,
    num_heads=3,
    num_layers=2,
    d_ff=37,
    max_positions=23,
    num_token_types=3,
    num_labels=7,
    initializer_range=0.3,
)
HEADS = (
    TransformerForSequenceClassification,
    TransformerForMaskedLM,
    TransformerForNextSentencePrediction,
)


@pytest.fixture
def ids():
    return torch.randint(101, (BATCH, SEQ))


def test_pooler_reads_the_first_token_alone():
    pooler = Pooler(CONFIG)
    hidden = torch.randn(BATCH, SEQ, 21, requires_grad=True)
    expected = (hidden[:, 0] @ pooler.dense.weight.t() + pooler.dense.bias).tanh()
    torch.testing.assert_close(pooler(hidden), expected)
    pooler(hidden).sum().backward()
    assert hidden.grad[:, 0].ne(0).all()
    assert hidden.grad[:, 1:].eq(0).all()


def test_logits_have_a_place_for_each_answer(ids):
    assert TransformerForSequenceClassification(CONFIG)(ids).shape == (BATCH, 7)
    assert TransformerForMaskedLM(CONFIG)(ids).shape == (BATCH, SEQ, 101)
    assert TransformerForNextSentencePrediction(CONFIG)(ids).shape == (BATCH, 2)


def test_masked_lm_compares_with_the_table_of_tokens(ids):
    model = TransformerForMaskedLM(CONFIG).eval()
    assert model.decoder.weight is model.encoder.embeddings.tokens.weight
    read = []
    model.decoder.register_forward_pre_hook(lambda _, inputs: read.append(inputs[0]))
    logits = model(ids)
    nn.init.normal_(model.decoder.bias)
    vector = model.encoder.embeddings.tokens.weight[13]
    torch.testing.assert_close(logits[..., 13], read[0] @ vector, rtol=0, atol=1e-5)
    torch.testing.assert_close(model(ids), logits + model.decoder.bias, rtol=0, atol=1e-5)


def test_masked_lm_can_have_a_table_of_its_own():
    model = TransformerForMaskedLM(replace(CONFIG, tie_embeddings=False))
    assert model.decoder.weight is not model.encoder.embeddings.tokens.weight
    tied = TransformerForMaskedLM(CONFIG)
    sizes = [sum(p.numel() for p in m.parameters()) for m in (model, tied)]
    assert sizes[0] - sizes[1] == 101 * 21


def test_new_heads_are_drawn_as_wide_as_the_config_says(subtests):
    for head in HEADS:
        with subtests.test(head=head):
            config = replace(CONFIG, d_model=96, num_labels=97, tie_embeddings=False)
            for name, module in head(config).named_children():
                for linear in module.modules() if name != "encoder" else ():
                    if isinstance(linear, nn.Linear):
                        assert linear.bias.eq(0).all()
                        drawn = linear.weight.std().item()
                        assert drawn == pytest.approx(
                            0.3, rel=0.15 if linear.out_features == 2 else 0.03
                        )


def test_what_the_classifier_reads_is_dropped_at_its_own_rate(subtests):
    for given, expected in [({}, 0.25), ({"classifier_dropout": 0.5}, 0.5)]:
        with subtests.test(given=given, expected=expected):
            config = replace(CONFIG, dropout=0.25, **given)
            model = TransformerForSequenceClassification(config)
            assert model.dropout.p == expected
            model.encoder.eval()
            ids = torch.randint(101, (BATCH, SEQ))
            assert not torch.equal(model(ids), model(ids))
            model.eval()
            assert torch.equal(model(ids), model(ids))


def test_bias_can_be_left_out():
    for head in HEADS:
        linears = [m for m in head(replace(CONFIG, bias=False)).modules() if type(m) is nn.Linear]
        assert all(linear.bias is None for linear in linears)


@pytest.mark.usefixtures("unhooked")
def test_bad_input_is_refused_as_the_encoder_refuses_it(ids, subtests):
    for head in HEADS:
        with subtests.test(head=head):
            with pytest.raises(ValueError, match=r"attention_mask of shape \(5, 7\) .* \(5, 11\)"):
                head(CONFIG)(ids, ids[:, :7])
            with pytest.raises(
                ValueError, match=r"input_ids must be between 0 and 100, got \[101\]"
            ):
                head(CONFIG)(torch.full_like(ids, 101))


def test_change_the_padding_and_nothing_moves(ids, subtests):
    """What is written where the mask is 0 reaches no answer; without the mask it reaches some."""
    for head in [*HEADS, TransformerForTokenClassification, TransformerForCausalLM]:
        with subtests.test(head=head):
            model = head(CONFIG).double().eval()
            real = torch.arange(SEQ) < torch.tensor([11, 7, 3, 2, 1])[:, None]
            expected = model(ids, real.long())
            changed = torch.where(real, ids, (ids + 1) % 101)
            output, unmasked = model(changed, real.long()), model(changed)
            if expected.ndim == 3:  # an answer for each token: those of padding are read by nobody
                expected, output, unmasked = expected[real], output[real], unmasked[real]
            torch.testing.assert_close(output, expected, rtol=0, atol=1e-12)
            is_causal = head is TransformerForCausalLM
            assert ((unmasked - expected).abs().max() > 1e-3) is not is_causal


def test_padding_on_the_left_of_a_text_changes_nothing(ids):
    """Here the causal mask alone would let every token read it."""
    model = TransformerForCausalLM(CONFIG).double().eval()
    mask = (torch.arange(SEQ) >= 3).long().expand(BATCH, -1)
    expected = model(ids, mask)[:, 3:]
    changed = torch.where(mask.bool(), ids, (ids + 1) % 101)
    torch.testing.assert_close(model(changed, mask)[:, 3:], expected, rtol=0, atol=1e-12)
    torch.testing.assert_close(model(ids[:, 3:]), expected, rtol=0, atol=1e-12)
    assert (model(changed)[:, 3:] - expected).abs().max() > 1e-3


def test_change_the_future_and_the_past_does_not_move(ids, subtests):
    for place in [1, 6, SEQ - 1]:
        with subtests.test(place=place):
            model = TransformerForCausalLM(CONFIG).double().eval()
            before = model(ids)
            changed = ids.clone()
            changed[:, place:] = (ids[:, place:] + 1) % 101
            after = model(changed)
            torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=1e-12)
            assert (after[:, place:] - before[:, place:]).abs().amax(2).min() > 1e-6
