"""The model families of transformers that glassformer supports, one file for each.

To add a family, write a file that ends with a `Family`, and add that to `FAMILIES`.
"""

from glassformer.families.bert import BERT
from glassformer.families.distilbert import DISTILBERT, DistilBertClassifier, ReluPooler
from glassformer.families.family import Architecture, Family, nested
from glassformer.families.fields import HF_ACTIVATIONS
from glassformer.families.gpt2 import GPT2
from glassformer.families.llama import LLAMA
from glassformer.families.marian import MARIAN
from glassformer.families.mistral import MISTRAL
from glassformer.families.qwen2 import QWEN2
from glassformer.families.qwen3 import QWEN3
from glassformer.families.reading import choices
from glassformer.families.registry import ARCHITECTURES, FAMILIES, read_choices
from glassformer.families.roberta import ROBERTA
from glassformer.families.vit import VIT

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
