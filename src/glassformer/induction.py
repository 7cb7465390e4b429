"""Induction heads: heads that look at the token that followed the same token last time."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def repeat_after(
    first: int, ids: Int[Tensor, "batch length"]
) -> Int[Tensor, "batch one_and_twice_length"]:
    """Put one token first in each row, and then the row's ids twice.

    Shapes: (batch, length) to (batch, 1 + 2 · length).

    >>> repeat_after(0, torch.tensor([[5, 7, 6]]))
    tensor([[0, 5, 7, 6, 5, 7, 6]])
    """
    return torch.cat([torch.full_like(ids[:, :1], first), ids, ids], dim=1)


def induction_scores(
    weights: Float[Tensor, "*heads seq seq"], length: int
) -> Float[Tensor, "*heads"]:
    """Return the mean weight that tokens of the second copy give to what came next in the first.

    The rows are those of `repeat_after`: one token, then the same `length` tokens twice. From a
    token of the second copy, what followed it in the first is `length - 1` positions back.

    Shapes: attention weights (..., seq, seq) with seq = 1 + 2 · length; a score for each leading
    place.

    Raises:
        ValueError: the weights are not of so many tokens.

    Source: Olsson et al. 2022, "prefix matching score".

    >>> looks = torch.eye(7).roll(-2, 1)  # each token looks two places back
    >>> induction_scores(looks, length=3)
    tensor(1.)
    """
    seq = 1 + 2 * length
    if length < 1 or weights.shape[-2:] != (seq, seq):
        raise ValueError(
            f"weights of shape {tuple(weights.shape)} must end in 1 + 2 · length = {seq} queries "
            f"and keys, with a length ({length}) of at least 1"
        )
    return weights.diagonal(1 - length, dim1=-2, dim2=-1)[..., -length:].mean(-1)
