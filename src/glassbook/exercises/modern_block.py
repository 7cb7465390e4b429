"""Exercises for the chapter on the modern block."""

import torch
import torch.nn.functional as F

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_gated", "check_rms_norm"]


def _vectors(draw: Draw):
    yield "five words", (draw(5, 7), draw(7), 1e-6)
    yield "two sentences", (draw(2, 3, 11), draw(11), 1e-6)
    yield "three words, and an eps of 0.5", (draw(3, 5), draw(5), 0.5)


def _rms_norm(x, weight, eps):
    return F.rms_norm(x, weight.shape, weight, eps)


def _mean_square(x, axes=-1):
    return x.square().mean(axes, keepdim=True)


check_rms_norm = Exercise(
    asks="each vector divided by its root mean square, then scaled",
    reference=_rms_norm,
    examples=_vectors,
    mistakes={
        "The mean is subtracted first, as in layer norm. RMSNorm doesn't subtract it.": (
            lambda x, w, eps: _rms_norm(x - x.mean(-1, keepdim=True), w, eps)
        ),
        "You sum the squares; average them.": (
            lambda x, w, eps: w * x * torch.rsqrt(x.square().sum(-1, keepdim=True) + eps)
        ),
        "The square root is missing: you divide the vectors by their mean square.": (
            lambda x, w, eps: w * x / (_mean_square(x) + eps)
        ),
        "You add eps to the square root; add it under the root.": (
            lambda x, w, eps: w * x / (_mean_square(x).sqrt() + eps)
        ),
        "eps is missing; it matters when the numbers are near zero.": (
            lambda x, w, eps: w * x * torch.rsqrt(_mean_square(x))
        ),
        "The weight is missing.": lambda x, w, eps: _rms_norm(x, torch.ones_like(w), eps),
        "Your mean square runs along the words; each word has its own: dim=-1.": (
            lambda x, w, eps: w * x * torch.rsqrt(_mean_square(x, -2) + eps)
        ),
        "You use one mean square for the whole sentence; each word has its own.": (
            lambda x, w, eps: w * x * torch.rsqrt(_mean_square(x, (-2, -1)) + eps)
        ),
    },
)


def _networks(draw: Draw):
    for name, *shape, width in (("one word", 1, 1, 5, 5), ("two sentences", 2, 3, 5, 11)):
        d_model = shape[-1]
        weights = (draw(width, d_model), draw(width, d_model), draw(d_model, width))
        yield name, (draw(*shape), *weights)


def _gated(x, w_gate, w_up, w_down, gate=F.silu):
    return F.linear(gate(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)


check_gated = Exercise(
    asks="the output of a gated feed-forward network",
    reference=_gated,
    examples=_networks,
    mistakes={
        "Gate and up are swapped: apply the SiLU to the gate.": (
            lambda x, g, u, d: _gated(x, u, g, d)
        ),
        "Your gate uses a sigmoid; it should use SiLU, x · σ(x).": (
            lambda x, g, u, d: _gated(x, g, u, d, torch.sigmoid)
        ),
        "Your gate uses a GELU, as in GEGLU; here it should use SiLU.": (
            lambda x, g, u, d: _gated(x, g, u, d, F.gelu)
        ),
        "The gate has no activation.": lambda x, g, u, d: _gated(x, g, u, d, lambda h: h),
        "You add the two halves; multiply them.": (
            lambda x, g, u, d: F.linear(F.silu(x @ g.mT) + x @ u.mT, d)
        ),
        "There's no gate: you apply the SiLU to up, and then down.": (
            lambda x, g, u, d: F.linear(F.silu(x @ u.mT), d)
        ),
        "You apply the SiLU to the product of gate and up; apply it only to the gate.": (
            lambda x, g, u, d: F.linear(F.silu((x @ g.mT) * (x @ u.mT)), d)
        ),
    },
)
