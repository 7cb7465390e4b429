"""Exercise for the chapter on longer texts."""

from functools import partial

import torch

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_alibi_scores"]


def _scores(draw: Draw):
    for name, heads, q_len, k_len in (
        ("2 heads, 7 queries and keys", 2, 7, 7),
        ("4 heads, the last 3 of 11 tokens as queries", 4, 3, 11),
    ):
        yield name, (draw(heads, q_len, k_len),)


def _biased(scores, *, base=8.0, first=1, falls=1.0, whole=False, keys=False, upper=False):
    """Return the scores with a bias, any part of which mistakes can change."""
    heads, q_len, k_len = scores.shape
    head = torch.arange(first, heads + first, dtype=scores.dtype)
    slopes = 2 ** (-base * head / heads)
    offset = 0 if upper else k_len - q_len
    place = torch.arange(q_len)[:, None] + offset
    distance = (place - torch.arange(k_len)).clamp(min=0).to(scores.dtype)
    if whole:
        slopes = slopes.mean().expand(heads)
    if keys:
        distance = torch.arange(k_len).to(scores.dtype).expand(q_len, k_len)
    return scores - falls * slopes[:, None, None] * distance


def _multiplied(scores):
    return scores * (1 + (_biased(scores) - scores))


def _squared(scores):
    bias = scores - _biased(scores)  # slope times distance
    slopes = 2 ** (-8.0 * torch.arange(1, len(scores) + 1, dtype=scores.dtype) / len(scores))
    return scores - bias.square() / slopes[:, None, None]


check_alibi_scores = Exercise(
    asks="scores that fall with the distance, with one slope per head",
    reference=lambda scores: torch.stack(
        [
            one
            - 2 ** (-8 * (h + 1) / len(scores))
            * torch.tensor(
                [
                    [max(0, i + one.shape[1] - one.shape[0] - j) for j in range(one.shape[1])]
                    for i in range(one.shape[0])
                ],
                dtype=one.dtype,
            )
            for h, one in enumerate(scores)
        ]
    ),
    examples=_scores,
    mistakes={
        "You add the bias, which favors distant keys. Subtract it.": partial(_biased, falls=-1.0),
        "The slopes begin at 1. The first head's should be 2^(−8 / n) for n heads.": (
            lambda s: _biased(s, first=0)
        ),
        "The slopes fall too slowly: the last head's is 1/256.": lambda s: _biased(s, base=1.0),
        "All your heads have the same slope; each head has its own.": partial(_biased, whole=True),
        "You count the queries' positions from the first key. The queries are the last "
        "tokens, as they are with a cache.": (lambda s: _biased(s, upper=True)),
        "You multiply the slope by the key's position. Multiply it by the key's distance "
        "from the query.": lambda s: _biased(s, keys=True),
        "You multiply the scores by the bias. Subtract the bias instead.": _multiplied,
        "You square the distance.": _squared,
    },
)
