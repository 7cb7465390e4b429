"""DistilBERT: a BERT with half the layers and no token types."""

from types import MappingProxyType

import torch
from jaxtyping import Float
from torch import Tensor

from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder, init_weights
from glassformer.models.task_models import (
    Pooler,
    TransformerForMaskedLM,
    TransformerForSequenceClassification,
    TransformerForTokenClassification,
)
from glassformer.weights.families.family import Architecture, Family, with_heads
from glassformer.weights.families.fields import BODY, HARMLESS, LABELS, ONE_STACK, VOCABULARY

NAMES = MappingProxyType(
    {
        "embeddings.word_embeddings": "embeddings.tokens",
        "embeddings.position_embeddings": "embeddings.positions.table",
        "embeddings.LayerNorm": "embeddings.norm",
        "transformer.layer.*.attention.q_lin": "layers.*.attention.q_proj",
        "transformer.layer.*.attention.k_lin": "layers.*.attention.k_proj",
        "transformer.layer.*.attention.v_lin": "layers.*.attention.v_proj",
        "transformer.layer.*.attention.out_lin": "layers.*.attention.out_proj",
        "transformer.layer.*.sa_layer_norm": "layers.*.attention_norm",
        "transformer.layer.*.ffn.lin1": "layers.*.feed_forward.up_proj",
        "transformer.layer.*.ffn.lin2": "layers.*.feed_forward.down_proj",
        "transformer.layer.*.output_layer_norm": "layers.*.feed_forward_norm",
    }
)


class ReluPooler(Pooler):
    """The pooler of DistilBERT, which has a ReLU where BERT's has a tanh.

    Shapes: Hidden states (batch, seq, d_model) to (batch, d_model).

    Source: transformers 5.23, `DistilBertForSequenceClassification`.
    """

    def forward(self, hidden: Float[Tensor, "batch seq d_model"]) -> Float[Tensor, "batch d_model"]:
        """Take the first vector, project it, and set negative numbers to zero."""
        return torch.relu(self.dense(hidden[:, 0]))


class DistilBertClassifier(TransformerForSequenceClassification):
    """A classifier of whole sequences with the pooler of DistilBERT.

    Shapes: Ids, attention mask, and token types (batch, seq); logits (batch, num_labels).

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> DistilBertClassifier(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 2])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__(config)
        self.pooler = ReluPooler(config)
        init_weights(self.pooler, config.initializer_range)


DISTILBERT = Family(
    model_type="distilbert",
    honored={
        "dim": "d_model",
        "n_heads": "num_heads",
        "n_layers": "num_layers",
        **{**BODY, **VOCABULARY, **LABELS},
        "hidden_dim": "d_ff",
        "activation": "activation",
        "max_position_embeddings": "max_positions",
        "dropout": "dropout",
        "attention_dropout": "attn_dropout",
        "seq_classif_dropout": "classifier_dropout",
    },
    refused_unless=ONE_STACK,
    harmless=HARMLESS
    | {"qa_dropout", "tie_weights_"}
    | {"sinusoidal_pos_embds"},  # it only fills a new table of positions, not a saved one
    # DistilBERT's own defaults, and the values that every DistilBERT has.
    base={"num_layers": 6, "num_token_types": 0, "classifier_dropout": 0.2},
    architectures=with_heads(
        "DistilBertModel",
        Architecture(TransformerEncoder, NAMES),
        there="distilbert",
        here="encoder",
        heads={
            "DistilBertForSequenceClassification": Architecture(
                DistilBertClassifier,
                {"pre_classifier": "pooler.dense", "classifier": "classifier"},
            ),
            "DistilBertForTokenClassification": Architecture(
                TransformerForTokenClassification, {"classifier": "classifier"}
            ),
            "DistilBertForMaskedLM": Architecture(
                TransformerForMaskedLM,
                {
                    "vocab_transform": "transform",
                    "vocab_layer_norm": "norm",
                    "vocab_projector": "decoder",
                },
            ),
        },
    ),
)
