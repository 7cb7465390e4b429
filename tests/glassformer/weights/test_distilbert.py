"""Our encoder as a DistilBERT: a BERT with half the layers and no token types."""

from itertools import product

import pytest
import torch
import transformers
from small_models import CLOSE, VOCAB, answer, small_model

from glassformer import (
    TransformerConfig,
    TransformerEncoder,
    TransformerForMaskedLM,
    from_hf,
    load,
    record,
)
from glassformer.weights.families.distilbert import DistilBertClassifier

BATCH, SEQ = 5, 11
MAKES = {
    "DistilBertModel": TransformerEncoder,
    "DistilBertForMaskedLM": TransformerForMaskedLM,
    "DistilBertForSequenceClassification": DistilBertClassifier,
}


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (BATCH, SEQ))


@pytest.fixture
def real():
    return torch.arange(SEQ) < torch.tensor([[11], [7], [3], [2], [1]])


def test_equals_transformers_live_and_from_a_directory(ids, real, tmp_path, subtests):
    rows = [
        {},
        {"activation": "relu", "tie_word_embeddings": False, "pad_token_id": 5},
        {"sinusoidal_pos_embds": True},
        {"num_labels": 7},
    ]
    for changes, make in product(rows, MAKES):
        with subtests.test(changes=changes, make=make):
            theirs = small_model(make, **changes)
            theirs.save_pretrained(tmp_path)
            ours = from_hf(theirs)
            assert type(ours) is MAKES[make]
            with torch.no_grad():
                output = ours(ids, real.long())
                expected = answer(theirs, ids, attention_mask=real.long())
                assert load(tmp_path)(ids, real.long()).equal(output)
            if output.shape[:2] == real.shape:
                output, expected = output[real], expected[real]
            torch.testing.assert_close(output, expected, **CLOSE)


def test_every_hidden_state_is_equal(ids, real):
    theirs = small_model("DistilBertModel")
    ours = from_hf(theirs)
    with torch.no_grad(), record(ours) as tape:
        ours(ids, real)
        expected = theirs(ids, attention_mask=real.long(), output_hidden_states=True)
    for our, their in zip(tape.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(our[real], their[real], **CLOSE)


def test_defaults_are_those_of_transformers():
    expected = TransformerConfig.from_hf({"model_type": "distilbert"})
    assert TransformerConfig.from_hf(transformers.DistilBertConfig()) == expected
    assert (expected.num_layers, expected.num_token_types, expected.norm_eps) == (6, 0, 1e-12)


def test_the_dropout_of_a_classifier_is_its_own():
    theirs = small_model("DistilBertForSequenceClassification", seq_classif_dropout=0.375)
    assert from_hf(theirs).dropout.p == theirs.dropout.p == 0.375


def test_it_has_no_token_types(ids):
    with pytest.raises(ValueError, match=r"num_token_types is 0: there is no table"):
        from_hf(small_model("DistilBertModel"))(ids, token_type_ids=torch.zeros_like(ids))


def test_what_is_not_built_is_refused():
    with pytest.raises(ValueError, match=r"activation \('mish'\) must be one of gelu,"):
        TransformerConfig.from_hf({"model_type": "distilbert", "activation": "mish"})
