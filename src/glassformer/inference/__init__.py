"""Use a trained model: generate text, fast or not, and embed sentences."""

from glassformer.inference.drafts import ModelDraft, PromptLookup, early_exit
from glassformer.inference.fast_decode import CachedRotary, Multiply, few_rows
from glassformer.inference.generation import (
    Beams,
    Choice,
    NextLogits,
    Start,
    beam_search,
    generate,
    stream,
    token_probabilities,
    write,
)
from glassformer.inference.logits_processors import (
    NoRepeatedNGrams,
    RepetitionPenalty,
    build_processors,
    process,
)
from glassformer.inference.sentence_embeddings import embed, mean_pool
from glassformer.inference.speculative import (
    Speculation,
    acceptance,
    crop,
    next_probabilities,
    remainder,
    speculative_generate,
    verify,
)
from glassformer.inference.stopping import Decodes, Ends

__all__ = [
    "Beams",
    "CachedRotary",
    "Choice",
    "Decodes",
    "Ends",
    "ModelDraft",
    "Multiply",
    "NextLogits",
    "NoRepeatedNGrams",
    "PromptLookup",
    "RepetitionPenalty",
    "Speculation",
    "Start",
    "acceptance",
    "beam_search",
    "build_processors",
    "crop",
    "early_exit",
    "embed",
    "few_rows",
    "generate",
    "mean_pool",
    "next_probabilities",
    "process",
    "remainder",
    "speculative_generate",
    "stream",
    "token_probabilities",
    "verify",
    "write",
]
