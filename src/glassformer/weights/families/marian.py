"""Marian: an encoder-decoder with sinusoidal positions and one token table for both stacks."""

from types import MappingProxyType

from glassformer.models.transformer import Transformer
from glassformer.weights.families.family import Architecture, Family, Fields, nested
from glassformer.weights.families.fields import GENERATION, HARMLESS, WHOLE_PAST

# Marian's own defaults for both of its stacks, and the values that every Marian model has.
BASE = {
    f"{stack}{name}": value
    for stack in ("", "decoder.")
    for name, value in {
        **{"vocab_size": 58101, "d_model": 1024, "num_heads": 16, "num_layers": 12, "d_ff": 4096},
        **{"max_positions": 1024, "attn_dropout": 0.0, "pad_token_id": 58100},
        **{"positions": "sinusoidal_halves", "num_token_types": 0, "embedding_norm": False},
        "norm_eps": 1e-5,
    }.items()
} | {"decoder.cross_attention": True, "share_embeddings": True, "output_bias": True}

LAYER = MappingProxyType(
    {
        "self_attn.q_proj": "attention.q_proj",
        "self_attn.k_proj": "attention.k_proj",
        "self_attn.v_proj": "attention.v_proj",
        "self_attn.out_proj": "attention.out_proj",
        "self_attn_layer_norm": "attention_norm",
        "fc1": "feed_forward.up_proj",
        "fc2": "feed_forward.down_proj",
        "final_layer_norm": "feed_forward_norm",
    }
)
CROSS_ATTENTION = MappingProxyType(
    {
        "encoder_attn.q_proj": "cross_attention.q_proj",
        "encoder_attn.k_proj": "cross_attention.k_proj",
        "encoder_attn.v_proj": "cross_attention.v_proj",
        "encoder_attn.out_proj": "cross_attention.out_proj",
        "encoder_attn_layer_norm": "cross_attention_norm",
    }
)


def settle(fields: Fields) -> Fields:
    """Set the decoder's vocabulary size to the encoder's, unless a field gives it."""
    if fields.get("decoder_vocab_size") is None and "vocab_size" in fields:
        return {**fields, "decoder_vocab_size": fields["vocab_size"]}
    return fields


MARIAN = Family(
    model_type="marian",
    honored={
        "vocab_size": "vocab_size",
        "decoder_vocab_size": "decoder.vocab_size",
        "d_model": ("d_model", "decoder.d_model"),
        "hidden_size": ("d_model", "decoder.d_model"),
        "encoder_attention_heads": "num_heads",
        "num_attention_heads": "num_heads",
        "decoder_attention_heads": "decoder.num_heads",
        "encoder_layers": "num_layers",
        "num_hidden_layers": "num_layers",
        "decoder_layers": "decoder.num_layers",
        "encoder_ffn_dim": "d_ff",
        "decoder_ffn_dim": "decoder.d_ff",
        "activation_function": ("activation", "decoder.activation"),
        "max_position_embeddings": ("max_positions", "decoder.max_positions"),
        "scale_embedding": ("scale_embeddings", "decoder.scale_embeddings"),
        "dropout": ("dropout", "decoder.dropout"),
        "attention_dropout": ("attn_dropout", "decoder.attn_dropout"),
        "pad_token_id": ("pad_token_id", "decoder.pad_token_id"),
        "init_std": ("initializer_range", "decoder.initializer_range"),
        "share_encoder_decoder_embeddings": "share_embeddings",
        "tie_word_embeddings": "tie_embeddings",
    },
    refused_unless={
        **WHOLE_PAST,
        "activation_dropout": 0.0,
        "add_bias_logits": False,
        "add_final_layer_norm": False,
        "decoder_layerdrop": 0.0,
        "encoder_layerdrop": 0.0,
        "is_decoder": False,
        "is_encoder_decoder": True,
        "normalize_before": False,
        "normalize_embedding": False,
        "per_layer_config": None,
        "static_position_embeddings": True,
    },
    harmless=HARMLESS
    | GENERATION
    | {"classifier_dropout", "classif_dropout", "id2label", "num_labels", "extra_pos_embeddings"},
    base=BASE,
    settle=settle,
    architectures={
        "MarianMTModel": Architecture(
            build=Transformer,
            names={
                "model.encoder.embed_tokens": "encoder.embeddings.tokens",
                "model.decoder.embed_tokens": "decoder.embeddings.tokens",
                **nested("model.encoder.layers.*", "encoder.layers.*", LAYER),
                **nested("model.decoder.layers.*", "decoder.layers.*", LAYER),
                **nested("model.decoder.layers.*", "decoder.layers.*", CROSS_ATTENTION),
                "lm_head": "lm_head",
            },
            rows={"final_logits_bias": "lm_head.bias"},
            aliases={"model.shared.weight": "model.encoder.embed_tokens.weight"},
            # Here, these are computed.
            unused=frozenset(
                {"model.encoder.embed_positions.weight", "model.decoder.embed_positions.weight"}
            ),
        ),
    },
)
