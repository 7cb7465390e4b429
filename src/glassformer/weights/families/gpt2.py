"""GPT-2: a decoder-only, pre-norm model with learned positions."""

from types import MappingProxyType

from glassformer.models.decoder import TransformerDecoder
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.weights.families.family import Architecture, Family, Fields, Names, with_heads
from glassformer.weights.families.fields import (
    BODY,
    GENERATION,
    HARMLESS,
    ONE_STACK,
    VOCABULARY,
    WHOLE_PAST,
)

NAMES: Names = MappingProxyType(
    {
        "wte": "embeddings.tokens",
        "wpe": "embeddings.positions.table",
        "h.*.ln_1": "layers.*.attention_norm",
        "h.*.attn.c_attn": (
            "layers.*.attention.q_proj",
            "layers.*.attention.k_proj",
            "layers.*.attention.v_proj",
        ),
        "h.*.attn.c_proj": "layers.*.attention.out_proj",
        "h.*.ln_2": "layers.*.feed_forward_norm",
        "h.*.mlp.c_fc": "layers.*.feed_forward.up_proj",
        "h.*.mlp.c_proj": "layers.*.feed_forward.down_proj",
        "ln_f": "final_norm",
    }
)
TRANSPOSED = ("h.*.attn.c_attn", "h.*.attn.c_proj", "h.*.mlp.c_fc", "h.*.mlp.c_proj")


def settle(fields: Fields) -> Fields:
    """Set the feed-forward network's width to four times `n_embd`, unless `n_inner` gives it."""
    width = fields.get("n_embd", fields.get("hidden_size"))
    if fields.get("n_inner") is None and width is not None:
        return {**fields, "n_inner": 4 * width}
    return fields


GPT2 = Family(
    model_type="gpt2",
    honored={
        "n_embd": "d_model",
        "n_head": "num_heads",
        "n_layer": "num_layers",
        **{**BODY, **VOCABULARY},
        "n_inner": "d_ff",
        "n_positions": "max_positions",
        "max_position_embeddings": "max_positions",
        "activation_function": "activation",
        "layer_norm_epsilon": "norm_eps",
        "resid_pdrop": "dropout",
        "attn_pdrop": "attn_dropout",
    },
    refused_unless={
        **ONE_STACK,
        **WHOLE_PAST,
        "add_cross_attention": False,
        "reorder_and_upcast_attn": False,
        "scale_attn_by_inverse_layer_idx": False,
        "scale_attn_weights": True,
    },
    harmless=HARMLESS
    | GENERATION
    | {"id2label", "num_labels", "embd_pdrop", "n_ctx", "summary_type", "summary_use_proj"}
    | {"summary_activation", "summary_first_dropout", "summary_proj_to_labels"},
    # GPT-2's own defaults, and the values that every GPT-2 has.
    base={
        **{"vocab_size": 50257, "max_positions": 1024, "activation": "gelu_tanh"},
        **{"norm_eps": 1e-5, "norm_first": True, "num_token_types": 0},
        **{"embedding_norm": False, "pad_token_id": None},
    },
    settle=settle,
    architectures=with_heads(
        "GPT2Model",
        Architecture(
            TransformerDecoder,
            NAMES,
            transposed=frozenset(TRANSPOSED),
            unused=frozenset({"h.*.attn.bias", "h.*.attn.masked_bias"}),  # old causal masks
        ),
        there="transformer",
        here="decoder",
        heads={"GPT2LMHeadModel": Architecture(TransformerForCausalLM, {"lm_head": "lm_head"})},
    ),
)
