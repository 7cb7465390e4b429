"""The model families of transformers that glassformer supports, one file for each.

To add a family, write a file that ends with a `Family`, and add that to `FAMILIES`.
"""

from glassformer.weights.families.bert import BERT
from glassformer.weights.families.distilbert import DISTILBERT, DistilBertClassifier, ReluPooler
from glassformer.weights.families.family import Architecture, Family, nested
from glassformer.weights.families.fields import HF_ACTIVATIONS
from glassformer.weights.families.gpt2 import GPT2
from glassformer.weights.families.llama import LLAMA
from glassformer.weights.families.marian import MARIAN
from glassformer.weights.families.mistral import MISTRAL
from glassformer.weights.families.qwen2 import QWEN2
from glassformer.weights.families.qwen3 import QWEN3
from glassformer.weights.families.reading import choices
from glassformer.weights.families.registry import ARCHITECTURES, FAMILIES, read_choices
from glassformer.weights.families.roberta import ROBERTA
from glassformer.weights.families.vit import VIT

__all__ = [
    "ARCHITECTURES",
    "BERT",
    "DISTILBERT",
    "FAMILIES",
    "GPT2",
    "HF_ACTIVATIONS",
    "LLAMA",
    "MARIAN",
    "MISTRAL",
    "QWEN2",
    "QWEN3",
    "ROBERTA",
    "VIT",
    "Architecture",
    "DistilBertClassifier",
    "Family",
    "ReluPooler",
    "choices",
    "nested",
    "read_choices",
]
