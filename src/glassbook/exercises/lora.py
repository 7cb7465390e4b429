"""Exercise for the chapter on low-rank adaptation."""

import torch

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_lora_layer"]


def _layers(draw: Draw):
    for name, seq, inputs, outputs, rank, alpha in (
        ("rank 2 with alpha 3", 5, 7, 11, 2, 3.0),
        ("rank 3 with alpha 7", 11, 13, 5, 3, 7.0),
    ):
        weight, a, b = draw(outputs, inputs), draw(rank, inputs), draw(outputs, rank)
        yield name, (draw(seq, inputs), weight, draw(outputs), a, b, alpha)


def _layer(x, weight, bias, a, b, scale, frozen=1.0, biases=1.0):
    """Return the layer's output, with each of its terms multiplied by its factor."""
    return frozen * (x @ weight.T) + biases * bias + scale * (x @ a.T @ b.T)


check_lora_layer = Exercise(
    asks="a frozen layer's output plus the scaled low-rank change",
    reference=lambda x, w, bias, a, b, alpha: torch.nn.functional.linear(
        x, torch.addmm(w, b, a, alpha=alpha / a.shape[0]), bias
    ),
    examples=_layers,
    mistakes={
        "You multiply the change by alpha but don't divide it by the rank, the number of "
        "rows in A.": (lambda x, w, c, a, b, alpha: _layer(x, w, c, a, b, alpha)),
        "The change isn't scaled: multiply it by alpha over the rank.": (
            lambda x, w, c, a, b, alpha: _layer(x, w, c, a, b, 1.0)
        ),
        "You divide the change by the rank, but alpha is missing.": (
            lambda x, w, c, a, b, alpha: _layer(x, w, c, a, b, 1 / len(a))
        ),
        "You divide the change by the number of inputs; divide it by the rank, the number of "
        "rows in A.": (lambda x, w, c, a, b, alpha: _layer(x, w, c, a, b, alpha / x.shape[-1])),
        "You divide the change by the square root of the rank; divide it by the rank itself.": (
            lambda x, w, c, a, b, alpha: _layer(x, w, c, a, b, alpha / len(a) ** 0.5)
        ),
        "The frozen weight is missing: add the change to the frozen layer's output.": (
            lambda x, w, c, a, b, alpha: _layer(x, w, c, a, b, alpha / len(a), frozen=0.0)
        ),
        "You scale the frozen layer as well; scale only the change.": (
            lambda x, w, c, a, b, alpha: (
                alpha / len(a) * _layer(x, w, c, a, b, 1.0) + c * (1 - alpha / len(a))
            )
        ),
        "The bias is missing.": (
            lambda x, w, c, a, b, alpha: _layer(x, w, c, a, b, alpha / len(a), biases=0.0)
        ),
        "You add the bias twice: the change has no bias.": (
            lambda x, w, c, a, b, alpha: _layer(x, w, c, a, b, alpha / len(a), biases=2.0)
        ),
        "There's an activation between A and B. The change is a plain product.": (
            lambda x, w, c, a, b, alpha: x @ w.T + c + alpha / len(a) * ((x @ a.T).relu() @ b.T)
        ),
    },
)
