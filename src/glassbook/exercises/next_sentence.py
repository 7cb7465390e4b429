"""Exercises for the page on next-sentence prediction."""

import torch
from torch import Tensor

from glassbook.exercises.checking import Draw, Exercise

__all__ = ["check_pack"]


def _two_texts(draw: Draw):
    for name, cls, sep, first, second in (
        ("five tokens and three", 101, 103, 5, 3),
        ("two tokens and seven", 211, 223, 2, 7),
    ):
        yield name, (draw.ids(101, first), draw.ids(101, second), cls, sep)


def _ids(first: Tensor, second: Tensor, cls: int, sep: int) -> Tensor:
    begin, end = first.new_tensor([cls]), first.new_tensor([sep])
    return torch.cat([begin, first, end, second, end])


def _types(first: Tensor, second: Tensor) -> Tensor:
    return torch.tensor([0] * (len(first) + 2) + [1] * (len(second) + 1))


def _rolled(by: int):
    """Return an answer with the right ids but with the types shifted by some positions."""
    return lambda a, b, cls, sep: (
        _ids(a, b, cls, sep),
        (torch.arange(len(a) + len(b) + 3) >= len(a) + 2 + by).long(),
    )


check_pack = Exercise(
    asks="the ids of both texts with their special tokens, and the token types",
    reference=lambda a, b, cls, sep: (_ids(a, b, cls, sep), _types(a, b)),
    examples=_two_texts,
    mistakes={
        "The first `sep` has type 1; it belongs to the first text.": _rolled(-1),
        "The second text begins one token too late: its first token has type 0.": _rolled(1),
        "The types are swapped: the first text should have type 0.": (
            lambda a, b, cls, sep: (_ids(a, b, cls, sep), 1 - _types(a, b))
        ),
        "The last `sep` has type 0; it belongs to the second text.": (
            lambda a, b, cls, sep: (
                _ids(a, b, cls, sep),
                torch.cat([_types(a, b)[:-1], torch.zeros(1, dtype=torch.int64)]),
            )
        ),
        "Every token has type 0, so nothing tells the two texts apart.": (
            lambda a, b, cls, sep: (_ids(a, b, cls, sep), torch.zeros_like(_ids(a, b, cls, sep)))
        ),
        "There's no `sep` at the end.": (
            lambda a, b, cls, sep: (_ids(a, b, cls, sep)[:-1], _types(a, b)[:-1])
        ),
        "The texts are swapped: the first text should come first.": (
            lambda a, b, cls, sep: (_ids(b, a, cls, sep), _types(b, a))
        ),
        "`cls` and `sep` are swapped.": (
            lambda a, b, cls, sep: (_ids(a, b, sep, cls), _types(a, b))
        ),
        "The two results are swapped: return the ids first, then the types.": (
            lambda a, b, cls, sep: (_types(a, b), _ids(a, b, cls, sep))
        ),
    },
)
