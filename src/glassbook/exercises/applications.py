"""Exercises for the chapter on searching by meaning."""

import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_nearest"]


def _shelves(draw: Draw):
    yield "two questions, and the three nearest of eleven", (draw(2, 5), draw(11, 5), 3)
    yield "three questions, and the five nearest of thirteen", (draw(3, 7), draw(13, 7), 5)


def _cosines(questions, passages):
    return F.cosine_similarity(questions[:, None], passages[None], dim=-1)


check_nearest = Exercise(
    asks="for each question, the indices of the k nearest passages, nearest first",
    reference=lambda questions, passages, k: _cosines(questions, passages).argsort(
        dim=1, descending=True
    )[:, :k],
    examples=_shelves,
    mistakes={
        "These are dot products, which favor long vectors: divide each vector by its length.": (
            lambda q, p, k: (q @ p.mT).topk(k).indices
        ),
        "These are the farthest passages: the larger the cosine, the nearer.": (
            lambda q, p, k: _cosines(q, p).topk(k, largest=False).indices
        ),
        "The nearest one comes last.": lambda q, p, k: _cosines(q, p).topk(k).indices.flip(1),
        "These are the cosines; return the passages' indices.": (
            lambda q, p, k: _cosines(q, p).topk(k).values
        ),
        "Your passage indices start at 1; they should start at 0.": (
            lambda q, p, k: _cosines(q, p).topk(k).indices + 1
        ),
        "You use the same order for all questions; each question should have its own.": (
            lambda q, p, k: _cosines(q, p).mean(0).topk(k).indices.expand(len(q), -1)
        ),
        "You return the nearest questions for each passage; it's the other way around.": (
            lambda q, p, k: _cosines(p, q).argsort(dim=1, descending=True)[:, :k]
        ),
        "These are the nearest by distance. Distance depends on the vectors' lengths; a "
        "cosine doesn't.": (
            lambda q, p, k: (q[:, None] - p).norm(dim=-1).topk(k, largest=False).indices
        ),
    },
)
