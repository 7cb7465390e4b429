"""BERT: an encoder with learned positions and token types."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from glassformer.models.encoder import TransformerEncoder
from glassformer.models.task_models import (
    TransformerForMaskedLM,
    TransformerForNextSentencePrediction,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
)
from glassformer.weights.families.family import Architecture, Family, with_heads
from glassformer.weights.families.fields import (
    BODY,
    ENCODER,
    HARMLESS,
    LABELS,
    ONE_STACK,
    VOCABULARY,
)

# Our names for the fields of BERT and of RoBERTa.
HONORED = MappingProxyType(
    {
        **{**BODY, **VOCABULARY, **LABELS, **ENCODER},
        "max_position_embeddings": "max_positions",
        "type_vocab_size": "num_token_types",
        "classifier_dropout": "classifier_dropout",
    }
)
REFUSED_UNLESS: Mapping[str, Any] = MappingProxyType(
    {
        **ONE_STACK,
        "add_cross_attention": False,
        "embedding_size": None,
        "is_decoder": False,
        "position_embedding_type": "absolute",
        "pruned_heads": {},
    }
)

NAMES = MappingProxyType(
    {
        "embeddings.word_embeddings": "embeddings.tokens",
        "embeddings.position_embeddings": "embeddings.positions.table",
        "embeddings.token_type_embeddings": "embeddings.token_types",
        "embeddings.LayerNorm": "embeddings.norm",
        "encoder.layer.*.attention.self.query": "layers.*.attention.q_proj",
        "encoder.layer.*.attention.self.key": "layers.*.attention.k_proj",
        "encoder.layer.*.attention.self.value": "layers.*.attention.v_proj",
        "encoder.layer.*.attention.output.dense": "layers.*.attention.out_proj",
        "encoder.layer.*.attention.output.LayerNorm": "layers.*.attention_norm",
        "encoder.layer.*.intermediate.dense": "layers.*.feed_forward.up_proj",
        "encoder.layer.*.output.dense": "layers.*.feed_forward.down_proj",
        "encoder.layer.*.output.LayerNorm": "layers.*.feed_forward_norm",
    }
)
# Weights in published files that not every head needs.
UNUSED = frozenset({"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"})

BERT = Family(
    model_type="bert",
    honored=HONORED,
    refused_unless=REFUSED_UNLESS,
    harmless=HARMLESS,
    architectures=with_heads(
        "BertModel",
        Architecture(TransformerEncoder, NAMES, unused=UNUSED),
        there="bert",
        here="encoder",
        heads={
            "BertForSequenceClassification": Architecture(
                TransformerForSequenceClassification,
                {"bert.pooler.dense": "pooler.dense", "classifier": "classifier"},
            ),
            "BertForTokenClassification": Architecture(
                TransformerForTokenClassification, {"classifier": "classifier"}
            ),
            "BertForMaskedLM": Architecture(
                TransformerForMaskedLM,
                {
                    "cls.predictions.transform.dense": "transform",
                    "cls.predictions.transform.LayerNorm": "norm",
                    "cls.predictions.decoder": "decoder",
                },
                aliases={"cls.predictions.bias": "cls.predictions.decoder.bias"},
                unused=frozenset({"cls.seq_relationship.weight", "cls.seq_relationship.bias"}),
            ),
            "BertForNextSentencePrediction": Architecture(
                TransformerForNextSentencePrediction,
                {"bert.pooler.dense": "pooler.dense", "cls.seq_relationship": "classifier"},
            ),
        },
    ),
)
