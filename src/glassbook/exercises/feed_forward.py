"""Exercises for the chapter on the feed-forward network."""

import math
from functools import partial

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_feed_forward", "check_gelu"]


def _numbers(draw: Draw):
    yield "17 numbers from −4 to 4", (torch.linspace(-4, 4, 17),)
    yield "two sentences", (draw(2, 3, 5),)


def _phi(x):
    """Return the share of a normal distribution below x."""
    return (1 + torch.erf(x / math.sqrt(2))) / 2


check_gelu = Exercise(
    asks="x · Φ(x) for each number",
    reference=lambda x: F.gelu(x),
    examples=_numbers,
    mistakes={
        "This is ReLU, which has a corner at zero; GELU is smooth.": F.relu,
        "This is the tanh approximation, which is close to GELU but not equal to it. Use erf.": (
            lambda x: F.gelu(x, approximate="tanh")
        ),
        "This is the sigmoid approximation, x · σ(1.702 x), which is only close to GELU.": (
            lambda x: x * torch.sigmoid(1.702 * x)
        ),
        "This is SiLU, x · σ(x).": F.silu,
        "This is Φ(x). Multiply it by x.": _phi,
        "Pass x / √2 to erf, not x.": lambda x: x * (1 + torch.erf(x)) / 2,
        "1 + erf runs from 0 to 2, but Φ runs from 0 to 1. Halve it.": lambda x: 2 * F.gelu(x),
        "This is tanh.": torch.tanh,
    },
)


def _networks(draw: Draw):
    for name, *shape, width in (("one word", 1, 1, 3, 7), ("two sentences", 2, 5, 3, 11)):
        d_model = shape[-1]
        weights = (draw(width, d_model), draw(width), draw(d_model, width), draw(d_model))
        yield name, (draw(*shape), *weights)


def _feed_forward(x, w_in, b_in, w_out, b_out, activation=F.gelu):
    return F.linear(activation(F.linear(x, w_in, b_in)), w_out, b_out)


check_feed_forward = Exercise(
    asks="the output of two linear layers with a GELU between them",
    reference=_feed_forward,
    examples=_networks,
    mistakes={
        "There's nothing between the two linear layers, so together they're one.": (
            lambda x, w, b, v, c: _feed_forward(x, w, b, v, c, lambda h: h)
        ),
        "The activation is ReLU; BERT uses GELU.": partial(_feed_forward, activation=F.relu),
        "The first bias is missing.": lambda x, w, b, v, c: _feed_forward(x, w, None, v, c),
        "The second bias is missing.": lambda x, w, b, v, c: _feed_forward(x, w, b, v, None),
        "Don't apply GELU after the second layer: the output may be negative.": (
            lambda x, w, b, v, c: F.gelu(_feed_forward(x, w, b, v, c))
        ),
        "The GELU comes before the first layer. Put it between the two.": (
            lambda x, w, b, v, c: _feed_forward(F.gelu(x), w, b, v, c, lambda h: h)
        ),
        "The encoder layer adds the residual; the network shouldn't.": (
            lambda x, w, b, v, c: x + _feed_forward(x, w, b, v, c)
        ),
        "You average the words, but the network reads each word by itself.": (
            lambda x, w, b, v, c: _feed_forward(x.mean(1, keepdim=True).expand_as(x), w, b, v, c)
        ),
    },
)
