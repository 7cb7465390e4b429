"""Measures of a ranking, and confidence intervals for them."""

from collections.abc import Callable

import torch
from jaxtyping import Float, Int, Num
from torch import Tensor

DRAWS = 1000


def places(
    scores: Float[Tensor, "rows columns"], right: Int[Tensor, " rows"]
) -> Int[Tensor, " rows"]:
    """Return the rank of each row's correct column, counted from 1 for the best score.

    Other columns with the same score count as ahead of it: a tie gets no benefit of the doubt.

    Raises:
        ValueError: A correct column does not exist.

    >>> places(torch.tensor([[0.1, 0.9, 0.5]]), torch.tensor([2]))
    tensor([2])
    """
    columns = scores.shape[1]
    if ((right < 0) | (right >= columns)).any():
        raise ValueError(f"right ({right.tolist()}) must name columns from 0 to {columns - 1}")
    return (scores >= scores.gather(1, right[:, None])).sum(1)


def ranks(values: Num[Tensor, " rows"]) -> Float[Tensor, " rows"]:
    """Return ranks, 1 for the smallest value; equal values share the mean of their ranks."""
    smaller = (values < values[:, None]).sum(1)
    not_larger = (values <= values[:, None]).sum(1)
    return (smaller + 1 + not_larger) / 2


def spearman(first: Num[Tensor, " rows"], second: Num[Tensor, " rows"]) -> float:
    """Return how well two orderings agree: 1 if equal, −1 if reversed, 0 if unrelated.

    Raises:
        ValueError: All values of one of them are equal, so they have no order.

    Source: Spearman 1904; the correlation of the ranks.

    >>> spearman(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([3.0, 2.0, 1.0]))
    -1.0
    """
    for values in (first, second):
        if (values == values[0]).all():
            raise ValueError(f"{len(values)} values, all {values[0].item()}, have no order")
    return torch.corrcoef(torch.stack([ranks(first), ranks(second)]))[0, 1].item()


def bootstrap(measure: Callable[..., float], *columns: Num[Tensor, " rows"]) -> tuple[float, float]:
    """Return the bootstrap 95% interval of a measure: rows are redrawn, with replacement.

    The draws are the same each time and don't affect the caller's random numbers.

    Raises:
        ValueError: The columns have no rows, or different numbers of rows.

    Source: Efron 1979; the percentile interval.
    """
    lengths = [len(column) for column in columns]
    if len(set(lengths)) != 1 or lengths[0] == 0:
        raise ValueError(
            f"columns of {lengths} rows must have the same number of rows, and at least one"
        )
    generator = torch.Generator().manual_seed(0)
    drawn = torch.randint(lengths[0], (DRAWS, lengths[0]), generator=generator)
    found = torch.tensor([measure(*(column[rows] for column in columns)) for rows in drawn])
    low, high = found.quantile(torch.tensor([0.025, 0.975])).tolist()
    return low, high
