"""Exercises of the chapter on applications."""

import torch.nn.functional as F

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_nearest"]

CHAPTER = "family/applications.md"


def _shelves(draw: Draw):
    yield "two questions, and the three nearest of eleven", (draw(2, 5), draw(11, 5), 3)
    yield "three questions, and the five nearest of thirteen", (draw(3, 7), draw(13, 7), 5)


def _cosines(questions, passages):
    return F.cosine_similarity(questions[:, None], passages[None], dim=-1)


check_nearest = Exercise(
    asks="for each question, the indices of the k nearest passages, nearest first",
    chapter=CHAPTER,
    reference=lambda questions, passages, k: _cosines(questions, passages).argsort(
        dim=1, descending=True
    )[:, :k],
    examples=_shelves,
    mistakes={
        "These are dot products, in which a long vector wins: divide both by their lengths.": (
            lambda q, p, k: (q @ p.mT).topk(k).indices
        ),
        "These are the farthest passages: the larger the cosine, the nearer.": (
            lambda q, p, k: _cosines(q, p).topk(k, largest=False).indices
        ),
        "The nearest one comes last.": lambda q, p, k: _cosines(q, p).topk(k).indices.flip(1),
        "These are the cosines; wanted are the numbers of the passages.": (
            lambda q, p, k: _cosines(q, p).topk(k).values
        ),
        "Passages are counted from 0, and yours from 1.": (
            lambda q, p, k: _cosines(q, p).topk(k).indices + 1
        ),
        "One order serves all questions; each has its own.": (
            lambda q, p, k: _cosines(q, p).mean(0).topk(k).indices.expand(len(q), -1)
        ),
        "For each passage the nearest questions are given; it is the other way round.": (
            lambda q, p, k: _cosines(p, q).argsort(dim=1, descending=True)[:, :k]
        ),
        "These are the nearest by distance. Length counts there; in a cosine it does not.": (
            lambda q, p, k: (q[:, None] - p).norm(dim=-1).topk(k, largest=False).indices
        ),
    },
)
