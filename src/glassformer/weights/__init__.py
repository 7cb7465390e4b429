"""Load trained weights: find a checkpoint, read its configuration, and name its weights as ours."""

from glassformer.weights.checkpoints import (
    CheckpointError,
    MissingModelError,
    default_checkpoint,
    default_device,
    tokenizer,
)
from glassformer.weights.gguf_files import write_checkpoint
from glassformer.weights.pretrained import from_hf, load

__all__ = [
    "CheckpointError",
    "MissingModelError",
    "default_checkpoint",
    "default_device",
    "from_hf",
    "load",
    "tokenizer",
    "write_checkpoint",
]
