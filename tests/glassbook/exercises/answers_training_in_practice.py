"""Right and wrong answers to the exercise on training in practice."""

import torch
from answers import Answers


def flattened(gradients):
    return torch.cat([gradient.flatten() for gradient in gradients])


def clip(gradients, max_norm, *, length=None):
    """Cut as one long vector, then take it apart again."""
    every = flattened(gradients)
    length = torch.linalg.vector_norm(every) if length is None else length(every)
    if length > max_norm:
        every = every / length * max_norm
    parts = every.split([gradient.numel() for gradient in gradients])
    return [part.view_as(g) for part, g in zip(parts, gradients, strict=True)]


def one_by_one(gradients, max_norm):
    return [clip([gradient], max_norm)[0] for gradient in gradients]


def always(gradients, max_norm):
    total = torch.linalg.vector_norm(flattened(gradients))
    return [max_norm * gradient / total for gradient in gradients]


def to_one(gradients, max_norm):
    total = torch.linalg.vector_norm(flattened(gradients)).item()
    return [gradient / total if total > max_norm else gradient.clone() for gradient in gradients]


def added_up(gradients, max_norm):
    total = sum(torch.linalg.vector_norm(gradient).item() for gradient in gradients)
    return [gradient * (max_norm / max(total, max_norm)) for gradient in gradients]


def dropped(gradients, max_norm):
    too_long = flattened(gradients).square().sum() > max_norm**2
    return [torch.zeros_like(g) if too_long else g.clone() for g in gradients]


TRAINING_IN_PRACTICE = {
    "check_clip": Answers(
        right=clip,
        wrong={
            "its own length": one_by_one,
            "clamp each number": lambda gradients, max_norm: [
                torch.minimum(torch.maximum(g, -torch.full_like(g, max_norm)), 0 * g + max_norm)
                for g in gradients
            ],
            "stretch short": always,
            "sum of the squares": lambda g, max_norm: clip(g, max_norm, length=lambda v: v @ v),
            "largest number": lambda g, max_norm: clip(g, max_norm, length=lambda v: v.abs().max()),
            "length one": to_one,
            "Lengths don't add": added_up,
            "throw long gradients away": dropped,
        },
    ),
}
