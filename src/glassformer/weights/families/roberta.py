"""RoBERTa: a BERT whose position ids start after the padding token's id."""

from types import MappingProxyType

from glassformer.models.encoder import TransformerEncoder
from glassformer.models.task_models import (
    TransformerForMaskedLM,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
)
from glassformer.weights.families import bert
from glassformer.weights.families.family import Architecture, Family, Fields, with_heads
from glassformer.weights.families.fields import HARMLESS

# RoBERTa's own defaults, and the values that every RoBERTa has.
BASE = MappingProxyType({"vocab_size": 50265, "pad_token_id": 1, "skip_padding": True})
ROWS = 512  # in the position table, unless max_position_embeddings says otherwise

# In transformers, the rows up to the padding token's are for padding, whose vectors are never
# read; see `skip_padding` in the config.
POSITIONS = "embeddings.position_embeddings.weight"


def settle(fields: Fields) -> Fields:
    """Count positions without the rows up to `pad_token_id`, which belong to no token.

    Raises:
        ValueError: There is no padding token.
    """
    padding = fields.get("pad_token_id", BASE["pad_token_id"])
    if padding is None:
        raise ValueError("pad_token_id (None) must be a token: positions are counted from it")
    rows = fields.get("max_position_embeddings", ROWS)
    return {**fields, "max_position_embeddings": rows - padding - 1}


ROBERTA = Family(
    model_type="roberta",
    honored={name: bert.HONORED[name] for name in bert.HONORED if name != "hidden_act"},
    refused_unless={
        **bert.REFUSED_UNLESS,
        "hidden_act": "gelu",  # the masked-language head always has it
    },
    harmless=HARMLESS,
    base=BASE,
    settle=settle,
    architectures=with_heads(
        "RobertaModel",
        Architecture(
            TransformerEncoder,
            bert.NAMES,
            past_padding=frozenset({POSITIONS}),
            unused=bert.UNUSED,
        ),
        there="roberta",
        here="encoder",
        heads={
            "RobertaForSequenceClassification": Architecture(
                TransformerForSequenceClassification,
                {"classifier.dense": "pooler.dense", "classifier.out_proj": "classifier"},
            ),
            "RobertaForTokenClassification": Architecture(
                TransformerForTokenClassification, {"classifier": "classifier"}
            ),
            "RobertaForMaskedLM": Architecture(
                TransformerForMaskedLM,
                {
                    "lm_head.dense": "transform",
                    "lm_head.layer_norm": "norm",
                    "lm_head.decoder": "decoder",
                },
                aliases={"lm_head.bias": "lm_head.decoder.bias"},
            ),
        },
    ),
)
