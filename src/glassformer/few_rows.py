"""A linear layer for the few rows that a step of generation multiplies."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from jaxtyping import Float
from torch import Tensor, nn


@contextmanager
def weight_first(linear: nn.Linear, rows: int) -> Iterator[None]:
    """Compute `weight @ rowsᵀ` in a linear layer while it lasts, instead of `rows @ weightᵀ`.

    The sums are the same. On the CPU a large weight is multiplied with a few rows up to twice as
    fast that way around, and with a single row equally fast: then all stays as it is.
    """
    if rows == 1 or linear.weight.device.type != "cpu":
        yield
        return
    vars(linear)["forward"] = partial(_weight_first, linear)
    try:
        yield
    finally:
        del vars(linear)["forward"]


def _weight_first(
    linear: nn.Linear, hidden: Float[Tensor, "*batch width"]
) -> Float[Tensor, "*batch out"]:
    product = (linear.weight @ hidden.flatten(0, -2).mT).mT.unflatten(0, hidden.shape[:-1])
    return product if linear.bias is None else product + linear.bias
