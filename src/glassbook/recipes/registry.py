"""Recipes: the models that the project trains itself, and a key to what each depends on."""

import ast
import hashlib
import importlib
import inspect
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Protocol, cast, runtime_checkable

import torch
from torch import nn

from glassformer.training.loop import Report

SEED = 0
"""The seed of every recipe's random numbers."""

RECIPES: Mapping[str, str] = MappingProxyType(
    {
        "capitals": "glassbook.recipes.capitals",
        "classifier": "glassbook.recipes.classification",
        "gpt": "glassbook.recipes.gpt",
        "long_reading": "glassbook.recipes.long_reading",
        "masked_lm": "glassbook.recipes.masked_lm",
        "next_sentence": "glassbook.recipes.next_sentence",
        "preference": "glassbook.recipes.preference",
        "short_windows": "glassbook.recipes.short_windows",
        "supervised_tuning": "glassbook.recipes.supervised_tuning",
        "translator": "glassbook.recipes.translation",
        "warmup": "glassbook.recipes.warmup",
    }
)
"""The module of each recipe by the name that `trained` takes."""

EXPERIMENTS = frozenset({"long_reading"})
"""Recipes that train nothing: their history has what they measured of a model that was given."""


@runtime_checkable
class Recipe(Protocol):
    """The functions that a recipe's module has."""

    def build(self) -> nn.Module:
        """Build the untrained model, on the CPU."""

    def train(self, model: nn.Module, report: Report) -> dict[str, list[float]]:
        """Train the model on its device; return the history, such as the loss of each step."""

    def data(self) -> Iterable[bytes]:
        """Return what training reads: texts, and the keys of recipes that it builds on."""


def find_recipe(name: str) -> Recipe:
    """Find the module that `RECIPES` names.

    Raises:
        ValueError: There is no recipe with this name.
    """
    if name not in RECIPES:
        raise ValueError(f"name ({name!r}) must be one of the recipes: {', '.join(RECIPES)}")
    return cast(Recipe, importlib.import_module(RECIPES[name]))


def recipe_key(name: str) -> str:
    """Return a hash of a recipe's own code, its data, the seed, and the default dtype.

    Comments, docstrings, and imports don't count: a recipe can be moved, and what it imports can be
    rewritten, without training again. The first steps of each training are compared in the tests.

    Raises:
        ValueError: There is no recipe with this name.
    """
    recipe = find_recipe(name)
    code = inspect.getsource(importlib.import_module(RECIPES[name]))
    parts = [code_structure(code).encode(), *recipe.data()]
    parts += [str(SEED).encode(), str(torch.get_default_dtype()).encode()]
    digests = "\n".join(hashlib.sha256(part).hexdigest() for part in parts)
    return hashlib.sha256(digests.encode()).hexdigest()[:32]


def code_structure(code: str) -> str:
    """Return the syntax tree of some code, without imports and docstrings, as text.

    It's the same for each version of Python, unlike that of `ast.dump`.

    >>> code_structure("import math; x = 2  # a comment")
    'Module(body=[Assign(targets=[Name(id=x)] value=Constant(value=2))])'
    """
    return _described(_WithoutTexts().visit(ast.parse(code)))


def _described(node: object) -> str:
    if isinstance(node, list):
        return f"[{' '.join(map(_described, node))}]"
    if not isinstance(node, ast.AST):
        return str(node) if isinstance(node, str) else repr(node)
    fields = [
        f"{name}={repr(value) if name == 'value' and isinstance(value, str) else _described(value)}"
        for name, value in ast.iter_fields(node)
        if not (value is None or value == [] or isinstance(value, ast.expr_context))
    ]
    return f"{type(node).__name__}({' '.join(fields)})"


class _WithoutTexts(ast.NodeTransformer):
    """Drops imports, and statements that are nothing but a value, such as docstrings."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node

    def visit_Import(self, node: ast.Import) -> None:
        return None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        return None
