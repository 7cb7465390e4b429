"""All families and their architectures."""

from collections.abc import Mapping
from types import MappingProxyType

from glassformer.weights.families.bert import BERT
from glassformer.weights.families.distilbert import DISTILBERT
from glassformer.weights.families.family import Architecture, Family
from glassformer.weights.families.gpt2 import GPT2
from glassformer.weights.families.llama import LLAMA, MISTRAL, QWEN2, QWEN3
from glassformer.weights.families.marian import MARIAN
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
