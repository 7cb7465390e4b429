"""The class method by which a model loads the checkpoints of its own kind."""

from importlib import import_module
from pathlib import Path
from typing import TypeVar

Model = TypeVar("Model", bound="FromPretrained")


class FromPretrained:
    """What a model needs to be loaded by its own name.

    >>> from glassformer import TransformerEncoder, default_checkpoint
    >>> TransformerEncoder.from_pretrained(default_checkpoint()).config.num_layers
    6
    """

    @classmethod
    def from_pretrained(cls: type[Model], name_or_path: str | Path) -> Model:
        """Load a checkpoint, as `load` does, that holds a model of this class.

        Raises:
            CheckpointError: there is no such checkpoint, it cannot be used, or it holds a model of
                another class; it says what to do.
            ValueError: a field of the config is not built here.
        """
        # By name: a recipe trains anew when a module that it imports changes, and needs no family.
        return import_module("glassformer.pretrained").load_as(cls, name_or_path)
