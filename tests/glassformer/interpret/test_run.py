"""`read` against the steps that it takes, done one by one with transformers."""

import pytest
import torch
import transformers
from torch import nn

from glassformer.interpret.run import read
from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder
from glassformer.weights.checkpoints import default_checkpoint, tokenizer
from glassformer.weights.pretrained import load


@pytest.fixture(scope="module")
def bert() -> nn.Module:
    """The same checkpoint in transformers, with weights to be returned."""
    return transformers.BertModel.from_pretrained(
        default_checkpoint(), attn_implementation="eager"
    ).eval()


def test_it_computes_what_transformers_computes(bert, subtests):
    for texts in [
        ("time flies like an arrow",),
        ("time flies", "a banana doesn't fly"),
        (["a", "b c d e"],),
    ]:
        with subtests.test(texts=texts):
            reading = read(*texts)
            encoding = tokenizer()(*texts, padding=True, return_tensors="pt")
            with torch.no_grad():
                expected = bert(**encoding, output_attentions=True)
            shown = encoding["attention_mask"].bool()
            torch.testing.assert_close(
                reading.output[shown], expected.last_hidden_state[shown], atol=2e-5, rtol=0
            )
            assert reading.encoding["input_ids"].equal(encoding["input_ids"])
            length = int(shown[0].sum())
            torch.testing.assert_close(
                reading.attentions[:, :, :length],
                torch.stack(expected.attentions)[:, 0, :, :length],
                atol=2e-5,
                rtol=0,
            )


def test_tokens_are_those_of_the_first_row() -> None:
    assert read(["so", "time flies"]).tokens == ["[CLS]", "so", "[SEP]", "[PAD]"]
    assert read("a", "b").tokens == ["[CLS]", "a", "[SEP]", "b", "[SEP]"]


def test_another_model_reads_and_is_returned() -> None:
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=len(tokenizer()), d_model=14, num_heads=7, d_ff=22, num_layers=3
    )
    model = TransformerEncoder(config).eval()
    reading = read("time flies", model=model)
    assert reading.model is model
    assert reading.output.shape == (1, 4, 14)
    assert reading.attentions.shape == (3, 7, 4, 4)


def test_each_call_has_a_model_of_its_own() -> None:
    first = read("time").model
    first.embeddings.positions.table.weight.data.zero_()
    torch.testing.assert_close(
        read("time").output, load(default_checkpoint())(**read("time").encoding), atol=2e-5, rtol=0
    )
