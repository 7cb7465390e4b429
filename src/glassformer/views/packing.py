"""Pack numbers for display: one byte each, with their labels, in one string without markup."""

import base64
import json
import zlib
from collections.abc import Iterable
from typing import Any

import torch
from jaxtyping import Float, Int8, UInt8
from torch import Tensor

LEVEL = 6
"""How hard zlib tries: 9 takes ten times as long for a long text, to save a sixth of the bytes."""


def weight_bytes(weights: Float[Tensor, "*shape"]) -> UInt8[Tensor, "*shape"]:
    """Return weights from 0 to 1 as steps of 1/255, as fine as a screen's: off by at most 1/510."""
    return (weights * 255).round().to(torch.uint8)


def vector_bytes(
    vectors: Float[Tensor, "layers heads seq head_dim"],
) -> tuple[Int8[Tensor, "layers heads seq head_dim"], Float[Tensor, "layers heads"]]:
    """Return vectors as steps of 1/127 of their head's largest entry, off by at most half a step.

    Returns:
        The steps, and the size of one step for each layer and head.
    """
    step = vectors.abs().amax(dim=(2, 3)).clamp(min=1e-12) / 127  # (layers, heads)
    return (vectors / step[..., None, None]).round().to(torch.int8), step


def pack(header: dict[str, Any], arrays: Iterable[Tensor]) -> str:
    """Return a deflated header (JSON) and byte arrays as base64, so no token is read as markup."""
    words = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode()
    body = b"".join(array.contiguous().numpy().tobytes() for array in arrays)
    packed = zlib.compress(len(words).to_bytes(4, "little") + words + body, LEVEL)
    return base64.b64encode(packed).decode()
