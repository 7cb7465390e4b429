"""Qwen3: a Llama whose queries and keys are normalized, head by head."""

from functools import partial
from types import MappingProxyType

from glassformer.weights.families import llama, qwen2
from glassformer.weights.families.family import Family

NAMES = MappingProxyType(
    {
        **llama.NAMES,
        "layers.*.self_attn.q_norm": "layers.*.attention.q_norm",
        "layers.*.self_attn.k_norm": "layers.*.attention.k_norm",
    }
)

QWEN3 = Family(
    model_type="qwen3",
    honored={**llama.HONORED, "attention_bias": ("qkv_bias", "out_bias")},
    refused_unless=qwen2.REFUSED_UNLESS,
    harmless=qwen2.NO_EFFECT,
    # Qwen3's own defaults, and the values that every Qwen3 has.
    base={**qwen2.BASE, "head_dim": 128, "qkv_bias": None, "qk_norm": True},
    settle=partial(qwen2.settle, "qwen3"),
    architectures=llama.architectures("Qwen3", NAMES),
)
