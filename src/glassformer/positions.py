"""Positions: vectors that tell a model, which is blind to order, where a token stands."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class LearnedPositions(nn.Module):
    """A table with one trained vector for each position, looked up like a token's.

    Shapes: position ids (..., seq) to vectors (..., seq, d_model).

    Raises:
        ValueError: a size is less than one, or a position lies beyond the table.

    Source: Devlin et al. 2019, section 3 and figure 2.
    """

    def __init__(self, max_positions: int, d_model: int):
        super().__init__()
        _check_sizes(max_positions, d_model)
        self.table = nn.Embedding(max_positions, d_model)

    def forward(
        self, position_ids: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Look up the vector of each position."""
        _check_length(position_ids, self.table.num_embeddings)
        try:
            return self.table(position_ids)
        except IndexError as error:
            raise _beyond(position_ids, self.table.num_embeddings) from error


class SinusoidalPositions(nn.Module):
    """A fixed table: sines and cosines of the position, from fast ones to slow ones.

    Pair number i of the d_model numbers turns by 10000^(−2i / d_model) from one position to the
    next. The paper interleaves the pairs, sine and cosine side by side; Marian puts all sines
    before all cosines (`interleaved=False`). Of an odd width the last sine has no cosine.

    Shapes: position ids (..., seq) to vectors (..., seq, d_model).

    Raises:
        ValueError: a size is less than one, or a position lies beyond the table.

    Source: Vaswani et al. 2017, section 3.5.
    """

    table: Tensor

    def __init__(self, max_positions: int, d_model: int, *, interleaved: bool = True):
        super().__init__()
        _check_sizes(max_positions, d_model)
        table = sinusoids(max_positions, d_model)
        if not interleaved:
            table = torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)
        # Made again rather than saved: not part of the state dict.
        self.register_buffer("table", table.to(torch.get_default_dtype()), persistent=False)

    def forward(
        self, position_ids: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Look up the vector of each position."""
        _check_length(position_ids, len(self.table))
        try:
            return nn.functional.embedding(position_ids, self.table)
        except IndexError as error:
            raise _beyond(position_ids, len(self.table)) from error


def sinusoids(max_positions: int, d_model: int) -> Float[Tensor, "{max_positions} {d_model}"]:
    """The table itself, in float64: sine and cosine of the same angle side by side.

    Shapes: (max_positions, d_model).
    """
    position = torch.arange(max_positions, dtype=torch.float64)[:, None]
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)  # 2i
    angle = position * 10000 ** (-pair / d_model)  # (max_positions, ceil(d_model / 2))
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :d_model]


def _check_sizes(max_positions: int, d_model: int) -> None:
    if max_positions < 1 or d_model < 1:
        raise ValueError(
            f"max_positions ({max_positions}) and d_model ({d_model}) must be at least 1"
        )


def _check_length(position_ids: Tensor, max_positions: int) -> None:
    """The length tells without a look at the values, which may lie on another device."""
    seq = position_ids.shape[-1]
    if seq > max_positions:
        raise ValueError(
            f"a sequence of {seq} tokens is longer than max_positions ({max_positions})"
        )


def _beyond(position_ids: Tensor, max_positions: int) -> ValueError:
    first, last = position_ids.min().item(), position_ids.max().item()
    return ValueError(
        f"positions {first} to {last} are not all within max_positions ({max_positions})"
    )
