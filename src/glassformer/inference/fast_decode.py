"""Faster layers for the few rows that a step of generation computes."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, partial

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from glassformer.layers.norms import RMSNorm
from glassformer.layers.positions import RotaryPositions

# With more rows, computing takes longer than reading the weight.
MOST_ROWS = 64
# Elements of a weight; a smaller one has been read before a second thread starts.
LEAST_SIZE = 2**16
# Row counts for which multiplying in blocks measured faster than putting the weight first.
BLOCK_ROWS = (1, *range(5, 17))
MOST_BLOCK = 4096  # outputs


@contextmanager
def few_rows(model: nn.Module) -> Iterator[None]:
    """Compute a model's layers in the fastest way for a few rows, inside a `with` block.

    With only a few rows, a linear layer takes as long as reading its weight from memory, and on the
    CPU torch reads it slowly: for one row, it uses a single thread. Here the weight is viewed as
    several blocks of outputs, which a batched product distributes over all threads, or it comes
    first in the product. No weight is copied. An RMS norm takes one call, and all layers share the
    sines and cosines of a step's positions.

    The results are the same, up to rounding. Only layers of exactly these classes, in float32 or
    float64 on the CPU, are changed.
    """
    forwards = dict(_faster(model))
    for layer, forward in forwards.items():
        vars(layer)["forward"] = forward
    try:
        yield
    finally:
        for layer in forwards:
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


class CachedRotary:
    """Rotary positions that cache the sines and cosines of the last call's positions.

    Shapes: as `RotaryPositions`.

    >>> rotary, heads, ids = RotaryPositions(head_dim=4), torch.randn(3, 1, 4), torch.tensor([7])
    >>> torch.equal(CachedRotary(rotary)(heads, ids), rotary(heads, ids))
    True
    """

    def __init__(self, rotary: RotaryPositions) -> None:
        self.rotary = rotary
        self.positions: Tensor | None = None
        self.tables: tuple[Tensor, ...] = ()

    def __call__(
        self, heads: Float[Tensor, "*batch seq head_dim"], position_ids: Int[Tensor, "*#batch seq"]
    ) -> Float[Tensor, "*batch seq head_dim"]:
        """Rotate by the angles of these positions."""
        if self.positions is None or not self.positions.equal(position_ids):
            angle = position_ids[..., None] * self.rotary.frequencies
            self.positions = position_ids.clone()
            self.tables = (angle.cos().to(heads.dtype), angle.sin().to(heads.dtype))
        cos, sin = self.tables
        return heads * cos + self.rotary._partners(heads) * sin


def _faster(model: nn.Module) -> Iterator[tuple[nn.Module, Callable[..., Tensor]]]:
    """Yield each layer that gets faster, with its temporary `forward`."""
    rotaries: dict[tuple, CachedRotary] = {}
    for layer in model.modules():
        if "forward" in vars(layer):
            continue
        if type(layer) is nn.Linear and _is_plain(layer.weight):
            if layer.weight.numel() >= LEAST_SIZE:
                yield layer, Multiply(layer)
        elif type(layer) is RMSNorm and _is_plain(layer.weight):
            yield layer, partial(_rms_norm, layer)
        elif type(layer) is RotaryPositions and layer.frequencies.device.type == "cpu":
            kind = (layer.interleaved, *layer.frequencies.tolist())
            yield layer, rotaries.setdefault(kind, CachedRotary(layer))


def _is_plain(weight: Tensor) -> bool:
    return (
        weight.device.type == "cpu"
        and weight.dtype in (torch.float32, torch.float64)
        and weight.is_contiguous()
    )


def _rms_norm(norm: RMSNorm, hidden: Tensor) -> Tensor:
    return F.rms_norm(hidden, norm.weight.shape, norm.weight, norm.eps)


@lru_cache
def _blocks(out: int, threads: int) -> int:
    """Return the smallest number of equal blocks that keeps all threads busy, or 1 if there's none.

    A number that isn't a multiple of `threads` is the last choice: some threads would sit idle.
    """
    least = max(threads, out // MOST_BLOCK)
    equal = [blocks for blocks in range(least, 4 * least + 1) if out % blocks == 0]
    return min(equal, key=lambda blocks: (blocks % threads > 0, blocks), default=1)
