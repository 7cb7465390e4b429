"""Show a symbol as it stands in its source file, found without importing anything."""

import ast
import sys
from collections.abc import Sequence
from dataclasses import dataclass
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


def show(target: str, folders: Sequence[Path]) -> Shown:
    """Find `module` or `module:qualified.name` in the given folders, then on `sys.path`.

    Raises:
        LookupError: Where there is no such module, or no such name in it.
    """
    module, _, name = target.partition(":")
    path = _module_file(module, folders)
    text = path.read_text(encoding="utf-8-sig")
    if not name:
        return Shown(path, 1, text.count("\n"), text.rstrip("\n"))
    node: ast.AST = ast.parse(text)
    for part in name.split("."):
        found = _defined(node, part)
        if found is None:
            raise LookupError(f"{path} defines no {name!r}")
        node = found
    assert isinstance(node, ast.stmt)
    assert node.end_lineno is not None
    decorators = node.decorator_list if isinstance(node, Definition) else []
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    lines = text.split("\n")[first - 1 : node.end_lineno]
    return Shown(path, first, node.end_lineno, dedent("\n".join(lines)))


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
