"""Our encoder as a RoBERTa and a DistilBERT; as a BERT it is compared in test_parity."""

from itertools import product

import pytest
import torch
from small_models import CLOSE, VOCAB, answer, small_model

from glassformer import (
    TransformerEncoder,
    TransformerForMaskedLM,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
    from_hf,
    load,
    record,
)
from glassformer.weights.families.distilbert import DistilBertClassifier

BATCH, SEQ, PADDING = 5, 11, 1
HEADS = {
    "Model": TransformerEncoder,
    "ForMaskedLM": TransformerForMaskedLM,
    "ForTokenClassification": TransformerForTokenClassification,
}
MAKES = {
    "Roberta": HEADS | {"ForSequenceClassification": TransformerForSequenceClassification},
    "DistilBert": HEADS | {"ForSequenceClassification": DistilBertClassifier},
}
CHOICES = {
    "Roberta": [
        {},
        {"pad_token_id": 0, "tie_word_embeddings": False},
        {"pad_token_id": 4, "max_position_embeddings": 19, "type_vocab_size": 2},
        {"num_labels": 7, "layer_norm_eps": 0.1},
    ],
    "DistilBert": [
        {},
        {"activation": "relu", "tie_word_embeddings": False, "pad_token_id": 5},
        {"sinusoidal_pos_embds": True},
        {"num_labels": 7},
    ],
}


def batch(padding=PADDING):
    """Ids padded on the right, none of the others the padding token, and which are real."""
    real = torch.arange(SEQ) < torch.tensor([[11], [7], [3], [2], [1]])
    ids = torch.randint(10, VOCAB, (BATCH, SEQ))
    return ids.masked_fill(~real, padding), real


def test_equals_transformers_live_and_from_a_directory(tmp_path, subtests):
    for family, heads in MAKES.items():
        for changes, (head, kind) in product(CHOICES[family], heads.items()):
            with subtests.test(family, changes=changes, head=head), torch.no_grad():
                theirs = small_model(family + head, **changes)
                theirs.save_pretrained(tmp_path)
                ours = from_hf(theirs)
                assert type(ours) is kind
                ids, real = batch(theirs.config.pad_token_id)
                given = {"attention_mask": real.long()}
                output = ours(ids, real.long())
                with record(ours) as tape:
                    ours(ids, real.long())
                states = theirs(ids, **given, output_hidden_states=True).hidden_states
                assert load(tmp_path)(ids, real.long()).equal(output)
                pairs = [(output, answer(theirs, ids, **given))]
                pairs += zip(tape.hidden_states, states, strict=True)
                for found, wanted in pairs:
                    if found.shape[:2] == real.shape:
                        found, wanted = found[real], wanted[real]
                    torch.testing.assert_close(found, wanted, **CLOSE)


def test_padding_takes_no_position_wherever_it_stands(subtests):
    for where in ["left", "both sides", "between"]:
        with subtests.test(where=where):
            theirs = small_model("RobertaModel")
            ids, real = batch()
            order = {
                "left": range(SEQ - 1, -1, -1),
                "both sides": [9, 0, 1, 2, 3, 4, 5, 6, 7, 8, 10],
            }
            order |= {"between": [0, 9, 1, 8, 2, 7, 3, 6, 4, 5, 10]}
            ids, real = ids[:, list(order[where])], real[:, list(order[where])]
            with torch.no_grad():
                output = from_hf(theirs)(ids, real)[real]
                expected = theirs(ids, attention_mask=real.long()).last_hidden_state[real]
            torch.testing.assert_close(output, expected, **CLOSE)


def test_the_longest_input_is_as_long_as_theirs():
    theirs = small_model("RobertaModel")
    ours, ids = from_hf(theirs), torch.randint(10, VOCAB, (BATCH, 12))
    with torch.no_grad():
        expected = theirs(ids[:, :SEQ]).last_hidden_state
        torch.testing.assert_close(ours(ids[:, :SEQ]), expected, **CLOSE)
    with pytest.raises(ValueError, match=r"12 tokens is longer than max_positions \(11\)"):
        ours(ids)
    with pytest.raises((IndexError, RuntimeError), match="index"):
        theirs(ids)


def test_what_a_distilbert_has_of_its_own():
    theirs = small_model("DistilBertForSequenceClassification", seq_classif_dropout=0.375)
    ours, ids = from_hf(theirs), torch.zeros(BATCH, SEQ, dtype=torch.int64)
    assert ours.dropout.p == theirs.dropout.p == 0.375
    with pytest.raises(ValueError, match=r"num_token_types is 0: there is no table"):
        ours.encoder(ids, token_type_ids=ids)
