"""Positions: vectors that tell a model, which is blind to order, where a token stands."""

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
        if max_positions < 1 or d_model < 1:
            raise ValueError(
                f"max_positions ({max_positions}) and d_model ({d_model}) must be at least 1"
            )
        self.table = nn.Embedding(max_positions, d_model)

    def forward(
        self, position_ids: Int[Tensor, "*batch seq"]
    ) -> Float[Tensor, "*batch seq d_model"]:
        """Look up the vector of each position."""
        seq, max_positions = position_ids.shape[-1], self.table.num_embeddings
        # The length tells without a look at the values, which may lie on another device.
        if seq > max_positions:
            raise ValueError(
                f"a sequence of {seq} tokens is longer than max_positions ({max_positions})"
            )
        try:
            return self.table(position_ids)
        except IndexError as error:
            first, last = position_ids.min().item(), position_ids.max().item()
            raise ValueError(
                f"positions {first} to {last} are not all within max_positions ({max_positions})"
            ) from error
