"""Llama and its relatives: decoders with rotary positions, RMS norms, a gate, and grouped queries.

Mistral's tokens look back through a sliding window. Qwen2's projections to queries, keys, and
values have biases. Qwen3 normalizes queries and keys, head by head.
"""

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from glassformer.models.decoder import TransformerDecoder
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.weights.families import rope
from glassformer.weights.families.family import Architecture, Family, Fields, Names, with_heads
from glassformer.weights.families.fields import (
    BODY,
    GENERATION,
    HARMLESS,
    ONE_STACK,
    VOCABULARY,
    WHOLE_PAST,
)

# Each family's own defaults, and the values that every model of the family has.
LLAMA_BASE: Mapping[str, Any] = MappingProxyType(
    {
        **{"vocab_size": 32000, "d_model": 4096, "num_heads": 32, "num_layers": 32, "d_ff": 11008},
        **{"activation": "silu", "gated": True, "norm": "rms", "norm_eps": 1e-6},
        **{"norm_first": True, "positions": "rotary_halves", "max_positions": 2048},
        **{"num_token_types": 0, "bias": False, "embedding_norm": False, "dropout": 0.0},
        **{"attn_dropout": 0.0, "tie_embeddings": False, "pad_token_id": None},
    }
)
MISTRAL_BASE: Mapping[str, Any] = MappingProxyType(
    {
        **{**LLAMA_BASE, "d_ff": 14336, "num_kv_heads": 8, "max_positions": 131072},
        "sliding_window": 4096,
    }
)
QWEN2_BASE: Mapping[str, Any] = MappingProxyType(
    {
        **{**LLAMA_BASE, "vocab_size": 151936, "d_ff": 22016, "num_kv_heads": 32},
        **{"max_positions": 32768, "qkv_bias": True},
    }
)
QWEN3_BASE: Mapping[str, Any] = MappingProxyType(
    {**QWEN2_BASE, "head_dim": 128, "qkv_bias": None, "qk_norm": True}
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
QWEN3_NAMES = MappingProxyType(
    {
        **NAMES,
        "layers.*.self_attn.q_norm": "layers.*.attention.q_norm",
        "layers.*.self_attn.k_norm": "layers.*.attention.k_norm",
    }
)
# Frequencies in old checkpoints; here, they're computed.
UNUSED = frozenset({"layers.*.self_attn.rotary_emb.inv_freq"})

# Our names for the fields that all of them have.
HONORED: Mapping[str, str] = MappingProxyType(
    {
        **{**BODY, **VOCABULARY},
        "num_key_value_heads": "num_kv_heads",
        "head_dim": "head_dim",
        "intermediate_size": "d_ff",
        "hidden_act": "activation",
        "rms_norm_eps": "norm_eps",
        "max_position_embeddings": "max_positions",
        "rope_theta": "rope_theta",
        "rope_scaling": "rope_scaling",
        "attention_dropout": "attn_dropout",
    }
)
REFUSED_UNLESS: Mapping[str, Any] = MappingProxyType(
    {
        **{**ONE_STACK, **WHOLE_PAST},
        **{"add_cross_attention": False, "partial_rotary_factor": 1.0},
    }
)
# A window is honored in Mistral, and has no effect in Qwen, which doesn't use it.
REFUSED_BESIDES_WINDOWS: Mapping[str, Any] = MappingProxyType(
    {name: only for name, only in REFUSED_UNLESS.items() if name != "sliding_window"}
)
QWEN_REFUSED_UNLESS = MappingProxyType({**REFUSED_BESIDES_WINDOWS, "use_sliding_window": False})
NO_EFFECT = HARMLESS | GENERATION | {"id2label", "num_labels"}
QWEN_NO_EFFECT = NO_EFFECT | {"sliding_window", "max_window_layers"}


def architectures(name: str, names: Names = NAMES) -> Mapping[str, Architecture]:
    """Return a family's body and its language model, with the names of their weights."""
    return with_heads(
        f"{name}Model",
        Architecture(TransformerDecoder, names, unused=UNUSED),
        there="model",
        here="decoder",
        heads={f"{name}ForCausalLM": Architecture(TransformerForCausalLM, {"lm_head": "lm_head"})},
    )


def settle_qwen(fields: Fields) -> Fields:
    """Drop `layer_types` if all layers attend to the whole past."""
    settled = rope.settle(QWEN2_BASE["max_positions"], fields)
    if set(settled.get("layer_types") or ()) <= {"full_attention"}:
        settled.pop("layer_types", None)
    return settled


LLAMA = Family(
    model_type="llama",
    honored={**HONORED, "attention_bias": "bias", "mlp_bias": "bias"},
    refused_unless=REFUSED_UNLESS,
    harmless=NO_EFFECT | {"pretraining_tp"},
    base=LLAMA_BASE,
    settle=partial(rope.settle, LLAMA_BASE["max_positions"]),
    architectures=architectures("Llama"),
)
MISTRAL = Family(
    model_type="mistral",
    honored={**HONORED, "sliding_window": "sliding_window"},
    refused_unless=REFUSED_BESIDES_WINDOWS,
    harmless=NO_EFFECT,
    base=MISTRAL_BASE,
    settle=partial(rope.settle, MISTRAL_BASE["max_positions"]),
    architectures=architectures("Mistral"),
)
QWEN2 = Family(
    model_type="qwen2",
    honored=HONORED,
    refused_unless=QWEN_REFUSED_UNLESS,
    harmless=QWEN_NO_EFFECT,
    base=QWEN2_BASE,
    settle=settle_qwen,
    architectures=architectures("Qwen2"),
)
QWEN3 = Family(
    model_type="qwen3",
    honored={**HONORED, "attention_bias": ("qkv_bias", "out_bias")},
    refused_unless=QWEN_REFUSED_UNLESS,
    harmless=QWEN_NO_EFFECT,
    base=QWEN3_BASE,
    settle=settle_qwen,
    architectures=architectures("Qwen3", QWEN3_NAMES),
)
