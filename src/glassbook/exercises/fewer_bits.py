"""Exercises for the chapter on fewer bits."""

import torch

from glassbook.exercises.checking import Draw, Exercise
from glassformer.quantization.gguf_blocks import dequantize_q4_1

__all__ = ["check_dequantized_block"]


def _blocks(draw: Draw):
    for name, scale, minimum in (
        ("20 bytes, the minimum below zero", 0.25, -1.5),
        ("20 bytes, the minimum above zero", 0.0078125, 3.0),
    ):
        header = torch.tensor([scale, minimum], dtype=torch.float16).view(torch.uint8)
        yield name, (torch.cat([header, draw.ids(256, 16).to(torch.uint8)]),)


def _parts(block):
    """Return the scale, the minimum, and the low and the high codes of each byte."""
    scale, minimum = block[:4].view(torch.float16).double()
    return scale, minimum, block[4:] & 15, block[4:] >> 4


def _weights(block, *, order=torch.cat, offset=0, sign=1):
    scale, minimum, low, high = _parts(block)
    return (order([low, high]).double() - offset) * scale + sign * minimum


def _exchanged(block):
    scale, minimum, low, high = _parts(block)
    return torch.cat([low, high]) * minimum + scale


def _times_the_minimum(block):
    scale, minimum, low, high = _parts(block)
    return (torch.cat([low, high]) + minimum) * scale


check_dequantized_block = Exercise(
    asks="the weights in a block of Q4_1",
    reference=lambda block: dequantize_q4_1(block),
    examples=_blocks,
    mistakes={
        "You take neighboring weights from one byte. A byte's high half belongs 16 weights "
        "after its low half.": lambda b: _weights(
            b, order=lambda codes: torch.stack(codes, 1).flatten()
        ),
        "The high halves come first; they belong after the low halves.": lambda b: _weights(
            b, order=lambda codes: torch.cat(codes[::-1])
        ),
        "You subtract 8 from the codes, as in a format without a minimum. Here the codes "
        "count up from the minimum.": lambda b: _weights(b, offset=8),
        "The minimum is missing.": lambda b: _weights(b, sign=0),
        "You subtract the minimum; add it.": lambda b: _weights(b, sign=-1),
        "Scale and minimum are swapped: the scale comes first in the block.": _exchanged,
        "You multiply the minimum by the scale. Multiply only the codes.": _times_the_minimum,
    },
)
