"""Right and wrong answers to the exercise on fewer bits."""

import struct

import torch
from answers import Answers


def by_struct(block, *, places=lambda k: (k, k + 16), value=lambda q, d, m: m + q * d):
    """Unpack a block as a C program would, byte by byte."""
    scale, minimum, *packed = struct.unpack("<ee16B", bytes(block.tolist()))
    weights = [0.0] * 32
    for k, byte in enumerate(packed):
        low, high = places(k)
        weights[low] = value(byte % 16, scale, minimum)
        weights[high] = value(byte // 16, scale, minimum)
    return torch.tensor(weights)


FEWER_BITS = {
    "check_dequantized_block": Answers(
        right=by_struct,
        wrong={
            "You take neighboring": lambda b: by_struct(b, places=lambda k: (2 * k, 2 * k + 1)),
            "high halves come first": lambda b: by_struct(b, places=lambda k: (k + 16, k)),
            "You subtract 8": lambda b: by_struct(b, value=lambda q, d, m: m + (q - 8) * d),
            "minimum is missing": lambda b: by_struct(b, value=lambda q, d, m: q * d),
            "You subtract the": lambda b: by_struct(b, value=lambda q, d, m: q * d - m),
            "Scale and minimum": lambda b: by_struct(b, value=lambda q, d, m: q * m + d),
            "You multiply the": lambda b: by_struct(b, value=lambda q, d, m: (q + m) * d),
        },
    ),
}
