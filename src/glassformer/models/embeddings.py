"""Embeddings: from token ids to the vectors that the first layer reads."""

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.layers.positions import LearnedPositions, SinusoidalPositions
from glassformer.models.builders import build_norm
from glassformer.models.config import TransformerConfig


class Embeddings(nn.Module):
    """Token, position, and token type: three vectors looked up, added, and normalized.

    The configuration can change this: scale token vectors by `sqrt(d_model)`, use sines and cosines
    for positions, leave out token types, or leave out the norm. Rotary positions add nothing here,
    because attention applies them. `padding_idx` keeps the lookup from training the padding row;
    if the table also scores tokens (`tie_embeddings`), that use still trains it.

    Shapes: Ids (batch, seq) to vectors (batch, seq, d_model).

    Raises:
        ValueError: `input_ids` isn't a (batch, seq) tensor of ids from the vocabulary, is empty, or
            has more tokens than positions; or `token_type_ids` doesn't fit it.

    Source: Devlin et al. 2019, section 3, "Input/Output Representations", and figure 2; the scale
    and the sines: Vaswani et al. 2017, sections 3.4 and 3.5.

    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=1, d_ff=16)
    >>> Embeddings(config)(torch.tensor([[1, 5, 2]])).shape
    torch.Size([1, 3, 8])
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.scale = config.d_model**0.5 if config.scale_embeddings else 1.0
        self.tokens = nn.Embedding(
            config.vocab_size, config.d_model, padding_idx=config.pad_token_id
        )
        self.positions = _positions(config)
        self.skipped = config.pad_token_id if config.skip_padding else None
        self.token_types = (
            nn.Embedding(config.num_token_types, config.d_model) if config.num_token_types else None
        )
        self.norm = build_norm(config) if config.embedding_norm else None
        self.dropout = nn.Dropout(config.dropout)

    def forward(
        self,
        input_ids: Int[Tensor, "batch seq"],
        token_type_ids: Int[Tensor, "batch seq"] | None = None,
        position_ids: Int[Tensor, "#batch seq"] | None = None,
    ) -> Float[Tensor, "batch seq d_model"]:
        """Look up and add vectors; by default, token types are 0 and positions count from 0."""
        check_ids(input_ids)
        vectors = _look_up(self.tokens, input_ids, "input_ids") * self.scale
        if self.positions is not None:
            if position_ids is None:
                position_ids = self._count(input_ids)
            vectors = vectors + self.positions(position_ids)  # (batch, seq, d_model)
        if self.token_types is not None:
            if token_type_ids is None:
                token_type_ids = torch.zeros_like(input_ids)
            check_same_shape("token_type_ids", token_type_ids, input_ids)
            vectors = vectors + _look_up(self.token_types, token_type_ids, "token_type_ids")
        elif token_type_ids is not None:
            raise ValueError(
                "token_type_ids were given, but num_token_types is 0: there is no table"
            )
        if self.norm is not None:
            vectors = self.norm(vectors)
        return self.dropout(vectors)

    def _count(self, input_ids: Tensor) -> Tensor:
        """Count positions from 0; padding that's skipped doesn't count."""
        if self.skipped is None:
            return torch.arange(input_ids.shape[1], device=input_ids.device)[None]
        return ((input_ids != self.skipped).cumsum(1) - 1).clamp(min=0)


def check_ids(ids: Tensor, name: str = "input_ids") -> None:
    """Check that a tensor is a batch of token ids.

    Raises:
        TypeError: `ids` isn't a tensor.
        ValueError: `ids` isn't (batch, seq), is empty, or has a type that torch can't look up.
    """
    if not isinstance(ids, Tensor):
        raise TypeError(
            f"{name} must be a tensor (batch, seq), got {type(ids).__name__} {str(ids)[:40]}: "
            'pass torch.tensor(ids), or a tokenizer\'s encoding["input_ids"]'
        )
    if ids.ndim != 2 or 0 in ids.shape:
        raise ValueError(
            f"{name} must have shape (batch, seq) and not be empty, got shape {tuple(ids.shape)}"
        )
    if ids.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"{name} must be int64 or int32, got {ids.dtype}")


def check_same_shape(name: str, given: Tensor, ids: Tensor) -> None:
    """Check that a tensor has the shape of the ids.

    Raises:
        ValueError: The shapes differ.
    """
    if given.shape != ids.shape:
        raise ValueError(
            f"{name} of shape {tuple(given.shape)} must have the shape of the ids, "
            f"{tuple(ids.shape)}"
        )


def _positions(config: TransformerConfig) -> nn.Module | None:
    if config.positions.startswith("rotary"):
        return None
    if config.positions == "learned":
        return LearnedPositions(config.max_positions, config.d_model)
    interleaved = config.positions == "sinusoidal"
    return SinusoidalPositions(config.max_positions, config.d_model, interleaved=interleaved)


def _look_up(table: nn.Embedding, ids: Tensor, name: str) -> Tensor:
    try:
        return table(ids)
    except IndexError as error:
        size = table.num_embeddings
        wrong = ids[(ids < 0) | (ids >= size)].unique().tolist()
        raise ValueError(f"{name} must be between 0 and {size - 1}, got {wrong}") from error
