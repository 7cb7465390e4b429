"""Store weights in fewer bits: rounding, packed layers, and the blocks of GGUF files."""

from glassformer.quantization.gguf_blocks import dequantize_q4_1
from glassformer.quantization.packed_linear import Int4Linear, PackedLinear8, pack
from glassformer.quantization.rounding import (
    awq_round,
    input_moments,
    output_error,
    round_weights,
)

__all__ = [
    "Int4Linear",
    "PackedLinear8",
    "awq_round",
    "dequantize_q4_1",
    "input_moments",
    "output_error",
    "pack",
    "round_weights",
]
