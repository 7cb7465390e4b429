"""Use a trained model: generate text, fast or not, and embed sentences."""

from glassformer.inference.drafts import PromptLookup
from glassformer.inference.fast_decode import CachedRotary, Multiply, few_rows
from glassformer.inference.generation import (
    Beams,
    DecoderStepper,
    GenerationState,
    Sampler,
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
from glassformer.inference.stopping import Decodes, StoppingCriteria

__all__ = [
    "Beams",
    "CachedRotary",
    "DecoderStepper",
    "Decodes",
    "GenerationState",
    "Multiply",
    "NoRepeatedNGrams",
    "PromptLookup",
    "RepetitionPenalty",
    "Sampler",
    "Speculation",
    "StoppingCriteria",
    "acceptance",
    "beam_search",
    "build_processors",
    "crop",
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
