"""Low-rank adaptation: a frozen linear layer plus two narrow, trainable matrices."""

from collections.abc import Collection

import torch
from jaxtyping import Float
from torch import Tensor, nn


class LoRALinear(nn.Linear):
    """A frozen linear layer plus a product of two narrow matrices, `alpha / rank * B @ A`.

    A starts random and B at zero, so at first the layer computes what it did before. Its weight is
    the given layer's own, not a copy.

    Shapes: (..., in_features) to (..., out_features); A (rank, in_features), B (out_features,
    rank).

    Raises:
        ValueError: `rank` is less than one.

    Source: Hu et al. 2022, section 4.1, equation 3; peft 0.21, `lora.Linear`.

    >>> layer = LoRALinear(torch.nn.Linear(5, 3), rank=2, alpha=4)
    >>> [name for name, p in layer.named_parameters() if p.requires_grad], layer.scale
    (['A', 'B'], 2.0)
    """

    def __init__(self, base: nn.Linear, rank: int, alpha: int | float):
        has_bias = base.bias is not None
        super().__init__(base.in_features, base.out_features, bias=has_bias, device="meta")
        if rank < 1:
            raise ValueError(f"rank ({rank}) must be at least 1")
        self.weight, self.bias = base.weight, base.bias
        self.requires_grad_(False)
        self.scale = alpha / rank
        self.A = nn.Parameter(base.weight.new_empty(rank, base.in_features))
        self.B = nn.Parameter(base.weight.new_zeros(base.out_features, rank))
        nn.init.kaiming_uniform_(self.A, a=5**0.5)  # as in torch's linear layers

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        """Apply the frozen layer, and add the scaled product of the same input with A and B."""
        return super().forward(x) + self.scale * (x @ self.A.T @ self.B.T)

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        """Return one plain layer that computes the same output, with its own weight."""
        weight = self.weight + self.scale * self.B @ self.A
        layer = nn.Linear(self.in_features, self.out_features, bias=False, device="meta")
        layer.weight, layer.bias = nn.Parameter(weight), self.bias
        return layer


def add_lora(
    model: nn.Module, names: Collection[str], *, rank: int, alpha: int | float
) -> nn.Module:
    """Freeze a model, and turn each linear layer whose name is in `names` into a `LoRALinear`.

    The model is changed in place and returned. A layer's name is the last part of its path.

    Raises:
        ValueError: No linear layer has one of the names, or rank is less than one.
    """
    linear = {path: part for path, part in model.named_modules() if type(part) is nn.Linear}
    chosen = [path for path in linear if path.rpartition(".")[2] in names]
    missing = {*names} - {path.rpartition(".")[2] for path in chosen}
    if missing:
        raise ValueError(f"names {sorted(missing)} must be names of linear layers of the model")
    model.requires_grad_(False)
    for path in chosen:
        model.set_submodule(path, LoRALinear(linear[path], rank, alpha))
    return model


def merge_lora(model: nn.Module) -> nn.Module:
    """Replace each `LoRALinear` of a model with the plain layer that computes the same output.

    The model is changed in place and returned.

    Raises:
        ValueError: The model has no `LoRALinear`, for example after a first call.
    """
    for path, layer in _adapted(model, "merge").items():
        model.set_submodule(path, layer.merged())
    return model


def adapter_state(model: nn.Module) -> dict[str, Tensor]:
    """Return the A and B of each `LoRALinear` by name: the weights to save, not the frozen ones.

    `model.load_state_dict(state, strict=False)` reads them back.

    Raises:
        ValueError: The model has no `LoRALinear`.
    """
    adapted, state = _adapted(model, "save"), model.state_dict()
    return {name: state[name] for path in adapted for name in (f"{path}.A", f"{path}.B")}


def _adapted(model: nn.Module, purpose: str) -> dict[str, LoRALinear]:
    found = {path: part for path, part in model.named_modules() if isinstance(part, LoRALinear)}
    if not found:
        raise ValueError(f"{type(model).__name__} has no LoRALinear to {purpose}")
    return found
