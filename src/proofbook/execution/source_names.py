"""Read the names of a module from its source, without running it."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from proofbook.parsing.bindings import bindings

FAR = 8
"""Maximum number of imports to follow for a name."""


@dataclass(frozen=True)
class SourceModule:
    """A module, read from its file.

    Attributes:
        name: Its dotted name.
        file: Its source.
    """

    name: str
    file: Path

    @cached_property
    def tree(self) -> ast.Module:
        """The module, parsed; an empty one if it can't be."""
        try:
            return ast.parse(self.file.read_bytes())
        except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
            return ast.Module([], [])

    @cached_property
    def members(self) -> dict[str, ast.stmt]:
        """Each name of the module, with the statement that binds it last."""
        return dict(bindings(self.tree.body))

    def submodule(self, name: str) -> "SourceModule | None":
        """Return a submodule, if this is a package that has it."""
        if self.file.name != "__init__.py":
            return None
        return _in_folder(self.file.parent, f"{self.name}.{name}")

    def leads(self, parts: list[str], left: int = FAR) -> bool:
        """Return whether a path of names, starting in this module, refers to something."""
        if not parts:
            return True
        bound = self.members.get(parts[0])
        if bound is not None and self._leads_from(bound, parts, left):
            return True
        inner = self.submodule(parts[0])
        return inner is not None and inner.leads(parts[1:], left)

    def _leads_from(self, bound: ast.stmt, parts: list[str], left: int) -> bool:
        first, *rest = parts
        if not rest:
            return True
        if isinstance(bound, ast.ClassDef):
            return len(rest) == 1 and rest[0] in dict(bindings(bound.body))
        if not isinstance(bound, ast.ImportFrom) or not left:
            return False
        other = self._imported_from(bound)
        name = next(one.name for one in bound.names if (one.asname or one.name) == first)
        return other is not None and other.leads([name, *rest], left - 1)

    def _imported_from(self, statement: ast.ImportFrom) -> "SourceModule | None":
        package = self.name.split(".")
        if self.file.name != "__init__.py":
            package = package[:-1]
        base = package[: len(package) - statement.level + 1] if statement.level else []
        return module_of([*base, *(statement.module or "").split(".")])

    def own(self) -> Iterator["SourceModule"]:
        """Yield this module and the modules of its package that importing it loads, each once."""
        waiting, seen = [self], {self.file}
        while waiting:
            module = waiting.pop()
            yield module
            for statement in ast.walk(module.tree):
                if not isinstance(statement, ast.ImportFrom):
                    continue
                other = module._imported_from(statement)
                inner = (other.submodule(one.name) for one in statement.names) if other else ()
                for found in filter(None, (other, *inner)):
                    if found.file not in seen and found.name.split(".")[0] == self.name:
                        seen.add(found.file)
                        waiting.append(found)

    def parameters(self) -> set[str]:
        """Return the parameters of functions and methods, and the fields of classes."""
        found: set[str] = set()
        for statement in self.tree.body:
            for one in statement.body if isinstance(statement, ast.ClassDef) else [statement]:
                if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                    found |= {part.arg for part in ast.walk(one.args) if isinstance(part, ast.arg)}
                elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name):
                    found.add(one.target.id)
        return found


def module_of(parts: list[str]) -> SourceModule | None:
    """Return the module with a name, given as its parts; None if there's no source for it."""
    first, *rest = [part for part in parts if part] or [""]
    found = _top(first)
    for part in rest:
        found = found and found.submodule(part)
    return found


def _top(name: str) -> SourceModule | None:
    try:
        spec = find_spec(name)  # a top-level name: nothing is imported to find it
    except (ImportError, ValueError, AttributeError):
        return None
    origin = spec.origin if spec and spec.has_location else None
    return SourceModule(name, Path(origin)) if origin and origin.endswith(".py") else None


def in_package(package: ModuleType, name: str) -> SourceModule | None:
    """Return a submodule of a loaded package, read from its file."""
    for folder in map(Path, getattr(package, "__path__", ())):
        if found := _in_folder(folder, f"{package.__name__}.{name}"):
            return found
    return None


def _in_folder(folder: Path, name: str) -> SourceModule | None:
    stem = name.rpartition(".")[2]
    for file in (folder / stem / "__init__.py", folder / f"{stem}.py"):
        if file.is_file():
            return SourceModule(name, file)
    return None
