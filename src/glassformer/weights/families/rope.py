"""The fields of rotary positions, which transformers keeps in three places and in five variants."""

from collections.abc import Mapping
from dataclasses import MISSING
from dataclasses import fields as dataclass_fields
from typing import Any

from glassformer.layers.rope_scaling import SCALINGS, DynamicScaling, LinearScaling, RopeScaling
from glassformer.weights.families.family import Fields

# The fields of rotary positions are in one of these, or next to them.
ROPE_HOLDERS = ("rope_parameters", "rope_scaling")
ROPE_FIELDS = ("rope_theta", "partial_rotary_factor", "original_max_position_embeddings")
# The fields of a scaling have transformers' names, except one.
ORIGINAL = "original_max_position_embeddings"


def settle(max_positions: int, fields: Fields) -> Fields:
    """Combine all fields that scale rotary positions into one `rope_scaling`.

    A field that's given but not read keeps its full name, such as `rope_scaling.low_freq_factor`.
    If no field gives the maximum length, it's `max_positions`.

    Raises:
        ValueError: A field has different values in two places, or this scaling isn't supported.
    """
    rope = _rope_fields(fields)
    kind, _ = rope.pop("rope_type", ("default", ""))
    if kind != "default" and kind not in SCALINGS:
        known = ", ".join(map(repr, ("default", *SCALINGS)))
        raise ValueError(
            f"rope_type ({kind!r}) is not honored for {fields['model_type']}: glassformer "
            f"builds only {known}"
        )
    settled = {
        name: value for name, value in fields.items() if name not in (*ROPE_HOLDERS, *ROPE_FIELDS)
    }
    longest = fields.get("max_position_embeddings", max_positions)
    scaling = None if kind == "default" else _scaling(kind, rope, longest)
    settled["rope_scaling"] = scaling
    if isinstance(scaling, LinearScaling | DynamicScaling):
        # It's the length of the training texts, and generation may go beyond it.
        settled["max_position_embeddings"] = int(scaling.factor * longest)
    for name, (value, place) in rope.items():
        if name in ("rope_theta", "partial_rotary_factor"):
            settled[name] = value
        elif name not in _scaling_fields(kind):
            settled[place] = value
    return settled


def _rope_fields(fields: Fields) -> dict[str, tuple[Any, str]]:
    """Return the value of each field of rotary positions, and its place."""
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
    """Return the scaling of this kind, with transformers' defaults for missing fields."""
    given = {name: value for name, (value, _) in rope.items() if value is not None}
    given = {ORIGINAL: longest, **given}
    given["max_position_embeddings"] = longest
    if kind == "yarn":
        given.setdefault("factor", longest / given[ORIGINAL])
    read = _scaling_fields(kind)
    required = [one.name for one in dataclass_fields(SCALINGS[kind]) if one.default is MISSING]
    missing = [there for there, here in read.items() if here in required and there not in given]
    if missing:
        raise ValueError(f"rope_type ({kind!r}) needs {', '.join(missing)}: the config has none")
    return SCALINGS[kind](
        **{here: _number(here, given[there]) for there, here in read.items() if there in given}
    )


def _scaling_fields(kind: str) -> dict[str, str]:
    """Return our name for each field that this kind of scaling reads."""
    if kind not in SCALINGS:
        return {}
    length = "max_position_embeddings" if kind == "dynamic" else ORIGINAL
    names = [one.name for one in dataclass_fields(SCALINGS[kind])]
    return {length if name == "original_max_positions" else name: name for name in names}


def _number(here: str, value: Any) -> Any:
    """Return a number as a float, unless it's a count of positions or a bool."""
    counts = here == "original_max_positions" or isinstance(value, bool)
    return value if counts else float(value)
