"""Supervised tuning on a small scale: a GPT that tells stories learns to answer requests."""

from collections.abc import Iterable, Sequence

import torch
from jaxtyping import Int
from torch import Tensor, nn

from glassbook.corpora.stories import make_stories
from glassbook.corpora.story_requests import Request, encode_answers, request_for
from glassbook.recipes.gpt import build as build_gpt
from glassbook.recipes.registry import recipe_key
from glassbook.recipes.trained_models import trained
from glassformer.training.loop import Report, fit_language_model
from glassformer.training.losses import answer_loss

STEPS, BATCH = 250, 16
RATE = 0.003


def tune(model: nn.Module, pairs: Sequence[tuple[Request, str]], report: Report) -> list[float]:
    """Train on pairs of a request and its answer; return the loss of each step."""
    device = next(model.parameters()).device
    ids, answer = (part.to(device) for part in encode_answers(pairs))
    batches = (torch.randint(len(ids), (BATCH,)) for _ in range(STEPS))

    def loss_fn(rows: Int[Tensor, " batch"]) -> Tensor:
        return answer_loss(model(ids[rows]), ids[rows], answer[rows])

    return fit_language_model(model, batches, loss_fn, steps=STEPS, rate=RATE, report=report)


def tuning_pairs() -> list[tuple[Request, str]]:
    """Return the training stories, each with its request, except those for held-out requests."""
    pairs = [(request_for(story), story.text) for story in make_stories()["train"]]
    return [(request, text) for request, text in pairs if not request.held_out]


def build() -> nn.ModuleList:
    """Return two copies of the stories' GPT: one to tune, and one as the control."""
    models = nn.ModuleList(build_gpt() for _ in range(2))
    for model in models:
        model.load_state_dict(trained("gpt").model.state_dict())
    return models


def train(models: nn.Module, report: Report) -> dict[str, list[float]]:
    """Tune one model on the pairs, and the control on the same stories with shuffled requests."""
    tuned, control = models.children()
    pairs = tuning_pairs()
    requests, texts = zip(*pairs, strict=True)
    order = torch.randperm(len(pairs)).tolist()
    shuffled = [(requests[row], text) for row, text in zip(order, texts, strict=True)]
    return {"tuned": tune(tuned, pairs, report), "shuffled": tune(control, shuffled, report)}


def data() -> Iterable[bytes]:
    """Return the pairs, and the key of the stories' GPT."""
    return [repr(tuning_pairs()).encode(), recipe_key("gpt").encode()]
