"""Positions: how a model that is blind to order learns where each token is."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class LearnedPositions(nn.Module):
    """A table with one trained vector per position, looked up as a token's vector is.

    Shapes: Position ids (..., seq) to vectors (..., seq, d_model).

    Raises:
        ValueError: A size is less than one, or a position is beyond the table.

    Source: Devlin et al. 2019, section 3 and figure 2.

    >>> LearnedPositions(max_positions=16, d_model=8)(torch.arange(3)).shape
    torch.Size([3, 8])
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
    """A fixed table of sines and cosines of each position, from the fastest pair to the slowest.

    Pair `c` of a vector turns by `10000 ** (-2c / d_model)` from one position to the next. The
    paper interleaves the pairs, each sine next to its cosine; Marian puts all sines before all
    cosines (`interleaved=False`). In an odd width, the last sine has no cosine.

    Shapes: Position ids (..., seq) to vectors (..., seq, d_model).

    Raises:
        ValueError: A size is less than one, or a position is beyond the table.

    Source: Vaswani et al. 2017, section 3.5.

    >>> SinusoidalPositions(max_positions=16, d_model=4)(torch.arange(2))
    tensor([[0.0000, 1.0000, 0.0000, 1.0000],
            [0.8415, 0.5403, 0.0100, 0.9999]])
    """

    table: Tensor

    def __init__(self, max_positions: int, d_model: int, *, interleaved: bool = True):
        super().__init__()
        _check_sizes(max_positions, d_model)
        table = sinusoids(max_positions, d_model)
        if not interleaved:
            table = torch.cat([table[:, 0::2], table[:, 1::2]], dim=1)
        # Recomputed rather than saved: not part of the state dict.
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
    """Return the table itself, in float64: sine and cosine of the same angle side by side.

    Shapes: (max_positions, d_model).
    """
    position = torch.arange(max_positions, dtype=torch.float64)[:, None]
    pair = torch.arange(0, d_model, 2, dtype=torch.float64)  # 2c
    angle = position * 10000 ** (-pair / d_model)  # (max_positions, ceil(d_model / 2))
    return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(1)[:, :d_model]


class RotaryPositions(nn.Module):
    """Rotate queries and keys by their positions, so only the distance between positions matters.

    Each pair of a head's numbers is a point in the plane, and point `c` is rotated around 0 by the
    angle `position * theta ** (-2c / head_dim)`. The paper pairs neighbors, `2c` with `2c + 1`;
    Llama models in transformers pair the halves, `c` with `c + head_dim / 2` (`interleaved=False`).

    Shapes: (..., seq, head_dim) to the same; position ids broadcast to (..., seq).

    Raises:
        ValueError: `head_dim` is not even and at least 2, or `theta` is not more than 0.

    Source: Su et al. 2021, section 3.4.2, equation 34; halves: transformers 5.23,
    `apply_rotary_pos_emb`.

    >>> rotary = RotaryPositions(head_dim=2)
    >>> rotary(torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([0, 1]))
    tensor([[1.0000, 0.0000],
            [0.5403, 0.8415]])
    """

    frequencies: Tensor

    def __init__(self, head_dim: int, *, theta: float = 10000.0, interleaved: bool = True):
        super().__init__()
        if head_dim < 2 or head_dim % 2:
            raise ValueError(f"head_dim ({head_dim}) must be even, and at least 2")
        if theta <= 0:
            raise ValueError(f"theta ({theta}) must be more than 0")
        self.head_dim, self.theta, self.interleaved = head_dim, theta, interleaved
        # Recomputed rather than saved: not part of the state dict.
        frequencies = self._signed(self._pair_frequencies())
        self.register_buffer("frequencies", frequencies, persistent=False)

    def forward(
        self, heads: Float[Tensor, "*batch seq head_dim"], position_ids: Int[Tensor, "*#batch seq"]
    ) -> Float[Tensor, "*batch seq head_dim"]:
        """Rotate each point (a, b) to (a cos − b sin, b cos + a sin)."""
        angle = position_ids[..., None] * self.frequencies  # (..., seq, head_dim)
        cos, sin = angle.cos().to(heads.dtype), angle.sin().to(heads.dtype)
        return heads * cos + self._partners(heads) * sin

    def extra_repr(self) -> str:
        """Return the width of a head, and how it is rotated."""
        return f"{self.head_dim}, theta={self.theta}, interleaved={self.interleaved}"

    def _partners(self, heads: Tensor) -> Tensor:
        """Replace each number with the other one of its pair."""
        if self.interleaved:
            return heads.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
        return heads.roll(self.head_dim // 2, dims=-1)

    def _pair_frequencies(self) -> Float[Tensor, " pairs"]:
        return rotary_frequencies(self.head_dim, self.theta)

    def _signed(self, frequency: Float[Tensor, " pairs"]) -> Float[Tensor, " head_dim"]:
        """Return the angle per position for each number, negative for the first of a pair.

        The sign doesn't change a cosine, and gives the sine the sign that the formula asks for.
        """
        signed = torch.stack([-frequency, frequency], dim=-1 if self.interleaved else 0)
        return signed.flatten()

    def _apply(self, fn, recurse=True):
        """Move everything, and change the type of everything except the frequencies.

        They stay in float32: in bfloat16, an angle is soon wrong by more than a full turn.
        """
        super()._apply(fn, recurse)
        device = self.frequencies.device
        self.frequencies = self._signed(self._pair_frequencies()).to(device)
        return self


def rotary_frequencies(head_dim: int, theta: float) -> Float[Tensor, " pairs"]:
    """Return each pair's angle per position, from the fastest pair to the slowest.

    The steps are those of transformers, in float32 and in the same order, since a position
    multiplies every rounding error.

    Shapes: (head_dim / 2).
    """
    pair = torch.arange(0, head_dim, 2, dtype=torch.float32)  # 2c
    return 1.0 / theta ** (pair / head_dim)


def _check_sizes(max_positions: int, d_model: int) -> None:
    if max_positions < 1 or d_model < 1:
        raise ValueError(
            f"max_positions ({max_positions}) and d_model ({d_model}) must be at least 1"
        )


def _check_length(position_ids: Tensor, max_positions: int) -> None:
    """Check the length only: the values may be on another device."""
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
