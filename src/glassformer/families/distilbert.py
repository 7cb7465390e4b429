"""DistilBERT: a BERT with half the layers and no token types."""

from types import MappingProxyType

from glassformer.encoder import TransformerEncoder
from glassformer.families.family import Architecture, Family, nested
from glassformer.families.fields import HARMLESS, ONE_STACK
from glassformer.heads import TransformerForMaskedLM

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

DISTILBERT = Family(
    model_type="distilbert",
    honored={
        "vocab_size": "vocab_size",
        "dim": "d_model",
        "hidden_size": "d_model",
        "n_heads": "num_heads",
        "num_attention_heads": "num_heads",
        "n_layers": "num_layers",
        "num_hidden_layers": "num_layers",
        "hidden_dim": "d_ff",
        "activation": "activation",
        "max_position_embeddings": "max_positions",
        "dropout": "dropout",
        "attention_dropout": "attn_dropout",
        "tie_word_embeddings": "tie_embeddings",
        "pad_token_id": "pad_token_id",
        "initializer_range": "initializer_range",
    },
    refused_unless=ONE_STACK,
    harmless=HARMLESS
    | {"id2label", "num_labels", "qa_dropout", "seq_classif_dropout", "tie_weights_"}
    | {"sinusoidal_pos_embds"},  # it fills a new table of positions; a saved one is as it is
    # DistilBERT's own defaults, and what is so in every DistilBERT.
    base={"num_layers": 6, "num_token_types": 0},
    architectures={
        "DistilBertModel": Architecture(build=TransformerEncoder, names=NAMES),
        "DistilBertForMaskedLM": Architecture(
            build=TransformerForMaskedLM,
            names={
                **nested("distilbert", "encoder", NAMES),
                "vocab_transform": "transform",
                "vocab_layer_norm": "norm",
                "vocab_projector": "decoder",
            },
        ),
    },
)
