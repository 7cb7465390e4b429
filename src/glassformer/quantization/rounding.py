"""Round weights to a few levels, with or without regard to the inputs."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

POWERS = (0.0, 0.25, 0.5, 0.75, 1.0)
"""The powers of the inputs' size that `awq_round` tries as scales."""


def round_weights(
    weight: Float[Tensor, "rows columns"], bits: int, group: int | None = None
) -> Float[Tensor, "rows columns"]:
    """Round each weight to the nearest of 2**bits equally spaced levels in its group's range.

    A group is `group` neighbors in a row or, by default, the whole matrix. Its scale and
    its minimum are in float16, as in the format Q4_1: with 4 bits and groups of 32, the result has
    the values that the format stores.

    Shapes: (rows, columns), before and after.

    Raises:
        ValueError: `bits` is not from 1 to 8, the groups don't fill the rows, or a scale or a
            minimum doesn't fit in float16.

    >>> round_weights(torch.tensor([[0.0, 1.0, 2.5, 6.0]]), bits=2)
    tensor([[0., 0., 2., 6.]])
    """
    if not 1 <= bits <= 8:
        raise ValueError(f"bits ({bits}) must be from 1 to 8")
    if group is not None and (group < 1 or weight.shape[-1] % group):
        raise ValueError(
            f"group ({group}) must divide the {weight.shape[-1]} columns of the weight"
        )
    groups = weight.reshape(1, -1) if group is None else weight.reshape(-1, group)
    minimum, maximum = groups.aminmax(dim=1, keepdim=True)
    scale = (maximum - minimum) / (2**bits - 1)
    if not (scale.half().isfinite() & minimum.half().isfinite()).all():
        raise ValueError(
            f"weights from {weight.min():.6g} to {weight.max():.6g} have a scale or a minimum that "
            f"is beyond float16, whose largest number is {torch.finfo(torch.float16).max:.0f}"
        )
    codes = ((groups - minimum) / scale.where(scale > 0, 1)).round()
    return (codes * scale.half() + minimum.half()).view_as(weight)


def output_error(
    change: Float[Tensor, "rows columns"], moments: Float[Tensor, "columns columns"]
) -> Float[Tensor, ""]:
    """Return how much changing a weight changes the output: the change's mean squared length.

    For inputs x, that's the mean of ‖change · x‖², and `moments` is the mean of x xᵀ.

    Shapes: (rows, columns) and (columns, columns) to a number.
    """
    return (change @ moments * change).sum()


def awq_round(
    weight: Float[Tensor, "rows columns"],
    moments: Float[Tensor, "columns columns"],
    bits: int,
    group: int | None = None,
) -> Float[Tensor, "rows columns"]:
    """Round weights so that the columns with large inputs lose less precision.

    Multiply each column by a power of its inputs' size, round, and divide again. Among the
    `POWERS`, keep the one with the least `output_error` on these inputs. With the power zero, this
    is `round_weights`, so on these inputs the result is never worse than that.

    Shapes: (rows, columns), before and after; moments (columns, columns), the mean of x xᵀ over
    the layer's inputs x.

    Raises:
        ValueError: The moments have a different width or are all zero, and as for `round_weights`.

    Source: Lin et al. 2024, section 3.2.

    >>> weight, inputs = torch.randn(5, 8), torch.randn(13, 8) * torch.arange(8)
    >>> awq_round(weight, inputs.T @ inputs / 13, bits=3, group=4).shape
    torch.Size([5, 8])
    """
    columns = weight.shape[-1]
    if moments.shape != (columns, columns):
        raise ValueError(
            f"moments of shape {tuple(moments.shape)} must be ({columns}, {columns}), as the "
            f"weight has {columns} columns"
        )
    if not moments.any():
        raise ValueError("moments are all zero, so they can't tell which columns matter")
    size = moments.diagonal().sqrt()  # (columns,)
    size = (size / size.mean()).clamp(min=1e-3)
    scales = [size**power for power in POWERS]
    rounded = [round_weights(weight * scale, bits, group) / scale for scale in scales]
    return min(rounded, key=lambda found: output_error(found - weight, moments).item())


@contextmanager
def input_moments(
    model: nn.Module, is_token: Bool[Tensor, "batch seq"]
) -> Iterator[dict[str, Float[Tensor, "columns columns"]]]:
    """Collect the mean of x xᵀ over the inputs x of each linear layer, while the model reads.

    Padding is left out. The values are those of the last batch that was read.

    Shapes: `is_token` (batch, seq), true for a token; (columns, columns) for each layer's name.

    >>> model, moments = torch.nn.Sequential(torch.nn.Linear(3, 5)), None
    >>> with input_moments(model, torch.tensor([[True, False]])) as moments:
    ...     _ = model(torch.tensor([[[1.0, 2.0, 3.0], [9.0, 9.0, 9.0]]]))
    >>> moments["0"][0]
    tensor([1., 2., 3.])
    """
    moments: dict[str, Tensor] = {}
    with ExitStack() as stack:
        for name, layer in model.named_modules():
            if isinstance(layer, nn.Linear):
                keep = partial(_keep, moments, name, is_token)
                stack.callback(layer.register_forward_pre_hook(keep).remove)
        yield moments


def _keep(
    moments: dict[str, Tensor],
    name: str,
    is_token: Bool[Tensor, "batch seq"],
    _: nn.Module,
    inputs: tuple[Float[Tensor, "batch seq columns"]],
) -> None:
    """Keep the mean of x xᵀ over a layer's inputs."""
    x = inputs[0].detach()[is_token]  # (tokens, columns)
    moments[name] = x.mT @ x / len(x)
