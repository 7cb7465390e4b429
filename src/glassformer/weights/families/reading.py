"""Translation of a transformers configuration, field by field."""

import warnings
from collections.abc import Mapping
from typing import Any

from glassformer.models.config import HFConfig, TransformerConfig
from glassformer.weights.families.family import Family, Fields
from glassformer.weights.families.fields import HF_ACTIVATIONS
from glassformer.weights.families.registry import FAMILIES


def read_choices(hf_config: HFConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of our configuration that a transformers configuration sets.

    A field that transformers' own class of this type lacks cannot change the model's output. So
    it's ignored, and one warning names all such fields. Quantized weights get their own.

    Raises:
        ValueError: The model type is unknown, or a field asks for something unsupported.
    """
    given = dict(hf_config if isinstance(hf_config, Mapping) else hf_config.to_dict())
    family = FAMILIES.get(str(given.get("model_type")))
    if family is None:
        model_type = given.get("model_type")
        raise ValueError(f"model_type ({model_type!r}) must be one of {', '.join(FAMILIES)}")
    if quantization := given.pop("quantization_config", None):
        warnings.warn(
            f"quantization_config ({quantization}) is not honored: weights that are stored in "
            "fewer bits can't be loaded",
            stacklevel=3,  # where TransformerConfig.from_hf is called
        )
    fields = family.settle(given)
    _refuse(family, family.refused_unless, fields)
    ignored = {name for name in fields if name not in family}
    if not isinstance(hf_config, Mapping):
        # A class newer than our tables may have fields that they lack.
        defaults = type(hf_config)().to_dict()
        _refuse(family, {name: defaults[name] for name in ignored & defaults.keys()}, fields)
        ignored -= defaults.keys()
    if ignored:
        warnings.warn(
            f"ignored: the {family.model_type} configuration of transformers has no field "
            f"{', '.join(sorted(ignored))}",
            stacklevel=3,  # where TransformerConfig.from_hf is called
        )
    return _stacks(family, fields)


def _refuse(family: Family, refused_unless: Mapping[str, Any], fields: Fields) -> None:
    for name, only in refused_unless.items():
        if name in fields and fields[name] != only:
            raise ValueError(
                f"{name} ({fields[name]!r}) is not honored for {family.model_type}: glassformer "
                f"builds only {only!r}"
            )


def _stacks(family: Family, given: Fields) -> dict[str, Any]:
    """Return our fields that these set, with the second stack's in their own configuration."""
    chosen: dict[str, Any] = dict(family.base)
    origin: dict[str, str] = {}
    for name, here in family.honored.items():
        if name not in given or (here == "num_labels" and given[name] is None):
            continue
        for field in (here,) if isinstance(here, str) else here:
            value = _converted(name, field.rpartition(".")[2], given[name])
            if field in origin and chosen[field] != value:
                raise ValueError(
                    f"{name} ({given[name]!r}) and {origin[field]} ({given[origin[field]]!r}) "
                    "must agree"
                )
            chosen[field], origin[field] = value, name
    first = {field: value for field, value in chosen.items() if "." not in field}
    second = {field.partition(".")[2]: value for field, value in chosen.items() if "." in field}
    return first | ({"decoder": TransformerConfig(**second)} if second else {})


def _converted(name: str, here: str, value: Any) -> Any:
    """Return a value as our field `here` has it, where transformers writes it differently."""
    if here == "activation":
        if value not in HF_ACTIVATIONS:
            raise ValueError(f"{name} ({value!r}) must be one of {', '.join(HF_ACTIVATIONS)}")
        return HF_ACTIVATIONS[value]
    if here == "num_labels":
        return value if isinstance(value, int) else len(value)
    if here == "pad_token_id":  # some configs write -1 for a missing token
        return None if value is None or value < 0 else value
    return float(value) if here == "rope_theta" else value
