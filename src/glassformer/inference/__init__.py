"""Use a trained model: generate text, fast or not, and embed sentences."""

from glassformer.inference.drafts import PromptLookup
from glassformer.inference.generation import generate, stream, token_probabilities
from glassformer.inference.sentence_embeddings import embed, mean_pool
from glassformer.inference.speculative import speculative_generate

__all__ = [
    "PromptLookup",
    "embed",
    "generate",
    "mean_pool",
    "speculative_generate",
    "stream",
    "token_probabilities",
]
