"""Preference tuning on a small scale: a model learns which of two answers a reader prefers."""

import copy
from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor, nn

from glassbook.corpora.story_requests import Request, encode_answers
from glassbook.recipes.gpt import build as build_gpt
from glassbook.recipes.registry import recipe_key
from glassbook.recipes.supervised_tuning import tuning_pairs
from glassbook.recipes.trained_models import trained
from glassformer.training.loop import Report, fit_language_model
from glassformer.training.losses import answer_log_probs, dpo_loss

STEPS, BATCH = 60, 16
RATE, TOO_HIGH = 0.0002, 0.001
BETA = 0.1

LIKED = "green"
COLORS = ("red", "blue", "green", "white", "black")
UNSEEN_TOPICS = ("bird", "bicycle")  # no preference is about them

Preference = tuple[Request, str, str]
"""A request, the answer that a reader chose, and the one that was rejected."""


def prefer(
    model: nn.Module, preferences: Sequence[Preference], report: Report, rate: float = RATE
) -> list[float]:
    """Train on preferences, with the model's initial state as reference; return the losses."""
    device = next(model.parameters()).device
    reference = copy.deepcopy(model).eval().requires_grad_(False)
    sides = [[(request, pair[k]) for request, *pair in preferences] for k in (0, 1)]
    encoded = [[part.to(device) for part in encode_answers(pairs)] for pairs in sides]
    batches = (torch.randint(len(preferences), (BATCH,)) for _ in range(STEPS))

    def log_probs(one: nn.Module, ids: Tensor, answer: Tensor) -> Tensor:
        return answer_log_probs(one(ids), ids, answer)

    def loss_fn(rows: Int[Tensor, " batch"]) -> Tensor:
        chosen, rejected = [(ids[rows], answer[rows]) for ids, answer in encoded]
        return dpo_loss(
            log_probs(model, *chosen),
            log_probs(model, *rejected),
            log_probs(reference, *chosen),
            log_probs(reference, *rejected),
            beta=BETA,
        )

    return fit_language_model(model, batches, loss_fn, steps=STEPS, rate=rate, report=report)


def preferences_for(topics: Sequence[str]) -> list[Preference]:
    """Pair each green story on these topics with the next non-green one for the same request."""
    by_request: dict[Request, list[str]] = {}
    for request, text in tuning_pairs():
        if request.topic in topics:
            by_request.setdefault(request, []).append(text)
    found = []
    for request, texts in by_request.items():
        liked = [text for text in texts if LIKED in text]
        others = [text for text in texts if LIKED not in text]
        found += [(request, *pair) for pair in zip(liked, others, strict=False)]
    return found


def colored_topics() -> list[str]:
    """Return the topics whose stories all name a color, in the order they first occur."""
    texts: dict[str, list[str]] = {}
    for request, text in tuning_pairs():
        texts.setdefault(request.topic, []).append(text)
    return [
        topic
        for topic, told in texts.items()
        if all(any(color in text.split() for color in COLORS) for text in told)
    ]


def build() -> nn.ModuleList:
    """Return three copies of the model tuned on requests, to be trained in three ways."""
    models = nn.ModuleList(build_gpt() for _ in range(3))
    for model in models:
        model.load_state_dict(trained("supervised_tuning").model.get_submodule("0").state_dict())
    return models


def train(models: nn.Module, report: Report) -> dict[str, list[float]]:
    """Train on the reader's choices, on random choices, and on the reader's at too high a rate."""
    learner, control, hasty = models.children()
    preferences = preferences_for([t for t in colored_topics() if t not in UNSEEN_TOPICS])
    heads = torch.rand(len(preferences)) < 0.5
    by_coin = [
        (request, second, first) if head else (request, first, second)
        for (request, first, second), head in zip(preferences, heads.tolist(), strict=True)
    ]
    return {
        "reader": prefer(learner, preferences, report),
        "coin": prefer(control, by_coin, report),
        "too fast": prefer(hasty, preferences, report, rate=TOO_HIGH),
    }


def data() -> Iterable[bytes]:
    """Return the preferences, and the key of the model tuned on requests."""
    return [
        repr(preferences_for(colored_topics())).encode(),
        recipe_key("supervised_tuning").encode(),
    ]
