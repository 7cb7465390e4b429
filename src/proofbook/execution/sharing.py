"""Which parts of an expression lead to one object: what changes one of them changes the others.

After `before = model.weight`, comparing `before` with `model.weight` compares an object with
itself, however much it has been changed in between.
"""

import ast
import contextlib
import copy
import types
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proofbook.execution.alterations import Standing

IDENTITY = frozenset(
    ["data_ptr", "id", "may_share_memory", "shares_memory", "storage", "untyped_storage"]
)
"""Functions that test whether two things are one, as `is` does."""
_SINGLE = (int, float, complex, str, bytes, tuple, frozenset, range, type(None), type(...))
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)


@dataclass(frozen=True)
class Lead:
    """A name with attributes and constant items, such as `model.layers[0].weight`.

    Attributes:
        text: How the expression writes it.
        root: The name.
        links: What follows, from left to right: "." or "[", and the attribute or the key.
    """

    text: str
    root: str
    links: tuple[tuple[str, Any], ...] = ()

    def value(self, names: Mapping[str, Any]) -> Any:
        """Return what it leads to.

        Raises:
            Exception: There is no such thing, or each look makes a new one, as in arrays.
        """
        found = names[self.root]
        for kind, key in self.links:
            found = getattr(found, key) if kind == "." else _container(found)[key]
        return found

    def replaced(self, names: Mapping[str, Any], other: object) -> dict[str, Any]:
        """Return the names with another object where this leads."""
        return {**names, self.root: _replaced(names[self.root], self.links, other)}


def _replaced(value: Any, links: tuple[tuple[str, Any], ...], other: object) -> object:
    if not links:
        return other
    (kind, key), *rest = links
    if kind == ".":
        return Standing(value, key, _replaced(getattr(value, key), tuple(rest), other))
    changed = copy.copy(_container(value))
    changed[key] = _replaced(value[key], tuple(rest), other)
    return changed


def _container(value: Any) -> Any:
    if not isinstance(value, dict | list):
        raise TypeError(f"{type(value).__name__} makes its items anew, or holds them elsewhere")
    return value


def leads_of(
    tree: ast.AST, names: Mapping[str, Any], read: Collection[str]
) -> list[tuple[Lead, Any]]:
    """List all leads of an expression that begin with a name it reads, and what they lead to."""
    found: dict[Lead, Any] = {}
    for node in ast.walk(tree):
        lead = _lead(node)
        if lead and lead.root in read:
            with contextlib.suppress(Exception):  # for the evaluation to tell
                found[lead] = lead.value(names)
    return list(found.items())


def shared(tree: ast.AST, names: Mapping[str, Any], read: Collection[str]) -> list[list[Lead]]:
    """Group the leads of an expression that begin with different names and end at one object.

    There are none in an expression that tests whether two things are one.
    """
    if any(_asks_identity(node) for node in ast.walk(tree)):
        return []
    groups: dict[object, list[Lead]] = defaultdict(list)
    for lead, value in leads_of(tree, names, read):
        key = _identity(value)
        if key is not None:
            groups[key].append(lead)
    return [
        leads
        for leads in groups.values()
        if len({lead.root for lead in leads}) > 1
        and _were_one([lead.value(names) for lead in leads])
    ]


def _were_one(values: Sequence[Any]) -> bool:
    """Tell whether things in one place are one object, or views of what was changed in place.

    Tensors count such changes. Views of what was never changed were made to be compared.
    """
    if all(value is values[0] for value in values) or not hasattr(type(values[0]), "data_ptr"):
        return True
    return any(not value.is_inference() and value._version for value in values)


def _asks_identity(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops)
    return getattr(node, "attr", getattr(node, "id", None)) in IDENTITY


def _lead(node: ast.AST) -> Lead | None:
    """Read a name with what follows it; None for anything else."""
    match node:
        case ast.Name(id=name):
            return Lead(name, name)
        case ast.Attribute(value=inner, attr=key):
            kind: tuple[str, Any] = (".", key)
        case ast.Subscript(value=inner, slice=ast.Constant(value=str() | int() as key)):
            kind = ("[", key)
        case _:
            return None
    lead = _lead(inner)
    return lead and Lead(ast.unparse(node), lead.root, (*lead.links, kind))


def _identity(value: Any) -> object:
    """Return what is the same for one object only, or for views of one memory that look alike."""
    if isinstance(value, (*_SINGLE, *_CODE)):
        return None
    if hasattr(type(value), "data_ptr"):
        return (value.data_ptr(), tuple(value.shape), value.stride()) if value.numel() else None
    if hasattr(type(value), "__array_interface__"):
        address, _ = value.__array_interface__["data"]
        return (address, value.shape, value.strides) if value.size else None
    return id(value)
