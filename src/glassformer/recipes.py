"""Recipes: the models that the project trains itself, and the files that each depends on."""

import ast
import hashlib
import importlib
import importlib.util
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast, runtime_checkable

import torch
from torch import nn

Report = Callable[[int, int, str], None]
"""Training calls it as report(done, total, text), as often as it likes."""

SEED = 0
"""The seed of every recipe's random numbers."""

RECIPES: Mapping[str, str] = MappingProxyType(
    {
        "capitals": "glassformer.capitals",
        "classifier": "glassformer.classification",
        "gpt": "glassformer.gpt",
        "long_reading": "glassformer.long_reading",
        "masked_lm": "glassformer.masked_lm",
        "next_sentence": "glassformer.next_sentence",
        "preference": "glassformer.preference",
        "short_windows": "glassformer.short_windows",
        "supervised_tuning": "glassformer.supervised_tuning",
        "translator": "glassformer.translation",
        "warmup": "glassformer.warmup",
    }
)
"""The module of each recipe by the name that `trained` takes."""


@runtime_checkable
class Recipe(Protocol):
    """The functions that a recipe's module has."""

    def build(self) -> nn.Module:
        """Build the untrained model, on the CPU."""

    def train(self, model: nn.Module, report: Report) -> dict[str, list[float]]:
        """Train the model on its device; return the history, such as the loss of each step."""

    def files(self) -> Iterable[Path]:
        """Return the files that training reads, apart from the code that it imports."""


def find_recipe(name: str) -> Recipe:
    """Find the module that `RECIPES` names.

    Raises:
        ValueError: there is no recipe with this name.
    """
    if name not in RECIPES:
        raise ValueError(f"name ({name!r}) must be one of the recipes: {', '.join(RECIPES)}")
    return cast(Recipe, importlib.import_module(RECIPES[name]))


def recipe_key(name: str, device: torch.device) -> str:
    """Return a hash of the inputs to the trained weights: code, data, seed, torch, and device.

    Comments and docstrings don't count: editing a sentence retrains nothing.
    """
    parts = [str(SEED), torch.__version__, device.type, str(torch.get_default_dtype())]
    read = [_statements(path) for path in sources(RECIPES[name])]
    read += [path.read_bytes() for path in find_recipe(name).files()]
    parts += [hashlib.sha256(data).hexdigest() for data in read]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def sources(module: str) -> list[Path]:
    """Return the source files of a module and of its imports from its package and glassformer.

    Import statements count anywhere in a file; a package's `__init__` counts only if a name is
    imported from the package itself.
    """
    packages = {module.partition(".")[0], "glassformer"}
    found: dict[str, Path] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in found or name.partition(".")[0] not in packages:
            continue
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.origin is not None:
            found[name] = Path(spec.origin)
            waiting += _imports(found[name], spec.parent or "")
    return [found[name] for name in sorted(found)]


def _statements(path: Path) -> bytes:
    """Return the statements of a source file, without docstrings and comments."""
    tree = _WithoutTexts().visit(ast.parse(path.read_bytes()))
    return ast.dump(tree).encode()


class _WithoutTexts(ast.NodeTransformer):
    """Drops statements that are nothing but a value, such as docstrings."""

    def visit_Expr(self, node: ast.Expr) -> ast.Expr | None:
        return None if isinstance(node.value, ast.Constant) else node


def _imports(path: Path, package: str) -> Iterator[str]:
    """Yield the modules that a source file imports, inside or outside of functions."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            origin = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
            for alias in node.names:
                submodule = f"{origin}.{alias.name}"
                yield submodule if _is_module(submodule) else origin


def _is_module(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is a module and not a package
        return False
