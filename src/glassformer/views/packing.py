"""Numbers for the eye: one byte each, packed with their words into one inert string."""

import base64
import json
import zlib
from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float, Int8, UInt8
from torch import Tensor


def weight_bytes(weights: Float[Tensor, "*shape"]) -> UInt8[Tensor, "*shape"]:
    """Weights in 0..1 as steps of 1/255: off by at most 1/510, one step of a screen's opacity."""
    return (weights * 255).round().to(torch.uint8)


def vector_bytes(
    vectors: Float[Tensor, "layers heads seq head_dim"],
) -> tuple[Int8[Tensor, "layers heads seq head_dim"], Float[Tensor, "layers heads"]]:
    """Vectors as signed steps of a 127th of their head's largest entry, off by half a step at most.

    Returns:
        The steps, and the size of one step for each layer and head.
    """
    step = vectors.abs().amax(dim=(2, 3)).clamp(min=1e-12) / 127  # (layers, heads)
    return (vectors / step[..., None, None]).round().to(torch.int8), step


def pack(header: dict[str, Any], arrays: Iterable[Tensor]) -> str:
    """One base64 string of a deflated header (JSON) and byte arrays; no token in it is markup."""
    words = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    body = b"".join(array.contiguous().numpy().tobytes() for array in arrays)
    packed = zlib.compress(len(words).to_bytes(4, "little") + words + body, 9)
    return base64.b64encode(packed).decode()
