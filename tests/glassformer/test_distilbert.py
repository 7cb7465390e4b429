"""Our encoder as a DistilBERT: a BERT with half the layers and no token types."""

import pytest
import torch
from transformers import DistilBertConfig, DistilBertForMaskedLM, DistilBertModel

from glassformer import (
    TransformerConfig,
    TransformerEncoder,
    TransformerForMaskedLM,
    from_hf,
    load,
    record,
)
from glassformer.families import ARCHITECTURES, FAMILIES

BATCH, SEQ, VOCAB = 5, 11, 101
MAKES = {DistilBertModel: TransformerEncoder, DistilBertForMaskedLM: TransformerForMaskedLM}
EACH = pytest.mark.parametrize("make", MAKES)
CLOSE = {"rtol": 0.0, "atol": 2e-5}


def distilbert(make, **changes):
    sizes = {"vocab_size": VOCAB, "dim": 21, "n_heads": 3, "n_layers": 2, "hidden_dim": 37}
    theirs = make(DistilBertConfig(**sizes, max_position_embeddings=23, **changes)).eval()
    with torch.no_grad():
        for parameter in theirs.parameters():
            parameter.normal_(0.0, 0.3)
    return theirs


def answer(theirs, ids, mask):
    output = theirs(ids, attention_mask=mask)
    return output["logits" if "logits" in output else "last_hidden_state"]


@pytest.fixture
def ids():
    return torch.randint(VOCAB, (BATCH, SEQ))


@pytest.fixture
def real():
    return torch.arange(SEQ) < torch.tensor([[11], [7], [3], [2], [1]])


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"activation": "relu", "tie_word_embeddings": False, "pad_token_id": 5},
        {"sinusoidal_pos_embds": True},
    ],
    ids=str,
)
@EACH
def test_equals_transformers_live_and_from_a_directory(make, changes, ids, real, tmp_path):
    theirs = distilbert(make, **changes)
    theirs.save_pretrained(tmp_path)
    ours = from_hf(theirs)
    assert type(ours) is MAKES[make]
    with torch.no_grad():
        output = ours(ids, real.long())
        expected = answer(theirs, ids, real.long())
        torch.testing.assert_close(output[real], expected[real], **CLOSE)
        assert load(tmp_path)(ids, real.long()).equal(output)


def test_every_hidden_state_is_equal(ids, real):
    theirs = distilbert(DistilBertModel)
    ours = from_hf(theirs)
    with torch.no_grad(), record(ours) as tape:
        ours(ids, real)
        expected = theirs(ids, attention_mask=real.long(), output_hidden_states=True)
    for our, their in zip(tape.hidden_states, expected.hidden_states, strict=True):
        torch.testing.assert_close(our[real], their[real], **CLOSE)


@EACH
def test_every_name_in_the_table_is_a_module_on_both_sides(make):
    hf = distilbert(make)
    ours = {name for name, _ in from_hf(hf).named_modules()}
    theirs = {name for name, _ in hf.named_modules()}
    for there, here in ARCHITECTURES[make.__name__].names.items():
        assert there.replace("*", "0") in theirs
        assert here.replace("*", "0") in ours


def test_defaults_are_those_of_transformers():
    expected = TransformerConfig.from_hf({"model_type": "distilbert"})
    assert TransformerConfig.from_hf(DistilBertConfig()) == expected
    assert (expected.num_layers, expected.num_token_types, expected.norm_eps) == (6, 0, 1e-12)


def test_every_field_is_accounted_for_once():
    known = FAMILIES["distilbert"]
    lists = [set(known.honored), set(known.refused_unless), set(known.harmless)]
    assert set(DistilBertConfig().to_dict()) <= set.union(*lists)
    assert sum(map(len, lists)) == len(set.union(*lists))


def test_it_has_no_token_types(ids):
    with pytest.raises(ValueError, match=r"num_token_types is 0: there is no table"):
        from_hf(distilbert(DistilBertModel))(ids, token_type_ids=torch.zeros_like(ids))


def test_what_is_not_built_is_refused():
    with pytest.raises(ValueError, match=r"activation \('mish'\) must be one of gelu,"):
        TransformerConfig.from_hf({"model_type": "distilbert", "activation": "mish"})
