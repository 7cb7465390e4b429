"""A name that the package offers, with what its entry in the reference needs."""

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Symbol:
    """A module, or a public name in one.

    Attributes:
        name: With its module, as in `glassformer.layers.masks.causal_mask`.
        kind: "module", "class", "function", "method", or "value".
        signature: The lines of the source that say how it is called, or what it is.
        doc: Its docstring.
        path: The file, relative to the root of the project.
        first: Its first line.
        last: Its last line.
        messages: The errors that it raises, as at the end of a traceback, with … for values.
        members: Names in a module, methods and properties of a class.
    """

    name: str
    kind: str
    signature: str
    doc: str
    path: str
    first: int
    last: int
    messages: tuple[str, ...] = ()
    members: tuple["Symbol", ...] = ()

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


def walk(symbol: Symbol) -> Iterator[Symbol]:
    """Yield a symbol and everything in it."""
    yield symbol
    for member in symbol.members:
        yield from walk(member)
