"""A family: one model type of transformers, told in tables that a file each fills in."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import nn

Fields = dict[str, Any]
"""Fields of a configuration of transformers, by name."""

Names = Mapping[str, str | tuple[str, ...]]
"""Module there: module here; `*` stands for a layer's number.

Several modules here have equal parts of what is one wide map there.
"""


@dataclass(frozen=True)
class Architecture:
    """How one class of transformers is built and named here; `*` stands for a layer's number.

    Weights that are tied here, one parameter under two names, need no more than their names.
    """

    build: type[nn.Module]
    names: Names
    transposed: frozenset[str] = frozenset()  # modules there whose weight is (inputs, outputs)
    rows: Mapping[str, str] = field(default_factory=dict)  # weights (1, n) there: (n,) here
    # Tables there whose rows up to the padding token's are not taken over.
    past_padding: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)  # weights there: their first names
    unused: frozenset[str] = frozenset()  # weights there that have no part in the output
    in_files: Mapping[str, str] = field(default_factory=dict)  # modules in files: modules there
    # What the names of the body's weights begin with, which a file may leave out.
    body: str = ""


def as_they_are(fields: Fields) -> Fields:
    """Return the fields of a family whose fields each speak for themselves."""
    return fields


@dataclass(frozen=True, kw_only=True)
class Family:
    """The fields and classes of one model type of transformers, and what becomes of each here.

    A field here may belong to the second stack, `decoder.num_layers`, and a field there may give
    several here, as a tuple.
    """

    model_type: str
    honored: Mapping[str, str | tuple[str, ...]]  # field there: field here
    refused_unless: Mapping[str, Any]  # field there: the only value that is built here
    harmless: frozenset[str]  # without effect on the output of a model in eval mode
    architectures: Mapping[str, Architecture]  # by the name of the class there
    # Field here: its value where no field there gives one, if not TransformerConfig's default.
    base: Mapping[str, Any] = field(default_factory=dict)
    # Makes each field speak for itself: none within another, none left to another one.
    settle: Callable[[Fields], Fields] = as_they_are

    def __contains__(self, name: str) -> bool:
        return name in self.honored or name in self.refused_unless or name in self.harmless


def nested(there: str, here: str, names: Names) -> Names:
    """Return the same names for a stack inside a model: behind `there`, and here behind `here`.

    >>> nested("bert", "encoder", {"embeddings.LayerNorm": "embeddings.norm"})
    {'bert.embeddings.LayerNorm': 'encoder.embeddings.norm'}
    """
    return {
        f"{there}.{module}": f"{here}.{ours}"
        if isinstance(ours, str)
        else tuple(f"{here}.{part}" for part in ours)
        for module, ours in names.items()
    }
