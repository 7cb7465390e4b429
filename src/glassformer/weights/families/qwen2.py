"""Qwen2: a Llama whose projections to queries, keys, and values have biases."""

from functools import partial

from glassformer.weights.families import llama, rope
from glassformer.weights.families.family import Family, Fields
from glassformer.weights.families.fields import WHOLE_PAST

MAX_POSITIONS = 32768

# Qwen2's own defaults, and the values that every Qwen2 has.
BASE = {
    **llama.BASE,
    **{"vocab_size": 151936, "d_ff": 22016, "num_kv_heads": 32, "max_positions": MAX_POSITIONS},
    **{"qkv_bias": True},
}
REFUSED_UNLESS = {
    **llama.REFUSED_UNLESS,
    **{name: only for name, only in WHOLE_PAST.items() if name != "sliding_window"},
    "use_sliding_window": False,
}
# These describe a window that isn't used.
NO_EFFECT = llama.NO_EFFECT | {"sliding_window", "max_window_layers"}


def settle(model_type: str, fields: Fields) -> Fields:
    """Drop `layer_types` if all layers attend to the whole past."""
    settled = rope.settle(model_type, MAX_POSITIONS, fields)
    if set(settled.get("layer_types") or ()) <= {"full_attention"}:
        settled.pop("layer_types", None)
    return settled


QWEN2 = Family(
    model_type="qwen2",
    honored=llama.HONORED,
    refused_unless=REFUSED_UNLESS,
    harmless=NO_EFFECT,
    base=BASE,
    settle=partial(settle, "qwen2"),
    architectures=llama.architectures("Qwen2", llama.NAMES),
)
