from dataclasses import replace
from itertools import product

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


def test_what_a_classifier_reads_is_dropped_at_its_own_rate(ids, subtests):
    kinds = (TransformerForSequenceClassification, TransformerForTokenClassification)
    for kind, (given, expected) in product(kinds, [(None, 0.25), (0.5, 0.5)]):
        with subtests.test(kind=kind, given=given):
            model = kind(replace(CONFIG, dropout=0.25, classifier_dropout=given))
            assert model.dropout.p == expected
            model.encoder.eval()
            assert not torch.equal(model(ids), model(ids))
            model.eval()
            assert torch.equal(model(ids), model(ids))


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
