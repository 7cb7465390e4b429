"""Exercises for the chapter on rotary positions."""

import torch

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_rotary"]


def _heads(draw: Draw):
    yield "one head", (draw(1, 5, 6), torch.arange(5), 10000.0)
    yield (
        "two sentences with three heads, from position 11 on, and a theta of 100",
        (draw(2, 3, 7, 10), torch.arange(11, 18), 100.0),
    )


def _rotary(x, position_ids, theta, turn=1.0, exponent=-1.0):
    """Rotate pairs of neighbors, as complex numbers, by angles that mistakes can change."""
    pairs = torch.view_as_complex(x.unflatten(-1, (-1, 2)).contiguous())
    speed = theta ** (exponent * torch.arange(pairs.shape[-1]) / pairs.shape[-1])
    angle = turn * position_ids[:, None] * speed
    return torch.view_as_real(pairs * torch.polar(torch.ones_like(angle), angle)).flatten(-2)


def _of_halves(x, position_ids, theta):
    """Return the other pairing: i with i + head_dim / 2."""
    paired = torch.stack(x.chunk(2, dim=-1), dim=-1).flatten(-2)
    return torch.cat(_rotary(paired, position_ids, theta).unflatten(-1, (-1, 2)).unbind(-1), -1)


check_rotary = Exercise(
    asks="each pair of neighbors rotated by its position's angle",
    reference=lambda x, position_ids, theta: _rotary(x, position_ids.double(), theta),
    examples=_heads,
    mistakes={
        "The pairs turn the wrong way: (a, b) becomes (a cos − b sin, b cos + a sin).": (
            lambda x, p, theta: _rotary(x, p, theta, turn=-1.0)
        ),
        "You pair the halves, c with c + head_dim / 2, as the Llama models in transformers "
        "do; here, pair neighbors, 2c with 2c + 1.": lambda x, p, theta: _of_halves(x, p, theta),
        "All your pairs turn at the same speed; pair c turns by theta^(−2c / head_dim) "
        "radians per position.": (lambda x, p, theta: _rotary(x, p, theta, exponent=0.0)),
        "The pairs turn too fast: the exponent is −2c / head_dim, and the 2 is missing.": (
            lambda x, p, theta: _rotary(x, p, theta, exponent=-0.5)
        ),
        "The pairs turn too slowly: is c the number of the pair, or already twice that?": (
            lambda x, p, theta: _rotary(x, p, theta, exponent=-2.0)
        ),
        "You count positions from 0 again; they're given as position_ids.": (
            lambda x, p, theta: _rotary(x, (p - p[0]).double(), theta)
        ),
        "You count positions from 1; position_ids says where they start.": (
            lambda x, p, theta: _rotary(x, p + 1.0, theta)
        ),
        "You set theta to 10000; use the theta that's given.": lambda x, p, theta: _rotary(
            x, p, 10000.0
        ),
        "You multiply the vectors by the cosines, but the sines are missing.": (
            lambda x, p, theta: (_rotary(x, p, theta) + _rotary(x, p, theta, turn=-1.0)) / 2
        ),
    },
)
