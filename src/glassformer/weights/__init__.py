"""Load trained weights: find a checkpoint, read its configuration, and name its weights as ours."""

from glassformer.weights.checkpoints import (
    CheckpointError,
    MissingModelError,
    cache_folder,
    default_checkpoint,
    default_device,
    find_checkpoint,
    tokenizer,
)
from glassformer.weights.gguf_files import by_halves, write_checkpoint
from glassformer.weights.pretrained import HFModel, from_hf, load, load_as

__all__ = [
    "CheckpointError",
    "HFModel",
    "MissingModelError",
    "by_halves",
    "cache_folder",
    "default_checkpoint",
    "default_device",
    "find_checkpoint",
    "from_hf",
    "load",
    "load_as",
    "tokenizer",
    "write_checkpoint",
]
