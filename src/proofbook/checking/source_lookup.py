"""Show a symbol as it stands in its source file, found without importing anything."""

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from textwrap import dedent

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Shown:
    """A stretch of a source file.

    Attributes:
        path: The file.
        first: Its first line, from 1; a decorator counts.
        last: Its last line.
        code: The lines, without common indentation.
    """

    path: Path
    first: int
    last: int
    code: str

    @property
    def place(self) -> str:
        """Its lines, in words."""
        one = self.first == self.last
        return f"line {self.first}" if one else f"lines {self.first} to {self.last}"


def show(target: str, folders: Sequence[Path], only: str = "") -> Shown:
    """Find `module` or `module:qualified.name` in the given folders, then on `sys.path`.

    With `only`, of all that its one statement in which this text stands.

    Raises:
        LookupError: Where there is no such module, no such name in it, or not exactly one such
            statement.
    """
    module, _, name = target.partition(":")
    path = _module_file(module, folders)
    text = path.read_text(encoding="utf-8-sig")
    if not (name or only):
        return Shown(path, 1, text.count("\n"), text.rstrip("\n"))
    node: ast.AST = _parsed(text)
    for part in name.split(".") if name else ():
        found = _defined(node, part)
        if found is None:
            raise LookupError(f"{path} defines no {name!r}")
        node = found
    lines = text.split("\n")
    first, last = _only(node, lines, only, target) if only else _extent(node)
    return Shown(path, first, last, dedent("\n".join(lines[first - 1 : last])))


@lru_cache(maxsize=64)  # a page shows several symbols of a file
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)


def _extent(node: ast.AST) -> tuple[int, int]:
    """The first and the last line of a statement."""
    assert isinstance(node, ast.stmt)
    assert node.end_lineno is not None
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(one.lineno for one in decorators)]), node.end_lineno


def _only(node: ast.AST, lines: list[str], text: str, target: str) -> tuple[int, int]:
    """The lines of the one innermost statement with a text in it."""
    holding = []
    for statement in ast.walk(node):
        if isinstance(statement, ast.stmt):
            first, last = _extent(statement)
            if text in "\n".join(lines[first - 1 : last]):
                holding.append((first, last))
    innermost = sorted(one for one in holding if not any(_within(other, one) for other in holding))
    if len(innermost) != 1:
        places = ", ".join(str(first) for first, _ in innermost)
        where = f"at lines {places}; say more of one" if innermost else "nowhere"
        raise LookupError(f"{text!r} stands in {target} {where}")
    return innermost[0]


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def _module_file(module: str, folders: Sequence[Path]) -> Path:
    relative = Path(*module.split("."))
    for folder in (*folders, *map(Path, sys.path)):
        for path in (folder / relative.with_suffix(".py"), folder / relative / "__init__.py"):
            if path.is_file():
                return path
    searched = ", ".join(map(str, folders))
    raise LookupError(f"no source file of a module {module!r} in {searched} or on sys.path")


def _defined(node: ast.AST, name: str) -> ast.stmt | None:
    """The last statement of a body that binds a name."""
    found = None
    for statement in getattr(node, "body", []):
        if isinstance(statement, Definition):
            names = [statement.name]
        elif isinstance(statement, ast.Assign):
            names = [target.id for target in statement.targets if isinstance(target, ast.Name)]
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names = [statement.target.id]
        else:
            names = []
        if name in names:
            found = statement
    return found
