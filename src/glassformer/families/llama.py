"""Llama: a decoder alone, with rotary positions, RMS norms, a gate, and shared key-value heads."""

from collections.abc import Mapping
from dataclasses import MISSING
from dataclasses import fields as dataclass_fields
from types import MappingProxyType
from typing import Any

from glassformer.decoder import TransformerDecoder
from glassformer.families.family import Architecture, Family, Fields, nested
from glassformer.families.fields import GENERATION, HARMLESS, ONE_STACK, WHOLE_PAST
from glassformer.heads import TransformerForCausalLM
from glassformer.rope_scaling import SCALINGS, DynamicScaling, LinearScaling, RopeScaling

# Llama's own defaults, and what is so in every Llama.
BASE = MappingProxyType(
    {
        **{"vocab_size": 32000, "d_model": 4096, "num_heads": 32, "num_layers": 32, "d_ff": 11008},
        **{"activation": "silu", "gated": True, "norm": "rms", "norm_eps": 1e-6},
        **{"norm_first": True, "positions": "rotary_halves", "max_positions": 2048},
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
# Frequencies that old checkpoints hold, computed here as they were there.
UNUSED = "layers.*.self_attn.rotary_emb.inv_freq"

# Where the fields of rotary positions are: in one of these, or beside them.
ROPE_HOLDERS = ("rope_parameters", "rope_scaling")
ROPE_FIELDS = ("rope_theta", "partial_rotary_factor", "original_max_position_embeddings")
# What each kind of scaling reads, and what that is called here.
ORIGINAL = {"original_max_position_embeddings": "original_max_positions"}
SCALING_FIELDS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "linear": {"factor": "factor"},
        "dynamic": {"factor": "factor", "max_position_embeddings": "original_max_positions"},
        "llama3": {
            **{"factor": "factor", **ORIGINAL},
            **{"low_freq_factor": "low_freq_factor", "high_freq_factor": "high_freq_factor"},
        },
        "yarn": {
            **{"factor": "factor", **ORIGINAL, "truncate": "truncate"},
            **{"beta_fast": "beta_fast", "beta_slow": "beta_slow"},
            **{"attention_factor": "attention_factor"},
            **{"mscale": "mscale", "mscale_all_dim": "mscale_all_dim"},
        },
    }
)


def settle(fields: Fields) -> Fields:
    """Make one `rope_scaling` of all that says how rotary positions are scaled.

    What is said and not read keeps the name of its holder, `rope_scaling.low_freq_factor`.

    Raises:
        ValueError: a field has two values in two places, or the scaling is not built.
    """
    rope = _rope_fields(fields)
    kind, _ = rope.pop("rope_type", ("default", ""))
    if kind != "default" and kind not in SCALINGS:
        known = ", ".join(map(repr, ("default", *SCALINGS)))
        raise ValueError(
            f"rope_type ({kind!r}) is not honored for llama: glassformer builds {known} only"
        )
    settled = {
        name: value for name, value in fields.items() if name not in (*ROPE_HOLDERS, *ROPE_FIELDS)
    }
    longest = fields.get("max_position_embeddings", BASE["max_positions"])
    scaling = None if kind == "default" else _scaling(kind, rope, longest)
    settled["rope_scaling"] = scaling
    if isinstance(scaling, LinearScaling | DynamicScaling):
        # It says how long the texts of training were, and generation may go on beyond them.
        settled["max_position_embeddings"] = int(scaling.factor * longest)
    for name, (value, place) in rope.items():
        if name in ("rope_theta", "partial_rotary_factor"):
            settled[name] = value
        elif name not in SCALING_FIELDS.get(kind, ()):
            settled[place] = value
    return settled


def _rope_fields(fields: Fields) -> dict[str, tuple[Any, str]]:
    """Return the value of each field of rotary positions, and where it stands."""
    beside = {name: fields[name] for name in ROPE_FIELDS if name in fields}
    found = {name: (value, name) for name, value in beside.items()}
    for holder in ROPE_HOLDERS:
        for given, value in (fields.get(holder) or {}).items():
            name, place = "rope_type" if given == "type" else given, f"{holder}.{given}"
            other, its_place = found.setdefault(name, (value, place))
            if other != value:
                raise ValueError(f"{its_place} ({other!r}) and {place} ({value!r}) must be equal")
    return found


def _scaling(kind: str, rope: Mapping[str, tuple[Any, str]], longest: int) -> RopeScaling:
    """Return the scaling of this kind, with transformers' defaults for what is not given."""
    given = {name: value for name, (value, _) in rope.items() if value is not None}
    given = {"original_max_position_embeddings": longest, **given}
    given["max_position_embeddings"] = longest
    if kind == "yarn":
        given.setdefault("factor", longest / given["original_max_position_embeddings"])
    read = SCALING_FIELDS[kind]
    required = [one.name for one in dataclass_fields(SCALINGS[kind]) if one.default is MISSING]
    missing = [there for there, here in read.items() if here in required and there not in given]
    if missing:
        raise ValueError(f"rope_type ({kind!r}) needs {', '.join(missing)}: the config has none")
    return SCALINGS[kind](
        **{here: _number(here, given[there]) for there, here in read.items() if there in given}
    )


def _number(here: str, value: Any) -> Any:
    """Write 8 as 8.0, unless it counts positions."""
    counts = here == "original_max_positions" or isinstance(value, bool)
    return value if counts else float(value)


LLAMA = Family(
    model_type="llama",
    honored={
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
        "attention_bias": "bias",
        "mlp_bias": "bias",
        "tie_word_embeddings": "tie_embeddings",
        "pad_token_id": "pad_token_id",
        "initializer_range": "initializer_range",
    },
    refused_unless={
        **ONE_STACK,
        **WHOLE_PAST,
        "add_cross_attention": False,
        "partial_rotary_factor": 1.0,
    },
    harmless=HARMLESS | GENERATION | {"id2label", "num_labels", "pretraining_tp"},
    base=BASE,
    settle=settle,
    architectures={
        "LlamaModel": Architecture(
            build=TransformerDecoder, names=NAMES, unused=frozenset({UNUSED})
        ),
        "LlamaForCausalLM": Architecture(
            build=TransformerForCausalLM,
            names={**nested("model", "decoder", NAMES), "lm_head": "lm_head"},
            unused=frozenset({f"model.{UNUSED}"}),
        ),
    },
)
