"""All families, and the one that a configuration belongs to."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from glassformer.models.config import HFConfig
from glassformer.weights.families.bert import BERT
from glassformer.weights.families.distilbert import DISTILBERT
from glassformer.weights.families.family import Architecture, Family
from glassformer.weights.families.gpt2 import GPT2
from glassformer.weights.families.llama import LLAMA
from glassformer.weights.families.marian import MARIAN
from glassformer.weights.families.mistral import MISTRAL
from glassformer.weights.families.qwen2 import QWEN2
from glassformer.weights.families.qwen3 import QWEN3
from glassformer.weights.families.reading import choices
from glassformer.weights.families.roberta import ROBERTA
from glassformer.weights.families.vit import VIT

FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        one.model_type: one
        for one in (
            *(BERT, GPT2, DISTILBERT, ROBERTA, LLAMA, MARIAN),
            *(MISTRAL, QWEN2, QWEN3, VIT),
        )
    }
)
"""Each family by the model type that a `config.json` names."""

ARCHITECTURES: Mapping[str, Architecture] = MappingProxyType(
    {name: built for one in FAMILIES.values() for name, built in one.architectures.items()}
)
"""Each supported class by its name in transformers."""


def read_choices(hf_config: HFConfig | Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of our configuration that a transformers configuration sets.

    Raises:
        ValueError: the model type is unknown, or a field asks for something unsupported.
    """
    given = hf_config if isinstance(hf_config, Mapping) else hf_config.to_dict()
    family = FAMILIES.get(str(given.get("model_type")))
    if family is None:
        model_type = given.get("model_type")
        raise ValueError(f"model_type ({model_type!r}) must be one of {', '.join(FAMILIES)}")
    return choices(family, hf_config)
