"""A family: one model type of transformers, described by tables in its own file."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from torch import nn

Fields = dict[str, Any]
"""Fields of a transformers configuration, by name."""

Names = Mapping[str, str | tuple[str, ...]]
"""A module's name in transformers, mapped to its name here; `*` stands for a layer's number.

If a name is mapped to several modules here, each has an equal part of one wide layer there.
"""


@dataclass(frozen=True)
class Architecture:
    """How a class in transformers is built and named here; `*` stands for a layer's number.

    Weights that are tied here, one parameter under two names, need nothing but their names.
    """

    build: type[nn.Module]
    names: Names
    transposed: frozenset[str] = frozenset()  # modules there whose weight is (inputs, outputs)
    rows: Mapping[str, str] = field(default_factory=dict)  # weights with a first axis of 1 there
    # Tables there whose rows up to the padding token's are left out.
    past_padding: frozenset[str] = frozenset()
    aliases: Mapping[str, str] = field(default_factory=dict)  # weights there: their main names
    unused: frozenset[str] = frozenset()  # weights there that don't affect the output
    in_files: Mapping[str, str] = field(default_factory=dict)  # modules in files: modules there


@dataclass(frozen=True, kw_only=True)
class Family:
    """The fields and classes of one transformers model type, and their counterparts here.

    A field here may belong to the second stack, such as `decoder.num_layers`. A field in
    transformers may set several fields here, which are then named in a tuple.
    """

    model_type: str
    honored: Mapping[str, str | tuple[str, ...]]  # field there: field here
    refused_unless: Mapping[str, Any]  # field there: the only supported value
    harmless: frozenset[str]  # fields that don't affect the output in eval mode
    architectures: Mapping[str, Architecture]  # by the name of the class there
    # Field here: its value if no field there gives one, unless it's TransformerConfig's default.
    base: Mapping[str, Any] = field(default_factory=dict)
    # Makes the fields independent: none within another, none that depends on another.
    settle: Callable[[Fields], Fields] = dict

    def __contains__(self, name: str) -> bool:
        return name in self.honored or name in self.refused_unless or name in self.harmless


def with_heads(
    name: str, body: Architecture, there: str, here: str, heads: Mapping[str, Architecture]
) -> dict[str, Architecture]:
    """Return the architectures of a body by itself and of models with a head on it.

    Args:
        name: The body's class in transformers.
        body: The tables of the body.
        there: What such a model in transformers calls its body.
        here: What our model calls it.
        heads: The models' own tables, without the body's, by class in transformers.
    """

    def inside(names: frozenset[str]) -> frozenset[str]:
        return frozenset(f"{there}.{one}" for one in names)

    return {name: body} | {
        headed: replace(
            head,
            names={**nested(there, here, body.names), **head.names},
            transposed=inside(body.transposed),
            rows={f"{there}.{theirs}": f"{here}.{ours}" for theirs, ours in body.rows.items()},
            past_padding=inside(body.past_padding),
            unused=inside(body.unused) | head.unused,
            in_files={f"{there}.{file}": f"{there}.{live}" for file, live in body.in_files.items()},
        )
        for headed, head in heads.items()
    }


def nested(there: str, here: str, names: Names) -> Names:
    """Return the same names for a stack inside a model, with the prefixes `there` and `here`.

    >>> nested("bert", "encoder", {"embeddings.LayerNorm": "embeddings.norm"})
    {'bert.embeddings.LayerNorm': 'encoder.embeddings.norm'}
    """
    return {
        f"{there}.{module}": f"{here}.{ours}"
        if isinstance(ours, str)
        else tuple(f"{here}.{part}" for part in ours)
        for module, ours in names.items()
    }
