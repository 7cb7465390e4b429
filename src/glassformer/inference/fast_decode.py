"""Faster linear layers for the few rows that a step of generation computes."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import TypeGuard

import torch
import torch.nn.functional as F
from jaxtyping import Float
from torch import Tensor, nn

# With more rows, computing takes longer than reading the weight.
MOST_ROWS = 64
# Elements of a weight; a smaller one has been read before a second thread starts.
LEAST_SIZE = 2**16
# Row counts for which multiplying in blocks measured faster than putting the weight first.
BLOCK_ROWS = (1, *range(5, 17))
MOST_BLOCK = 4096  # outputs


@contextmanager
def few_rows(model: nn.Module) -> Iterator[None]:
    """Compute a model's linear layers in the fastest way for a few rows, in a `with` block.

    With only a few rows, a linear layer takes as long as reading its weight from memory, and on the
    CPU torch reads it slowly: for one row, it uses a single thread. Here the weight is viewed as
    several blocks of outputs, which a batched product distributes over all threads, or it comes
    first in the product. No weight is copied.

    The results are the same, up to rounding. Only plain `nn.Linear` layers, in float32 or
    float64 on the CPU, are changed.
    """
    layers = [layer for layer in model.modules() if _is_sped_up(layer)]
    for layer in layers:
        vars(layer)["forward"] = Multiply(layer)
    try:
        yield
    finally:
        for layer in layers:
            del vars(layer)["forward"]


class Multiply:
    """A linear layer's computation, in the order that's fastest for the number of rows.

    Shapes: (..., in_features) to (..., out_features).

    >>> layer, hidden = torch.nn.Linear(576, 1536), torch.randn(1, 1, 576)
    >>> torch.allclose(Multiply(layer)(hidden), layer(hidden), atol=1e-5)
    True
    """

    def __init__(self, layer: nn.Linear) -> None:
        self.weight, self.bias = layer.weight, layer.bias
        self.out, self.width = layer.weight.shape
        self.blocks = _blocks(self.out, torch.get_num_threads())
        self.turned = self.weight.view(self.blocks, -1, self.width).mT  # (blocks, width, block)

    def __call__(self, hidden: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch out"]:
        """Multiply in blocks, or with the weight first, or as torch does."""
        rows = hidden.numel() // self.width
        in_blocks = rows in BLOCK_ROWS and self.blocks > 1
        if rows > MOST_ROWS or (rows < 2 and not in_blocks):
            return F.linear(hidden, self.weight, self.bias)
        flat = hidden.reshape(rows, self.width)
        if in_blocks:
            product = torch.bmm(flat.expand(self.blocks, rows, self.width), self.turned)
            product = product if rows == 1 else product.transpose(0, 1)
        else:
            product = (self.weight @ flat.mT).mT
        product = product.reshape(*hidden.shape[:-1], self.out)
        return product if self.bias is None else product + self.bias


def _is_sped_up(layer: nn.Module) -> TypeGuard[nn.Linear]:
    """Return whether a layer is a large linear one on the CPU that nobody has changed."""
    if type(layer) is not nn.Linear or "forward" in vars(layer):
        return False
    weight = layer.weight
    return (
        weight.numel() >= LEAST_SIZE
        and weight.device.type == "cpu"
        and weight.dtype in (torch.float32, torch.float64)
        and weight.is_contiguous()
    )


@lru_cache
def _blocks(out: int, threads: int) -> int:
    """Return the smallest number of equal blocks that keeps all threads busy, or 1 if there's none.

    A number that isn't a multiple of `threads` is the last choice: some threads would sit idle.
    """
    least = max(threads, out // MOST_BLOCK)
    equal = [blocks for blocks in range(least, 4 * least + 1) if out % blocks == 0]
    return min(equal, key=lambda blocks: (blocks % threads > 0, blocks), default=1)
