"""The quantized weights of a GGUF file for a page: its own blocks, in the graph's order."""

import hashlib
from pathlib import Path

import numpy as np
import torch

from glassbook.live.export import Packed
from glassformer.weights.gguf_files import REORDERED, by_halves

KINDS = ("F32", "Q8_0", "Q4_1")
"""What the page's script can unpack."""


class Blocks:
    """The weights of a GGUF file, found by the float32 numbers that they encode.

    A graph names its weights as it likes, and it has matrices transposed: (inputs, outputs). So
    each weight of the graph is looked up by the hash of its numbers, and none can be mistaken for
    another.

    Args:
        gguf: A Llama's file, with the types of `KINDS`: matrices in Q4_1, the table of tokens in
            Q8_0.

    Raises:
        ValueError: The file has a weight of another type.
    """

    def __init__(self, gguf: Path):
        from gguf import GGUFReader
        from gguf.quants import dequantize

        reader = GGUFReader(gguf)
        self._found: dict[str, Packed] = {}
        for tensor in reader.tensors:
            kind = tensor.tensor_type.name
            if kind not in KINDS:
                raise ValueError(f"{tensor.name} has type {kind}, not one of {', '.join(KINDS)}")
            data, weight = tensor.data, dequantize(tensor.data, tensor.tensor_type)
            field = reader.get_field(REORDERED.get(tensor.name.split(".")[-2], ""))
            if field is not None:
                order = _order(len(weight), field.contents())
                data, weight = data[order], weight[order]
            about: list[object] = [weight.size, {"F32": "float32"}.get(kind, kind.lower())]
            if kind == "Q4_1":
                about.append(len(weight))
                weight = weight.T
            self._found[_hash(weight)] = about, data.tobytes()

    def __call__(self, weight: np.ndarray) -> Packed:
        """Return the blocks of a weight of the graph.

        Raises:
            ValueError: The file has no such weight, and it isn't a small one of the graph's own.
        """
        found = self._found.get(_hash(weight))
        if found is None and weight.ndim > 1:
            raise ValueError(f"a weight of shape {weight.shape} is not in the GGUF file")
        return found or ([weight.size, "float32"], weight.tobytes())


def _order(rows: int, heads: int) -> np.ndarray:
    """Return which row of the file is where, with each head's rows in halves."""
    numbers = torch.arange(rows, dtype=torch.float32)[:, None]
    return by_halves(numbers, heads)[:, 0].long().numpy()


def _hash(weight: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(weight, dtype=np.float32).tobytes()).hexdigest()
