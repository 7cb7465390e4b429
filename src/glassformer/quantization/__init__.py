"""Store weights in fewer bits: rounding, packed layers, and the blocks of GGUF files."""

from glassformer.quantization.gguf_blocks import dequantize_q4_1, read_q4_1
from glassformer.quantization.packed_linear import PackedLinear4, PackedLinear8, pack
from glassformer.quantization.rounding import (
    input_moments,
    output_error,
    round_for_inputs,
    round_weights,
)

__all__ = [
    "PackedLinear4",
    "PackedLinear8",
    "dequantize_q4_1",
    "input_moments",
    "output_error",
    "pack",
    "read_q4_1",
    "round_for_inputs",
    "round_weights",
]
