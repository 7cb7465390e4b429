"""Mistral: a Llama whose tokens look back through a sliding window."""

from functools import partial

from glassformer.weights.families import llama
from glassformer.weights.families.family import Family
from glassformer.weights.families.fields import WHOLE_PAST
from glassformer.weights.families.rope import settle

MAX_POSITIONS = 131072

MISTRAL = Family(
    model_type="mistral",
    honored={**llama.HONORED, "sliding_window": "sliding_window"},
    refused_unless={
        **llama.REFUSED_UNLESS,
        **{name: only for name, only in WHOLE_PAST.items() if name != "sliding_window"},
    },
    harmless=llama.NO_EFFECT,
    # Mistral's own defaults, and the values that every Mistral has.
    base={
        **llama.BASE,
        **{"d_ff": 14336, "num_kv_heads": 8, "max_positions": MAX_POSITIONS},
        "sliding_window": 4096,
    },
    settle=partial(settle, "mistral", MAX_POSITIONS),
    architectures=llama.architectures("Mistral", llama.NAMES),
)
