"""Right and wrong answers to the exercise on training with several processes."""

import torch
from answers import Answers


def token_by_token(gradients, counts, *, divisor=None):
    """Add each process's gradient once for each of its tokens."""
    total, tokens = torch.zeros_like(gradients[0]), 0
    for gradient, count in zip(gradients, counts.tolist(), strict=True):
        for _ in range(count):
            total = total + gradient
            tokens += 1
    return total / (tokens if divisor is None else divisor)


def divided_again(gradients, counts):
    total = torch.zeros_like(gradients[0])
    for gradient, count in zip(gradients, counts.tolist(), strict=True):
        total = total + gradient / max(count, 1)
    return total


def by_softmax(gradients, counts):
    shares = torch.exp(counts.double() - counts.max())
    return sum(g * share for g, share in zip(gradients, shares / shares.sum(), strict=True))


MANY_MACHINES = {
    "check_mean_gradient": Answers(
        right=token_by_token,
        wrong={
            "plain mean": lambda gradients, counts: sum(gradients) / len(gradients),
            "sum of the processes": lambda gradients, counts: sum(gradients),
            "You multiply each": lambda *given: token_by_token(*given, divisor=1),
            "number of processes": lambda g, counts: token_by_token(g, counts, divisor=len(g)),
            "largest number": lambda g, c: token_by_token(g, c, divisor=max(c.tolist())),
            "Only the first": lambda gradients, counts: gradients[0].clone(),
            "softmax": by_softmax,
            "You divide each": divided_again,
        },
    ),
}
