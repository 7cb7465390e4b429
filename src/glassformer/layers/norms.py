"""Norms: each vector rescaled to a standard size, with or without its mean subtracted first."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor, nn


def layer_norm(
    x: Float[Tensor, "*batch d_model"],
    weight: Float[Tensor, " d_model"],
    bias: Float[Tensor, " d_model"],
    eps: float,
) -> Float[Tensor, "*batch d_model"]:
    """Normalize each vector by its own mean and variance.

    Computes `weight * (x - mean) / sqrt(variance + eps) + bias`, with mean and variance over
    d_model.

    Models use `torch.nn.LayerNorm`, which computes the same values in one kernel.

    Shapes: Vectors (..., d_model) to the same; weight and bias (d_model).

    Raises:
        ValueError: Weight or bias is not as wide as x, or eps is not more than 0.

    Source: Ba, Kiros, and Hinton 2016, section 3, equations 3 and 4.

    >>> layer_norm(torch.tensor([[1.0, 3.0]]), torch.ones(2), torch.zeros(2), eps=1e-12)
    tensor([[-1.,  1.]])
    """
    d_model = x.shape[-1]
    if weight.shape != (d_model,) or bias.shape != (d_model,):
        raise ValueError(
            f"weight of shape {tuple(weight.shape)} and bias of shape {tuple(bias.shape)} must "
            f"both have shape ({d_model},), the width of x"
        )
    if eps <= 0:
        raise ValueError(f"eps ({eps}) must be more than 0")
    centered = x - x.mean(dim=-1, keepdim=True)
    variance = centered.square().mean(dim=-1, keepdim=True)  # (..., 1), divided by d_model
    return weight * centered * torch.rsqrt(variance + eps) + bias


class RMSNorm(nn.Module):
    """A norm that divides each vector by its root mean square, then scales each of its numbers.

    Computes `weight * x / sqrt(mean(x ** 2) + eps)`, with the mean over d_model: layer
    normalization that subtracts no mean and adds no bias. Types narrower than float32 are
    normalized in float32.

    Shapes: Vectors (..., d_model) to the same; weight (d_model).

    Raises:
        ValueError: `d_model` is less than one, or `eps` is not more than 0.

    Source: Zhang and Sennrich 2019, section 4, equation 4; transformers 5.23, `LlamaRMSNorm`.

    >>> RMSNorm(2, eps=1e-12)(torch.tensor([[1.0, 7.0]])).detach()
    tensor([[0.2000, 1.4000]])
    """

    def __init__(self, d_model: int, eps: float):
        super().__init__()
        if d_model < 1:
            raise ValueError(f"d_model ({d_model}) must be at least 1")
        if eps <= 0:
            raise ValueError(f"eps ({eps}) must be more than 0")
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d_model"]) -> Float[Tensor, "*batch d_model"]:
        """Normalize each vector by its root mean square."""
        wide = x.float() if x.element_size() < 4 else x
        mean_square = wide.square().mean(dim=-1, keepdim=True)  # (..., 1)
        return self.weight * (wide * torch.rsqrt(mean_square + self.eps)).to(x.dtype)

    def extra_repr(self) -> str:
        """Return the width and eps."""
        return f"{len(self.weight)}, eps={self.eps}"


NORMS: dict[str, Callable[..., nn.Module]] = {"layer": nn.LayerNorm, "rms": RMSNorm}
