"""Right and wrong answers to the exercise on low-rank adaptation."""

import torch
from answers import Answers


def in_outer_products(x, weight, bias, a, b, alpha, *, divisor=None, times=None, biases=1):
    """Build the changed weight row by column, then apply it."""
    rank = a.shape[0]
    scale = alpha / (rank if divisor is None else divisor) if times is None else times
    change = sum(torch.outer(b[:, k], a[k]) for k in range(rank))
    return torch.einsum("si,oi->so", x, weight + scale * change) + biases * bias


def without_the_weight(x, weight, *rest):
    return in_outer_products(x, torch.zeros_like(weight), *rest)


def scaled_altogether(x, weight, bias, a, b, alpha):
    return in_outer_products(x, weight * alpha / a.shape[0], bias, a, b, alpha)


def bent(x, weight, bias, a, b, alpha):
    narrow = torch.clamp(torch.einsum("si,ri->sr", x, a), min=0)
    return torch.einsum("si,oi->so", x, weight) + bias + (alpha / a.shape[0]) * narrow @ b.mT


LORA = {
    "check_lora_layer": Answers(
        right=in_outer_products,
        wrong={
            "You multiply the": lambda *given: in_outer_products(*given, divisor=1),
            "isn't scaled": lambda *given: in_outer_products(*given, times=1),
            "alpha is missing": lambda *given: in_outer_products(*given, times=1 / len(given[3])),
            "number of inputs": lambda *given: in_outer_products(*given, divisor=given[1].shape[1]),
            "square root": lambda *given: in_outer_products(
                *given, divisor=given[3].shape[0] ** 0.5
            ),
            "frozen weight is missing": without_the_weight,
            "You scale the": scaled_altogether,
            "bias is missing": lambda *given: in_outer_products(*given, biases=0),
            "You add the": lambda *given: in_outer_products(*given, biases=2),
            "activation": bent,
        },
    ),
}
