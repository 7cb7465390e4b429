"""BERT's second task on a small scale: does the second half of a story follow the first?"""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from glassbook.corpora.stories import Story, encode, make_stories, story_bytes
from glassbook.recipes.registry import recipe_key
from glassbook.recipes.trained_models import trained
from glassformer.models.task_models import (
    TransformerForMaskedLM,
    TransformerForNextSentencePrediction,
)
from glassformer.training.loop import Report, fit_language_model

STEPS, BATCH = 250, 16
RATE = 0.002

FOLLOWS, STRANGE = 0, 1  # the labels


def build() -> TransformerForNextSentencePrediction:
    """Return the body that learned to guess hidden words, with a new pooler and a new head."""
    body = trained("masked_lm").model
    assert isinstance(body, TransformerForMaskedLM)
    model = TransformerForNextSentencePrediction(body.config)
    model.encoder.load_state_dict(body.encoder.state_dict())
    return model


def pair_up(
    stories: Sequence[Story], generator: torch.Generator | None = None
) -> tuple[list[tuple[str, str]], Int[Tensor, " pairs"]]:
    """Pair each story's first half with its own or another story's second half; return labels too.

    Both kinds are equally likely.

    Source: Devlin et al. 2019, section 3.1, task 2.
    """
    labels = torch.randint(2, (len(stories),), generator=generator)
    steps = torch.randint(1, len(stories), (len(stories),), generator=generator)
    others = (torch.arange(len(stories)) + steps) % len(stories)  # never a story itself
    pairs = []
    for story, other, label in zip(stories, others.tolist(), labels.tolist(), strict=True):
        second = (stories[other] if label == STRANGE else story).halves[1]
        pairs.append((story.halves[0], second))
    return pairs, labels


def train(model: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train on pairs, drawn anew at each step; return each step's loss."""
    stories = make_stories()["train"]
    device = next(model.parameters()).device

    batches = ([stories[row] for row in torch.randperm(len(stories))[:BATCH]] for _ in range(STEPS))

    def loss_fn(batch: list[Story]) -> Tensor:
        pairs, labels = pair_up(batch)
        inputs = {name: part.to(device) for name, part in encode(pairs).items()}
        return cross_entropy(model(**inputs), labels.to(device))

    losses = fit_language_model(model, batches, loss_fn, steps=STEPS, rate=RATE, report=report)
    return {"loss": losses}


def data() -> Iterable[bytes]:
    """Return the stories, and the key of the body."""
    return [story_bytes(), recipe_key("masked_lm").encode()]
