"""The class method that loads a checkpoint into a model of the class."""

from pathlib import Path
from typing import Any, TypeVar

Model = TypeVar("Model", bound="FromPretrained")


class FromPretrained:
    """A base class that gives a model class `from_pretrained`.

    >>> from glassformer import TransformerEncoder, default_checkpoint
    >>> TransformerEncoder.from_pretrained(default_checkpoint()).config.num_layers
    6
    """

    @classmethod
    def from_pretrained(cls: type[Model], name_or_path: str | Path) -> Model:
        """Load a checkpoint that holds a model of this class, as `load` does.

        Raises:
            CheckpointError: There is no such checkpoint, it cannot be used, or it holds a model of
                another class; the message says what to do.
            ValueError: A field of the config asks for something unsupported.
        """
        from glassformer.weights.pretrained import load_as  # which builds on this module

        kind: Any = cls  # mypy knows nothing of the classes that have this one as a base
        return load_as(kind, name_or_path)
