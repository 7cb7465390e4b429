"""Labels of tokens, as transformers gives them."""

from itertools import product

import torch
from small_models import TOLERANCE, VOCAB, small_model

from glassformer import TransformerConfig, TransformerForTokenClassification, from_hf, load

BATCH, SEQ, LABELS = 5, 11, 7
MAKES = [
    "BertForTokenClassification",
    "DistilBertForTokenClassification",
    "RobertaForTokenClassification",
]


def test_logits_and_gradients_equal(tmp_path, subtests):
    for make, dtype in product(MAKES, TOLERANCE):
        with subtests.test(make=make, dtype=dtype):
            theirs = small_model(make, num_labels=LABELS).to(dtype)
            theirs.save_pretrained(tmp_path)
            ours = from_hf(theirs)
            assert type(ours) is TransformerForTokenClassification
            real = torch.arange(SEQ) < torch.tensor([[11], [7], [3], [2], [1]])
            ids = torch.randint(10, VOCAB, (BATCH, SEQ)).masked_fill(
                ~real, theirs.config.pad_token_id
            )
            output, expected = (
                ours(ids, real.long()),
                theirs(ids, attention_mask=real.long()).logits,
            )
            assert output.shape == (BATCH, SEQ, LABELS)
            assert (output - expected)[real].abs().max() < TOLERANCE[dtype]
            assert load(tmp_path)(ids, real.long()).equal(output)
            for logits in (output, expected):
                logits[real].square().mean().backward()
            for name in ("weight", "bias"):
                gradient = getattr(theirs.classifier, name).grad
                difference = getattr(ours.classifier, name).grad - gradient
                assert difference.abs().max() / gradient.abs().max() < TOLERANCE[dtype]


def test_the_rate_of_dropout_is_the_classifiers_where_it_has_one(subtests):
    for rate, expected in [(None, 0.25), (0.5, 0.5)]:
        with subtests.test(rate=rate, expected=expected):
            sizes = {
                "vocab_size": VOCAB,
                "d_model": 21,
                "num_heads": 3,
                "num_layers": 2,
                "d_ff": 37,
            }
            config = TransformerConfig(
                **sizes, dropout=0.25, classifier_dropout=rate, num_labels=LABELS
            )
            assert TransformerForTokenClassification(config).dropout.p == expected
