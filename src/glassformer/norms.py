"""Layer normalisation: each vector brought to mean 0 and variance 1, then scaled and shifted."""

import torch
from jaxtyping import Float
from torch import Tensor


def layer_norm(
    x: Float[Tensor, "*batch d_model"],
    weight: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    eps: float,
) -> Float[Tensor, "*batch d_model"]:
    r"""Normalise each vector by its own mean and variance.

    $y = \gamma (x - \mu) / \sqrt{\sigma^2 + \epsilon} + \beta$, where the mean $\mu$ and the
    variance $\sigma^2$ run over d_model.

    Models use `torch.nn.LayerNorm`, which computes the same in one kernel.

    Shapes: vectors (..., d_model) to the same; weight $\gamma$ and bias $\beta$ (d_model).

    Raises:
        ValueError: the width of x is not that of weight and bias, or eps is not more than 0.

    Source: Ba, Kiros and Hinton 2016, section 3, equations 3 and 4.
    """
    d_model = x.shape[-1]
    if weight.shape != (d_model,) or bias.shape != (d_model,):
        raise ValueError(
            f"weight of shape {tuple(weight.shape)} and bias of shape {tuple(bias.shape)} must "
            f"both have shape ({d_model},), the width of x"
        )
    if eps <= 0:
        raise ValueError(f"eps ({eps}) must be more than 0")
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)  # (..., 1), divided by d_model
    return weight * centred * torch.rsqrt(variance + eps) + bias
