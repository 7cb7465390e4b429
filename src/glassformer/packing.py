"""Packed weights: linear maps laid out for the few rows that a step of generation multiplies."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


@contextmanager
def packed(model: nn.Module, rows: int) -> Iterator[None]:
    """While it lasts, the linear maps multiply by copies of their weights, in another order.

    A step multiplies each weight of the model by a few rows, one token each, and lasts about as
    long as reading the weights takes. The order in which that goes fastest depends on the number of
    rows. The weights themselves stay as they are. Only float32 on the CPU is packed; gradients
    do not flow through it.

    Shapes: as each map's own.
    """
    maps = [m for m in model.modules() if isinstance(m, nn.Linear) and _can_be_packed(m.weight)]
    try:
        for linear in maps:
            vars(linear)["forward"] = _packed_forward(linear, rows)
        yield
    finally:
        for linear in maps:
            vars(linear).pop("forward", None)


def _can_be_packed(weight: Tensor) -> bool:
    on_cpu = weight.device.type == "cpu" and torch.backends.mkldnn.is_available()
    return on_cpu and weight.dtype == torch.float32


def _packed_forward(linear: nn.Linear, rows: int) -> Callable[[Tensor], Tensor]:
    # oneDNN's blocks, which torch.compile uses too: with 8 rows about twice as fast as F.linear.
    blocks = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach().contiguous(), rows)
    multiply, bias = torch.ops.mkldnn._linear_pointwise, linear.bias
    return lambda hidden: multiply(hidden, blocks, bias, "none", [], "")
