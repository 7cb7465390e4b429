"""Ablation: run a model without some of its attention heads."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from glassformer.models.task_models import TransformerForCausalLM


@contextmanager
def ablated(
    model: TransformerForCausalLM,
    removed: Bool[Tensor, "batch layers heads"],
    replacement: Float[Tensor, "layers heads head_dim"] | None = None,
) -> Iterator[None]:
    """Replace the outputs of some heads inside a `with` block.

    Each row of a batch can lack different heads, so one forward pass compares many ablations. At
    every position, a removed head's output is its replacement, or zeros if none is given.

    Shapes: `removed` (batch, layers, heads), true where a head is removed; replacement (layers,
    heads, head_dim).

    Raises:
        ValueError: `removed` or `replacement` doesn't fit the model's layers, heads, or widths.

    Source: Michel et al. 2019, section 2.2.

    >>> from glassformer import TransformerConfig
    >>> config = TransformerConfig(vocab_size=11, d_model=8, num_heads=2, num_layers=3, d_ff=16)
    >>> removed = torch.zeros(1, 3, 2, dtype=torch.bool)
    >>> with ablated(TransformerForCausalLM(config), removed):
    ...     pass
    """
    heads = model.config.num_layers, model.config.num_heads
    if removed.shape[1:] != heads:
        raise ValueError(
            f"removed of shape {tuple(removed.shape)} must be (batch, {heads[0]}, {heads[1]}), "
            "the model's layers and heads"
        )
    head_dim = model.config.head_dim or model.config.d_model // model.config.num_heads
    wanted = (*heads, head_dim)
    if replacement is None:
        replacement = torch.zeros(wanted, device=removed.device)
    if replacement.shape != wanted:
        raise ValueError(
            f"replacement of shape {tuple(replacement.shape)} must be {wanted}, a vector for each "
            "head"
        )
    with ExitStack() as stack:
        for number in range(heads[0]):
            replace = partial(_replace, removed[:, number], replacement[number])
            out_proj = model.get_submodule(f"decoder.layers.{number}.attention.out_proj")
            stack.callback(out_proj.register_forward_pre_hook(replace).remove)
        yield


def _replace(
    removed: Bool[Tensor, "batch heads"],
    replacement: Float[Tensor, "heads head_dim"],
    out_proj: nn.Module,
    inputs: tuple[Float[Tensor, "batch seq width"]],
) -> Float[Tensor, "batch seq width"]:
    """Return the heads' outputs, side by side as `out_proj` reads them, with some replaced."""
    outputs = inputs[0].unflatten(-1, replacement.shape)  # (batch, seq, heads, head_dim)
    chosen = removed[:, None, :, None]
    return torch.where(chosen, replacement.to(outputs.dtype), outputs).flatten(-2)
