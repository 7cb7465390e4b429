"""Induction heads: they attend to the token that followed the current token's last occurrence."""

import torch
from jaxtyping import Float, Int
from torch import Tensor


def repeat_after(
    first: int, ids: Int[Tensor, "batch length"]
) -> Int[Tensor, "batch one_and_twice_length"]:
    """Return each row's ids twice in a row, after the token `first`.

    Shapes: (batch, length) to (batch, 1 + 2 · length).

    >>> repeat_after(0, torch.tensor([[5, 7, 6]]))
    tensor([[0, 5, 7, 6, 5, 7, 6]])
    """
    return torch.cat([torch.full_like(ids[:, :1], first), ids, ids], dim=1)


def induction_scores(
    weights: Float[Tensor, "*heads seq seq"], length: int
) -> Float[Tensor, "*heads"]:
    """Return the mean weight from tokens of the second copy to their successors in the first.

    The rows come from `repeat_after`: one token, then the same `length` tokens twice. The
    successor of a token in the first copy is `length - 1` positions before the token in the second.

    Shapes: Attention weights (..., seq, seq) with seq = 1 + 2 · length; a score for each leading
    index.

    Raises:
        ValueError: The weights are for a different number of tokens.

    Source: Olsson et al. 2022, "prefix matching score".

    >>> looks = torch.eye(7).roll(-2, 1)  # each token looks two positions back
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
