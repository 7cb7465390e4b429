"""Exercise for the chapter on training in practice."""

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_clip"]


def _gradients(draw: Draw):
    yield "three gradients, longer than the limit of 0.5", ([draw(3), draw(5, 7), draw(11)], 0.5)
    yield "three gradients, shorter than the limit of 20.5", ([draw(3), draw(5, 7), draw(11)], 20.5)
    short = [draw(3) for _ in range(5)]
    together = "five gradients, longer than the limit of 2.5 only when taken together"
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
    asks="the gradients, all scaled by one factor if together they're longer than the limit",
    reference=_by_torch,
    examples=_gradients,
    mistakes={
        "You clip each tensor by its own length, which changes the direction of the step. Measure "
        "all of them together.": lambda g, max_norm: [_cut([x], x.norm(), max_norm)[0] for x in g],
        "You clamp each number to the limit, which changes the direction of the step. Scale all "
        "numbers by one factor.": lambda g, max_norm: [x.clamp(-max_norm, max_norm) for x in g],
        "You stretch short gradients to the limit: the factor should be at most one.": (
            lambda g, max_norm: [x * max_norm / _length(g) for x in g]
        ),
        "You compare the limit with the sum of the squares: take the square root first.": (
            lambda g, max_norm: _cut(g, _length(g) ** 2, max_norm)
        ),
        "You use the largest number as the length: add up all squares, and take the root.": (
            lambda g, max_norm: _cut(g, max(x.abs().max() for x in g), max_norm)
        ),
        "You divide long gradients by their length, so they end up with length one, whatever the "
        "limit.": lambda g, max_norm: [x / _length(g) if _length(g) > max_norm else x for x in g],
        "You add up the tensors' lengths. Lengths don't add, but their squares do.": (
            lambda g, max_norm: _cut(g, sum(x.norm() for x in g), max_norm)
        ),
        "You throw long gradients away; keep their direction, and shorten them.": (
            lambda g, max_norm: [x * float(_length(g) <= max_norm) for x in g]
        ),
    },
)
