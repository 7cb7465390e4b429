"""Words for the axes of a tensor's shape, read from the signatures of what made it."""

import inspect
from collections.abc import Iterator, Mapping
from typing import Any

import torch
from torch import Tensor

# Configuration fields that give the size of an axis, and the axis's name.
SIZES = {
    "d_model": "d_model",
    "d_ff": "d_ff",
    "vocab_size": "vocab",
    "num_labels": "labels",
    "hidden_size": "d_model",
    "intermediate_size": "d_ff",
}


def tensors(output: Any) -> Iterator[Tensor]:
    """Yield the tensors in what a module returned."""
    if isinstance(output, Tensor):
        yield output
    elif isinstance(output, Mapping):
        yield from (x for x in output.values() if isinstance(x, Tensor))
    elif isinstance(output, (tuple, list)):
        yield from (x for x in output if isinstance(x, Tensor))


class Axes:
    """Words for the axes of a shape, learned from the signatures of the modules that ran."""

    def __init__(self, model: Any) -> None:
        config = getattr(model, "config", None)
        self.names: dict[tuple[int, ...], tuple[str, ...]] = {}
        self.sizes = {
            getattr(config, key): word
            for key, word in SIZES.items()
            if isinstance(getattr(config, key, None), int)
        }

    def learn(self, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Read the axis words of a module's inputs, or of a function's."""
        signature = inspect.signature(getattr(module, "forward", module))
        try:
            bound = signature.bind(*args, **kwargs).arguments
        except TypeError:  # the call itself will raise it
            return
        for name, value in bound.items():
            if isinstance(value, Tensor):
                self.keep(value, signature.parameters[name].annotation)
                if value.ndim == 2 and value.dtype in (torch.int64, torch.int32):
                    self.names.setdefault(tuple(value.shape), ("batch", "seq"))

    def learn_output(self, module: Any, args: tuple[Any, ...], output: Any) -> None:
        """Read the axis words of a module's output, or derive them from those of its input."""
        if not isinstance(output, Tensor):
            return
        forward = getattr(module, "forward", module)
        self.keep(output, inspect.signature(forward).return_annotation)
        shape = tuple(output.shape)
        if shape not in self.names and shape[:-1] in self.names and shape[-1] in self.sizes:
            self.names[shape] = (*self.names[shape[:-1]], self.sizes[shape[-1]])

    def keep(self, tensor: Tensor, annotation: Any) -> None:
        """Remember an annotation such as `Float[Tensor, "batch seq d_model"]` for this shape."""
        words = getattr(annotation, "dim_str", "").split()
        if words and words[0] == "*batch":  # any leading axes
            ahead = ("batch", "heads" if "seq" in words else "seq")
            words = [*ahead[: tensor.ndim - len(words) + 1], *words[1:]]
        if len(words) == tensor.ndim and all(word.isidentifier() for word in words):
            self.names.setdefault(tuple(tensor.shape), tuple(words))

    def of(self, shape: tuple[int, ...]) -> tuple[str, ...]:
        """Return one word per axis; it's empty if the axis is unknown."""
        if shape in self.names:
            return self.names[shape]
        lead = self.names.get(shape[:2], ("", ""))
        if len(shape) < 3:
            return (
                ("batch", self.sizes[shape[1]])
                if len(shape) == 2 and shape[1] in self.sizes
                else ("",) * len(shape)
            )
        return (*lead, *(self.sizes.get(size, "") for size in shape[2:]))
