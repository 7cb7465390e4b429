"""Find the parts of an expression that refer to the same object, so a change to one changes all.

After `before = model.weight`, comparing `before` with `model.weight` compares an object with
itself, no matter how it has changed in between.
"""

import ast
import contextlib
import copy
import types
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proofbook.execution.value_mutations import Standing

IDENTITY = frozenset(
    ["data_ptr", "id", "may_share_memory", "shares_memory", "storage", "untyped_storage"]
)
"""Functions that test whether two things are the same object, as `is` does."""
_SINGLE = (int, float, complex, str, bytes, tuple, frozenset, range, type(None), type(...))
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type)


@dataclass(frozen=True)
class Lead:
    """A name with attributes and constant items, such as `model.layers[0].weight`.

    Attributes:
        text: Its text in the expression.
        root: The name.
        links: The accesses that follow, in order: "." or "[", and the attribute or the key.
    """

    text: str
    root: str
    links: tuple[tuple[str, Any], ...] = ()

    def value(self, names: Mapping[str, Any]) -> Any:
        """Return the object that it refers to.

        Raises:
            Exception: There is no such object, or each access makes a new one, as in arrays.
        """
        found = names[self.root]
        for kind, key in self.links:
            found = getattr(found, key) if kind == "." else _container(found)[key]
        return found

    def replaced(self, names: Mapping[str, Any], other: object) -> dict[str, Any]:
        """Return the names with another object in this place."""
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
        raise TypeError(f"{type(value).__name__} may make a new object for each access to an item")
    return value


def leads_of(
    tree: ast.AST, names: Mapping[str, Any], read: Collection[str]
) -> list[tuple[Lead, Any]]:
    """List an expression's leads that begin with one of the names, and their objects."""
    found: dict[Lead, Any] = {}
    for node in ast.walk(tree):
        lead = _lead(node)
        if lead and lead.root in read:
            with contextlib.suppress(Exception):  # evaluating the expression reports it
                found[lead] = lead.value(names)
    return list(found.items())


def shared(tree: ast.AST, names: Mapping[str, Any], read: Collection[str]) -> list[list[Lead]]:
    """Group an expression's leads that begin with different names but refer to one object.

    Return no groups if the expression itself tests whether two things are the same object.
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
    """Return whether values are one object, or views of memory that was changed in place.

    Tensors count such changes. Views of memory that never changed were meant to be compared.
    """
    if all(value is values[0] for value in values) or not hasattr(type(values[0]), "data_ptr"):
        return True
    return any(not value.is_inference() and value._version for value in values)


def _asks_identity(node: ast.AST) -> bool:
    if isinstance(node, ast.Compare):
        return any(isinstance(one, ast.Is | ast.IsNot) for one in node.ops)
    return getattr(node, "attr", getattr(node, "id", None)) in IDENTITY


def _lead(node: ast.AST) -> Lead | None:
    """Return a node as a lead; None if it isn't one."""
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
    """Return a key unique to an object, or to views of the same memory in the same layout."""
    if isinstance(value, (*_SINGLE, *_CODE)):
        return None
    if hasattr(type(value), "data_ptr"):
        return (value.data_ptr(), tuple(value.shape), value.stride()) if value.numel() else None
    if hasattr(type(value), "__array_interface__"):
        address, _ = value.__array_interface__["data"]
        return (address, value.shape, value.strides) if value.size else None
    return id(value)
