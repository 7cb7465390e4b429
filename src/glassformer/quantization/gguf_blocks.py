"""The quantized weights of a GGUF file: their bytes, and the numbers that the bytes encode."""

import mmap
import struct
from pathlib import Path

import torch
from jaxtyping import Float, UInt8
from torch import Tensor

BLOCK = 20  # bytes in a block of Q4_1
Q4_1 = 3  # its type number in the file
WEIGHTS = 32  # in a block

# The bytes of each type of field. Strings (8) and arrays (9) contain their own lengths.
SIZES = {0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}
STRING, ARRAY = 8, 9
ALIGNMENT = 32


def dequantize_q4_1(blocks: UInt8[Tensor, "*batch 20"]) -> Float[Tensor, "*batch 32"]:
    """Return the 32 weights of each block of Q4_1.

    A block is a scale and a minimum in float16, then 16 bytes. Their low four bits are the codes of
    the first 16 weights, and their high four bits those of the other 16.

    Shapes: blocks (..., 20) to weights (..., 32) in float32.

    Raises:
        ValueError: the blocks have a different length.

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


def read_q4_1(gguf: Path, name: str) -> UInt8[Tensor, "blocks 20"]:
    """Return the blocks of a weight as a GGUF file stores them.

    Shapes: (blocks, 20), in the order of the weight's rows.

    Raises:
        ValueError: the file has no such weight, or the weight isn't in Q4_1.
    """
    with gguf.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        tensors, start = _table(content)
        if name not in tensors:
            raise ValueError(f"{gguf.name} has no weight named {name!r}")
        kind, count, offset = tensors[name]
        if kind != Q4_1:
            raise ValueError(f"{name} is of type {kind} in {gguf.name}, not of type {Q4_1} (Q4_1)")
        first = start + offset
        stored = bytearray(content[first : first + count // WEIGHTS * BLOCK])
    return torch.frombuffer(stored, dtype=torch.uint8).view(-1, BLOCK)


def _table(content: mmap.mmap) -> tuple[dict[str, tuple[int, int, int]], int]:
    """Return each weight's type, size, and offset, and the offset at which the weights begin."""
    _, _, weights, fields = struct.unpack_from("<IIQQ", content)
    place, found = 24, {}
    for _ in range(fields):
        _, place = _string(content, place)
        (kind,) = struct.unpack_from("<I", content, place)
        place = _after(content, place + 4, kind)
    for _ in range(weights):
        name, place = _string(content, place)
        (axes,) = struct.unpack_from("<I", content, place)
        *shape, kind, offset = struct.unpack_from(f"<{axes}QIQ", content, place + 4)
        place += 4 + 8 * axes + 12
        count = 1
        for length in shape:
            count *= length
        found[name] = (kind, count, offset)
    return found, place + -place % ALIGNMENT


def _string(content: mmap.mmap, place: int) -> tuple[str, int]:
    """Return the text that begins at an offset, and the offset at which it ends."""
    (length,) = struct.unpack_from("<Q", content, place)
    end = place + 8 + length
    return content[place + 8 : end].decode(), end


def _after(content: mmap.mmap, place: int, kind: int) -> int:
    """Return the offset at which a field's value ends."""
    if kind == STRING:
        return place + 8 + struct.unpack_from("<Q", content, place)[0]
    if kind != ARRAY:
        return place + SIZES[kind]
    kind, length = struct.unpack_from("<IQ", content, place)
    place += 12
    if kind in SIZES:
        return place + length * SIZES[kind]
    for _ in range(length):
        place = _after(content, place, kind)
    return place
