"""Llama: a decoder-only model with rotary positions, RMS norms, a gate, and grouped queries."""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from glassformer.models.decoder import TransformerDecoder
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.weights.families.family import Architecture, Family, Names, nested
from glassformer.weights.families.fields import GENERATION, HARMLESS, ONE_STACK, WHOLE_PAST
from glassformer.weights.families.rope import settle

MAX_POSITIONS = 2048

# Llama's own defaults, and the values that every Llama has.
BASE = MappingProxyType(
    {
        **{"vocab_size": 32000, "d_model": 4096, "num_heads": 32, "num_layers": 32, "d_ff": 11008},
        **{"activation": "silu", "gated": True, "norm": "rms", "norm_eps": 1e-6},
        **{"norm_first": True, "positions": "rotary_halves", "max_positions": MAX_POSITIONS},
        **{"num_token_types": 0, "bias": False, "embedding_norm": False, "dropout": 0.0},
        **{"attn_dropout": 0.0, "tie_embeddings": False, "pad_token_id": None},
    }
)

NAMES = MappingProxyType(
    {
        "embed_tokens": "embeddings.tokens",
        "layers.*.input_layernorm": "layers.*.attention_norm",
        "layers.*.self_attn.q_proj": "layers.*.attention.q_proj",
        "layers.*.self_attn.k_proj": "layers.*.attention.k_proj",
        "layers.*.self_attn.v_proj": "layers.*.attention.v_proj",
        "layers.*.self_attn.o_proj": "layers.*.attention.out_proj",
        "layers.*.post_attention_layernorm": "layers.*.feed_forward_norm",
        "layers.*.mlp.gate_proj": "layers.*.feed_forward.gate_proj",
        "layers.*.mlp.up_proj": "layers.*.feed_forward.up_proj",
        "layers.*.mlp.down_proj": "layers.*.feed_forward.down_proj",
        "norm": "final_norm",
    }
)
# Frequencies in old checkpoints; here, they're computed.
UNUSED = "layers.*.self_attn.rotary_emb.inv_freq"

# Our names for the fields of Llama and of models built like it.
HONORED: Mapping[str, str] = MappingProxyType(
    {
        "vocab_size": "vocab_size",
        "hidden_size": "d_model",
        "num_attention_heads": "num_heads",
        "num_key_value_heads": "num_kv_heads",
        "head_dim": "head_dim",
        "num_hidden_layers": "num_layers",
        "intermediate_size": "d_ff",
        "hidden_act": "activation",
        "rms_norm_eps": "norm_eps",
        "max_position_embeddings": "max_positions",
        "rope_theta": "rope_theta",
        "rope_scaling": "rope_scaling",
        "attention_dropout": "attn_dropout",
        "tie_word_embeddings": "tie_embeddings",
        "pad_token_id": "pad_token_id",
        "initializer_range": "initializer_range",
    }
)
REFUSED_UNLESS: Mapping[str, Any] = MappingProxyType(
    {**ONE_STACK, "add_cross_attention": False, "partial_rotary_factor": 1.0}
)
NO_EFFECT = HARMLESS | GENERATION | {"id2label", "num_labels"}


def architectures(name: str, names: Names) -> Mapping[str, Architecture]:
    """Return a family's body and its language model, with the names of their weights."""
    return {
        f"{name}Model": Architecture(
            build=TransformerDecoder, names=names, unused=frozenset({UNUSED})
        ),
        f"{name}ForCausalLM": Architecture(
            build=TransformerForCausalLM,
            names={**nested("model", "decoder", names), "lm_head": "lm_head"},
            unused=frozenset({f"model.{UNUSED}"}),
        ),
    }


LLAMA = Family(
    model_type="llama",
    honored={**HONORED, "attention_bias": "bias", "mlp_bias": "bias"},
    refused_unless={**REFUSED_UNLESS, **WHOLE_PAST},
    harmless=NO_EFFECT | {"pretraining_tp"},
    base=BASE,
    settle=partial(settle, "llama", MAX_POSITIONS),
    architectures=architectures("Llama", NAMES),
)
