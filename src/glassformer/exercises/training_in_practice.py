"""Exercise of the chapter on training in practice."""

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_clip"]

CHAPTER = "practice/training-in-practice.md"


def _gradients(draw: Draw):
    yield "three gradients, longer than the limit of 0.5", ([draw(3), draw(5, 7), draw(11)], 0.5)
    yield "three gradients, shorter than the limit of 20.5", ([draw(3), draw(5, 7), draw(11)], 20.5)
    short = [draw(3) for _ in range(5)]
    together = "five gradients, longer than the limit of 2.5 together, and none of them alone"
    yield together, ([2 * gradient / gradient.norm() for gradient in short], 2.5)


def _by_torch(gradients, max_norm):
    weights = [nn.Parameter(torch.zeros_like(gradient)) for gradient in gradients]
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient.clone()
    clip_grad_norm_(weights, max_norm)
    return [weight.grad for weight in weights]


def _length(gradients):
    return sum(gradient.square().sum() for gradient in gradients) ** 0.5


def _cut(gradients, length, max_norm):
    return [gradient * min(1.0, max_norm / length) for gradient in gradients]


check_clip = Exercise(
    asks="the gradients, all scaled by one factor if they are longer than the limit together",
    chapter=CHAPTER,
    reference=_by_torch,
    examples=_gradients,
    mistakes={
        "Each tensor is cut by its own length, which turns the direction of the step. Measure "
        "all of them together.": lambda g, max_norm: [_cut([x], x.norm(), max_norm)[0] for x in g],
        "Each number is clamped to the limit, which turns the direction of the step. Scale all "
        "by one factor.": lambda g, max_norm: [x.clamp(-max_norm, max_norm) for x in g],
        "Short gradients are stretched to the limit: the factor may be at most one.": (
            lambda g, max_norm: [x * max_norm / _length(g) for x in g]
        ),
        "The limit is compared with the sum of the squares: take the root.": (
            lambda g, max_norm: _cut(g, _length(g) ** 2, max_norm)
        ),
        "The largest number is taken for the length: square all, add them up, take the root.": (
            lambda g, max_norm: _cut(g, max(x.abs().max() for x in g), max_norm)
        ),
        "Long gradients are divided by their length, and end with length one whatever the limit "
        "is.": lambda g, max_norm: [x / _length(g) if _length(g) > max_norm else x for x in g],
        "The tensors' lengths are added up. Lengths don't add: their squares do.": (
            lambda g, max_norm: _cut(g, sum(x.norm() for x in g), max_norm)
        ),
        "Long gradients are thrown away: keep their direction, and shorten them.": (
            lambda g, max_norm: [x * float(_length(g) <= max_norm) for x in g]
        ),
    },
)
