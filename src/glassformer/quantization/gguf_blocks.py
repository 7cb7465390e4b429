"""The quantized weights of a GGUF file: the numbers that their bytes encode."""

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

BLOCK = 20  # bytes in a block of Q4_1


def dequantize_q4_1(blocks: UInt8[Tensor, "*batch 20"]) -> Float[Tensor, "*batch 32"]:
    """Return the 32 weights of each block of Q4_1.

    A block is a scale and a minimum in float16, then 16 bytes. Their low four bits are the codes of
    the first 16 weights, and their high four bits those of the other 16.

    Shapes: Blocks (..., 20) to weights (..., 32) in float32.

    Raises:
        ValueError: The blocks have a different length.

    >>> dequantize_q4_1(torch.tensor([0, 60, 0, 0, *range(16)], dtype=torch.uint8))[:5]
    tensor([0., 1., 2., 3., 4.])
    """
    if blocks.shape[-1] != BLOCK:
        raise ValueError(
            f"blocks of shape {tuple(blocks.shape)} must end in {BLOCK}, the bytes of a block"
        )
    scale, minimum = blocks[..., :4].contiguous().view(torch.float16).float().split(1, dim=-1)
    packed = blocks[..., 4:]
    codes = torch.cat([packed & 15, packed >> 4], dim=-1)
    return codes * scale + minimum
