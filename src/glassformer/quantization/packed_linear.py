"""Linear layers with weights in 8 or 4 bits, multiplied by torch's own kernels on the CPU."""

from typing import TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

GROUP = 32
"""How many neighboring weights in a row share a scale and a zero, at 4 bits."""

Model = TypeVar("Model", bound=nn.Module)


class _PackedLinear(nn.Module):
    """What packed layers have in common: checked sizes, a bias, and results like their inputs."""

    def __init__(self, layer: nn.Linear, *, bits: int, inputs: int, outputs: int):
        super().__init__()
        self.out_features, self.in_features = layer.weight.shape
        if layer.weight.device.type != "cpu":
            raise ValueError(
                f"a layer on {layer.weight.device} can't be packed: the kernel runs only on the CPU"
            )
        if self.in_features % inputs or self.out_features % outputs:
            raise ValueError(
                f"in_features ({self.in_features}) and out_features ({self.out_features}) must be "
                f"multiples of {inputs} and {outputs} to be packed in {bits} bits"
            )
        self.bias = None if layer.bias is None else layer.bias.detach().clone()

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}"

    def _as_input(self, product: Tensor, hidden: Tensor) -> Tensor:
        """Return the product in the input's shape and type, with the bias."""
        product = product.to(hidden.dtype).view(*hidden.shape[:-1], -1)
        return product if self.bias is None else product + self.bias


class PackedLinear8(_PackedLinear):
    """A linear layer with an 8-bit code for each weight and a scale for each output.

    A weight is its code times its output's scale. The kernel takes inputs and scales in bfloat16
    and rounds its results to bfloat16; they're returned in the input's type. There is nothing to
    train and nothing in the state dict: pack a model after you've loaded it.

    Shapes: (..., in_features) to (..., out_features).

    Raises:
        ValueError: The layer isn't on the CPU, or its in_features aren't a multiple of 16: the
            kernel would read beyond them.

    Source: torch 2.13, `_weight_int8pack_mm`.

    >>> PackedLinear8(torch.nn.Linear(48, 7))(torch.randn(1, 3, 48)).shape
    torch.Size([1, 3, 7])
    """

    def __init__(self, layer: nn.Linear):
        super().__init__(layer, bits=8, inputs=16, outputs=1)
        weight = layer.weight.detach().float()
        self.scale = (weight.abs().amax(dim=1) / 127).bfloat16()  # (out,)
        codes = weight / _divisor(self.scale)[:, None]
        self.codes = codes.round().clamp(-128, 127).to(torch.int8)  # (out, in)

    def forward(self, hidden: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch out"]:
        """Multiply in bfloat16, and return the product in the input's type."""
        rows = hidden.reshape(-1, self.in_features).bfloat16()
        product = torch._weight_int8pack_mm(rows, self.codes, self.scale)
        return self._as_input(product, hidden)

    @property
    def nbytes(self) -> int:
        """The number of bytes in the codes and scales."""
        return self.codes.nbytes + self.scale.nbytes

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}"


class Int4Linear(_PackedLinear):
    """A linear layer with a 4-bit code for each weight; 32 neighbors share a scale and a zero.

    A weight is (code − 8) · scale + zero. Scale and zero are in bfloat16, and so are the kernel's
    inputs and results, as in `PackedLinear8`. The order of the codes depends on the processor.

    Shapes: (..., in_features) to (..., out_features).

    Raises:
        ValueError: The layer isn't on the CPU, its in_features aren't a multiple of 32, or its
            out_features aren't a multiple of 16.

    Source: torch 2.13, `_weight_int4pack_mm_for_cpu`.

    >>> Int4Linear(torch.nn.Linear(96, 16))(torch.randn(1, 3, 96)).shape
    torch.Size([1, 3, 16])
    """

    def __init__(self, layer: nn.Linear):
        super().__init__(layer, bits=4, inputs=GROUP, outputs=16)
        groups = layer.weight.detach().float().unflatten(1, (-1, GROUP))  # (out, groups, GROUP)
        minimum, maximum = groups.aminmax(dim=2)
        scale = ((maximum - minimum) / 15).bfloat16()  # (out, groups)
        zero = (minimum + 8 * scale.float()).bfloat16()
        codes = (groups - zero[..., None].float()) / _divisor(scale)[..., None] + 8
        codes = codes.round().clamp(0, 15).int().flatten(1)  # (out, in)
        self.codes = torch._convert_weight_to_int4pack_for_cpu(codes, 1)  # (out, in / 2)
        self.scale_and_zero = torch.stack([scale, zero], dim=-1).transpose(0, 1).contiguous()

    def forward(self, hidden: Float[Tensor, "*batch width"]) -> Float[Tensor, "*batch out"]:
        """Multiply in bfloat16, and return the product in the input's type."""
        rows = hidden.reshape(-1, self.in_features).bfloat16()
        product = torch._weight_int4pack_mm_for_cpu(rows, self.codes, GROUP, self.scale_and_zero)
        return self._as_input(product, hidden)

    @property
    def nbytes(self) -> int:
        """The number of bytes in the codes, scales, and zeros."""
        return self.codes.nbytes + self.scale_and_zero.nbytes

    def extra_repr(self) -> str:
        """Return the sizes."""
        return f"in_features={self.in_features}, out_features={self.out_features}"


def pack(model: Model, bits: int) -> Model:
    """Replace a model's linear layers, in place, with ones whose weights have that many bits.

    At 4 bits, a layer that shares its weight with an embedding table gets 8: usually it's the
    output layer, and the choice among tokens depends on it directly. The table stays the same, and
    so does everything else, such as norms and the contents of a cache.

    Raises:
        ValueError: `bits` is neither 8 nor 4, or a layer can't be packed; then no layer changes.

    >>> pack(torch.nn.Sequential(torch.nn.Linear(32, 16), torch.nn.ReLU()), bits=4)
    Sequential(
      (0): Int4Linear(in_features=32, out_features=16)
      (1): ReLU()
    )
    """
    if bits not in (8, 4):
        raise ValueError(f"bits ({bits}) must be 8 or 4")
    tables = {id(layer.weight) for layer in model.modules() if isinstance(layer, nn.Embedding)}
    packed: dict[str, nn.Module] = {}
    for name, layer in model.named_modules():
        if type(layer) is nn.Linear:
            kind = Int4Linear if bits == 4 and id(layer.weight) not in tables else PackedLinear8
            try:
                packed[name] = kind(layer)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from error
    for name, layer in packed.items():
        model.set_submodule(name, layer)
    return model


def _divisor(scale: Tensor) -> Tensor:
    """Return the divisor for weights: their scale, or 1 where it's zero because all are equal."""
    return scale.where(scale > 0, 1).float()
