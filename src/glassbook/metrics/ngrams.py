"""Word counts: the baselines for the language models."""

from collections import Counter, defaultdict

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


def unigram(
    ids: Int[Tensor, "batch seq"], vocab_size: int, pad_token_id: int
) -> Float[Tensor, " vocab"]:
    """Return each token's probability: its share of all tokens, after adding one to each count.

    Source: Laplace's rule of succession.

    >>> unigram(torch.tensor([[1, 1, 2, 0]]), vocab_size=3, pad_token_id=0)
    tensor([0.1667, 0.5000, 0.3333])
    """
    counts = torch.bincount(ids[ids != pad_token_id], minlength=vocab_size) + 1.0
    return counts / counts.sum()


def bigram(
    ids: Int[Tensor, "batch seq"], vocab_size: int, pad_token_id: int
) -> Float[Tensor, "vocab vocab"]:
    """Return the probability of each token (column) after each token (row).

    One extra count per row is divided among the columns in the proportions of `unigram`.
    """
    before, after = ids[:, :-1].flatten(), ids[:, 1:].flatten()
    real = (before != pad_token_id) & (after != pad_token_id)
    steps = before[real] * vocab_size + after[real]
    counts = torch.bincount(steps, minlength=vocab_size**2).view(vocab_size, vocab_size)
    shared = counts + unigram(ids, vocab_size, pad_token_id)
    return shared / shared.sum(1, keepdim=True)


def most_common_between(ids: Int[Tensor, "batch seq"]) -> dict[tuple[int, int], int]:
    """Return the token seen most often between each pair of neighbors."""
    seen: dict[tuple[int, int], Counter[int]] = defaultdict(Counter)
    for row in ids.tolist():
        for left, middle, right in zip(row, row[1:], row[2:], strict=False):
            seen[left, right][middle] += 1
    return {neighbors: middles.most_common(1)[0][0] for neighbors, middles in seen.items()}


def shared_surprise(
    input_ids: Int[Tensor, "batch seq"],
    token_type_ids: Int[Tensor, "batch seq"],
    shares: Float[Tensor, " vocab"],
) -> Float[Tensor, " batch"]:
    """Add up the surprise of the tokens that both texts of a pair contain, each counted once.

    A token's surprise is minus the logarithm of its share of all text.
    """
    first, second = (
        torch.zeros(len(input_ids), len(shares))
        .scatter_add_(1, input_ids, (token_type_ids == kind).float())
        .bool()
        for kind in (0, 1)
    )  # (batch, vocab) each
    return (first & second).float() @ -shares.log()


def best_threshold(scores: Float[Tensor, " pairs"], wanted: Bool[Tensor, " pairs"]) -> float:
    """Return the threshold that makes the most answers right; scores at or above it mean yes."""
    candidates = scores.unique()
    right = ((scores >= candidates[:, None]) == wanted).float().mean(1)
    return candidates[right.argmax()].item()
