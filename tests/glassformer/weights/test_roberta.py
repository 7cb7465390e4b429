"""Our encoder as a RoBERTa: a BERT whose positions begin behind the padding token's."""

from itertools import product

import pytest
import torch
import transformers
from small_models import CLOSE, VOCAB, answer, small_model

from glassformer import (
    TransformerConfig,
    TransformerEncoder,
    TransformerForMaskedLM,
    TransformerForSequenceClassification,
    from_hf,
    load,
    record,
)

BATCH, SEQ, PADDING = 5, 11, 1
MAKES = {
    "RobertaModel": TransformerEncoder,
    "RobertaForMaskedLM": TransformerForMaskedLM,
    "RobertaForSequenceClassification": TransformerForSequenceClassification,
}


def batch(padding=PADDING):
    """Ids padded on the right, none of the others the padding token, and which are real."""
    real = torch.arange(SEQ) < torch.tensor([[11], [7], [3], [2], [1]])
    ids = torch.randint(10, VOCAB, (BATCH, SEQ))
    return ids.masked_fill(~real, padding), real


def test_equals_transformers_live_and_from_a_directory(tmp_path, subtests):
    rows = [
        {},
        {"pad_token_id": 0, "tie_word_embeddings": False},
        {"pad_token_id": 4, "max_position_embeddings": 19, "type_vocab_size": 2},
        {"num_labels": 7, "layer_norm_eps": 0.1},
    ]
    for changes, make in product(rows, MAKES):
        with subtests.test(changes=changes, make=make):
            theirs = small_model(make, **changes)
            theirs.save_pretrained(tmp_path)
            ours = from_hf(theirs)
            assert type(ours) is MAKES[make]
            ids, real = batch(theirs.config.pad_token_id)
            with torch.no_grad():
                output = ours(ids, real.long())
                expected = answer(theirs, ids, attention_mask=real.long())
                assert load(tmp_path)(ids, real.long()).equal(output)
            if output.shape[:2] == real.shape:
                output, expected = output[real], expected[real]
            torch.testing.assert_close(output, expected, **CLOSE)


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


def test_every_hidden_state_is_equal():
    theirs = small_model("RobertaModel")
    ours = from_hf(theirs)
    ids, real = batch()
    with torch.no_grad(), record(ours) as tape:
        ours(ids, real)
        expected = theirs(ids, attention_mask=real.long(), output_hidden_states=True)
    for our, their in zip(tape.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(our[real], their[real], **CLOSE)


def test_the_rows_up_to_the_padding_tokens_are_no_positions():
    theirs = small_model("RobertaModel")
    table = from_hf(theirs).embeddings.positions.table.weight
    assert torch.equal(table, theirs.embeddings.position_embeddings.weight[PADDING + 1 :])


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


def test_defaults_are_those_of_transformers():
    expected = TransformerConfig.from_hf({"model_type": "roberta"})
    assert TransformerConfig.from_hf(transformers.RobertaConfig()) == expected
    assert expected.max_positions == 510


def test_what_is_not_built_is_refused(subtests):
    rows = [
        ("is_decoder", True, r"is_decoder \(True\) is not honored for roberta"),
        ("hidden_act", "relu", r"hidden_act \('relu'\) is not honored .* builds only 'gelu'"),
        ("pad_token_id", None, r"pad_token_id \(None\) must be a token"),
    ]
    for field, value, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            TransformerConfig.from_hf({"model_type": "roberta", field: value})
