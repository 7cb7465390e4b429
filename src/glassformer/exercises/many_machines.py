"""Exercise of the chapter on training with several processes."""

import torch

from glassformer.exercises.checking import Draw, Exercise

__all__ = ["check_mean_gradient"]

CHAPTER = "practice/many-machines.md"


def _processes(draw: Draw):
    for name, counts in (
        ("two processes", [3, 7]),
        ("three processes", [5, 2, 11]),
        ("three processes, the second without a token", [13, 0, 4]),
    ):
        yield name, (draw(len(counts), 5), torch.tensor(counts))


def _weighted(gradients, weights):
    return (weights[:, None] * gradients).sum(dim=0)


check_mean_gradient = Exercise(
    asks="the gradient of the mean loss of all tokens, from each process's own mean",
    chapter=CHAPTER,
    reference=lambda gradients, counts: (
        torch.einsum("pw,p->w", gradients, counts.to(gradients)) / counts.sum()
    ),
    examples=_processes,
    mistakes={
        "It's the plain mean of the processes: one with few tokens counts as much as one with "
        "many. Weight each by its tokens.": lambda g, counts: g.mean(dim=0),
        "It's the sum of the processes' gradients: each is a mean, and so should the result be.": (
            lambda g, counts: g.sum(dim=0)
        ),
        "Each gradient is multiplied by its tokens, and the sum is not divided by all tokens.": (
            lambda g, counts: _weighted(g, counts)
        ),
        "The sum is divided by the number of processes; divide by the number of all tokens.": (
            lambda g, counts: _weighted(g, counts) / len(counts)
        ),
        "The sum is divided by the largest number of tokens, as if it were padding for the rest.": (
            lambda g, counts: _weighted(g, counts) / counts.max()
        ),
        "Only the first process's gradient is returned: all of them have to be added.": (
            lambda g, counts: g[0]
        ),
        "The weights are a softmax of the numbers of tokens: divide by their sum instead.": (
            lambda g, counts: _weighted(g, counts.double().softmax(dim=0))
        ),
        "Each gradient is divided by its tokens once more; it is a mean already.": (
            lambda g, counts: (g / counts.clamp(min=1)[:, None]).sum(dim=0)
        ),
    },
)
