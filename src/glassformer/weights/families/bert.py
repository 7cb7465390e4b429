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
from glassformer.weights.families.family import Architecture, Family, nested
from glassformer.weights.families.fields import HARMLESS, ONE_STACK

# Our names for the fields of BERT and of models built like it.
HONORED = MappingProxyType(
    {
        "vocab_size": "vocab_size",
        "hidden_size": "d_model",
        "num_attention_heads": "num_heads",
        "num_hidden_layers": "num_layers",
        "intermediate_size": "d_ff",
        "hidden_act": "activation",
        "layer_norm_eps": "norm_eps",
        "max_position_embeddings": "max_positions",
        "type_vocab_size": "num_token_types",
        "hidden_dropout_prob": "dropout",
        "attention_probs_dropout_prob": "attn_dropout",
        "classifier_dropout": "classifier_dropout",
        "tie_word_embeddings": "tie_embeddings",
        "id2label": "num_labels",
        "num_labels": "num_labels",
        "pad_token_id": "pad_token_id",
        "initializer_range": "initializer_range",
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
UNDER_A_HEAD = MappingProxyType(nested("bert", "encoder", NAMES))

BERT = Family(
    model_type="bert",
    honored=HONORED,
    refused_unless=REFUSED_UNLESS,
    harmless=HARMLESS,
    architectures={
        "BertModel": Architecture(
            build=TransformerEncoder,
            names=NAMES,
            unused=frozenset(
                {"pooler.dense.weight", "pooler.dense.bias", "embeddings.position_ids"}
            ),
        ),
        "BertForSequenceClassification": Architecture(
            build=TransformerForSequenceClassification,
            names={
                **UNDER_A_HEAD,
                "bert.pooler.dense": "pooler.dense",
                "classifier": "classifier",
            },
            unused=frozenset({"bert.embeddings.position_ids"}),
        ),
        "BertForMaskedLM": Architecture(
            build=TransformerForMaskedLM,
            names={
                **UNDER_A_HEAD,
                "cls.predictions.transform.dense": "transform",
                "cls.predictions.transform.LayerNorm": "norm",
                "cls.predictions.decoder": "decoder",
            },
            aliases={"cls.predictions.bias": "cls.predictions.decoder.bias"},
            unused=frozenset(
                {
                    "bert.embeddings.position_ids",
                    "bert.pooler.dense.weight",
                    "bert.pooler.dense.bias",
                    "cls.seq_relationship.weight",
                    "cls.seq_relationship.bias",
                }
            ),
        ),
        "BertForTokenClassification": Architecture(
            build=TransformerForTokenClassification,
            names={**UNDER_A_HEAD, "classifier": "classifier"},
            unused=frozenset(
                {
                    "bert.embeddings.position_ids",
                    "bert.pooler.dense.weight",
                    "bert.pooler.dense.bias",
                }
            ),
        ),
        "BertForNextSentencePrediction": Architecture(
            build=TransformerForNextSentencePrediction,
            names={
                **UNDER_A_HEAD,
                "bert.pooler.dense": "pooler.dense",
                "cls.seq_relationship": "classifier",
            },
            unused=frozenset({"bert.embeddings.position_ids"}),
        ),
    },
)
