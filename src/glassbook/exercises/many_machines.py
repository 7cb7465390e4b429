"""Exercise for the chapter on training with several processes."""

import torch

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_mean_gradient"]


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
    asks="the gradient of the mean loss over all tokens, from each process's own mean",
    reference=lambda gradients, counts: (
        torch.einsum("pw,p->w", gradients, counts.to(gradients)) / counts.sum()
    ),
    examples=_processes,
    mistakes={
        "This is the plain mean over processes: a process with few tokens counts as much as "
        "one with many. Weight each gradient by its process's number of tokens.": (
            lambda g, counts: g.mean(dim=0)
        ),
        "This is the sum of the processes' gradients: each gradient is a mean, and so should "
        "the result be.": (lambda g, counts: g.sum(dim=0)),
        "You multiply each gradient by its number of tokens but don't divide the sum by the "
        "total number of tokens.": (lambda g, counts: _weighted(g, counts)),
        "You divide the sum by the number of processes; divide it by the total number of tokens.": (
            lambda g, counts: _weighted(g, counts) / len(counts)
        ),
        "You divide the sum by the largest number of tokens, as if the other processes had "
        "been padded to it.": (lambda g, counts: _weighted(g, counts) / counts.max()),
        "You return only the first process's gradient: add the gradients from all processes.": (
            lambda g, counts: g[0]
        ),
        "Your weights are a softmax of the token counts: divide each count by their sum instead.": (
            lambda g, counts: _weighted(g, counts.double().softmax(dim=0))
        ),
        "You divide each gradient by its number of tokens again; it's already a mean.": (
            lambda g, counts: (g / counts.clamp(min=1)[:, None]).sum(dim=0)
        ),
    },
)
