"""Hide words for a masked language model, and label the hidden ones."""

import torch
from jaxtyping import Int
from torch import Tensor

IGNORE_INDEX = -100  # a label that losses skip: torch's `ignore_index`


def mask_tokens(
    input_ids: Int[Tensor, "batch seq"],
    *,
    mask_token_id: int,
    special_ids: tuple[int, ...],
    vocab_size: int,
    share: float = 0.15,
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "batch seq"], Int[Tensor, "batch seq"]]:
    """Choose tokens to predict, and hide most of them.

    Of the chosen tokens, eight in ten become the mask token, one in ten becomes a random token of
    the vocabulary, and one in ten stays the same. Special tokens are never chosen.

    Shapes: Ids (batch, seq) to ids and labels (batch, seq). A label is the true token where it
    was chosen, and `IGNORE_INDEX` elsewhere.

    Raises:
        ValueError: Share is 0 or less, or more than 1.

    Source: Devlin et al. 2019, section 3.1, task 1, and appendix A.1.

    >>> ids = torch.tensor([[101, 7, 8, 9, 102]])
    >>> choices = {"mask_token_id": 103, "special_ids": (101, 102), "vocab_size": 200}
    >>> hidden, labels = mask_tokens(ids, **choices, share=1.0)
    >>> labels.tolist()
    [[-100, 7, 8, 9, -100]]
    """
    if not 0.0 < share <= 1.0:
        raise ValueError(f"share ({share}) must be more than 0 and at most 1")
    special = torch.isin(input_ids, torch.tensor(special_ids, device=input_ids.device))
    chosen = (_draw(input_ids, generator) < share) & ~special
    labels = input_ids.masked_fill(~chosen, IGNORE_INDEX)
    fate = _draw(input_ids, generator)
    hidden = input_ids.masked_fill(chosen & (fate < 0.8), mask_token_id)
    swapped = chosen & (fate >= 0.8) & (fate < 0.9)
    others = torch.randint_like(input_ids, vocab_size, generator=generator)
    return others.where(swapped, hidden), labels


def hide_one(
    input_ids: Int[Tensor, "batch seq"],
    *,
    mask_token_id: int,
    special_ids: tuple[int, ...],
    generator: torch.Generator | None = None,
) -> tuple[Int[Tensor, "batch seq"], Int[Tensor, "batch seq"]]:
    """Hide one token of each row, to test whether a model can guess it.

    Shapes: As `mask_tokens`, with one label per row that isn't `IGNORE_INDEX`.

    Raises:
        ValueError: A row has only special tokens.
    """
    special = torch.isin(input_ids, torch.tensor(special_ids, device=input_ids.device))
    if special.all(dim=1).any():
        rows = special.all(dim=1).nonzero().flatten().tolist()
        raise ValueError(f"rows {rows} of input_ids have only special tokens: nothing to hide")
    places = _draw(input_ids, generator).masked_fill(special, -1.0).argmax(dim=1, keepdim=True)
    labels = torch.full_like(input_ids, IGNORE_INDEX).scatter(
        1, places, input_ids.gather(1, places)
    )
    return input_ids.scatter(1, places, mask_token_id), labels


def _draw(like: Tensor, generator: torch.Generator | None) -> Tensor:
    """Draw a number between 0 and 1, uniformly, for each element of a tensor."""
    return torch.rand(like.shape, device=like.device, generator=generator)
