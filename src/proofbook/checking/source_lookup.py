"""Show a symbol as it is in its source file, without importing anything."""

import ast
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import resolve_name
from pathlib import Path
from textwrap import dedent

from proofbook.model import Origin
from proofbook.parsing.bindings import Definition, bindings

FindModule = Callable[[str, tuple[Path, ...], Path], Path]
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SHOWN = (*FUNCTIONS, ast.ClassDef, ast.Assign, ast.AnnAssign)


@dataclass(frozen=True)
class Shown:
    """A stretch of a source file.

    Attributes:
        path: The file.
        first: Its first line, from 1, including decorators.
        last: Its last line.
        code: The lines, without common indentation.
    """

    path: Path
    first: int
    last: int
    code: str

    @property
    def place(self) -> str:
        """The line numbers, in words."""
        one = self.first == self.last
        return f"line {self.first}" if one else f"lines {self.first} to {self.last}"


def show(
    target: str,
    folders: Sequence[Path],
    only: str = "",
    *,
    root: Path | None = None,
    loaded: Origin | None = None,
    find: FindModule | None = None,
) -> Shown:
    """Find `module` or `module:qualified.name` in the given folders, then on `sys.path`.

    With `only`, return just the one statement that contains this text.

    Args:
        target: The name.
        folders: The folders of the book's modules.
        only: Text within the statement to show.
        root: The project's folder, from which pages import first.
        loaded: What the page has loaded under this name, if anything.
        find: Finds the file of a module; a cached one helps when several symbols are shown.

    Raises:
        LookupError: There is no such module, it has no such name or not exactly one such statement,
            or the page runs something else under this name.
    """
    module, _, name = target.partition(":")
    path = (find or module_file)(module, tuple(folders), root or Path())
    if loaded and not _same_file((root or Path()) / loaded.file, path):
        raise LookupError(
            f"the page imports {module} from {loaded.file}, but {path} would be shown"
        )
    text = path.read_text(encoding="utf-8-sig")
    if not (name or only):
        return Shown(path, 1, text.count("\n"), text.rstrip("\n"))
    node: ast.AST = _parsed(text, str(path))
    missing = f"{path} defines no {name!r}{_elsewhere(node, module, path, name)}"
    parents: list[ast.AST] = []
    for part in name.split(".") if name else ():
        parents.append(node)
        node = _defined(node, part, missing)
    if loaded and name and not any(isinstance(one, FUNCTIONS) for one in parents):
        _refuse_another(node, loaded, target)
    lines = text.split("\n")
    first, last = _only(node, lines, only, target) if only else _extent(node)
    return Shown(path, first, last, dedent("\n".join(lines[first - 1 : last])))


def _refuse_another(node: ast.AST, loaded: Origin, target: str) -> None:
    """Check that a definition's name still refers to it on the page.

    Raises:
        LookupError: The name refers to something else: a decorator or later code replaced it.
    """
    assert isinstance(node, ast.stmt)
    first, last = _extent(node)
    lines = loaded.lines
    if isinstance(node, FUNCTIONS) and not node.decorator_list:
        lines = () if loaded.plain is None else (loaded.plain,)
    if isinstance(node, ast.ClassDef):
        has_code = any(isinstance(one, FUNCTIONS) for one in node.body)
    else:
        has_code = isinstance(node, FUNCTIONS)
    if not loaded.found or (has_code and not any(first <= line <= last for line in lines)):
        raise LookupError(
            f"{target} does not run the code at line {first} of {loaded.file}: something has "
            "replaced it; show the replacement"
        )


@lru_cache(maxsize=64)  # a page shows several symbols of a file
def _parsed(text: str, path: str) -> ast.Module:
    return ast.parse(text, path)


def _elsewhere(node: ast.AST, module: str, path: Path, name: str) -> str:
    """Return advice for a name that a module only imports; "" if it doesn't import it."""
    first, *rest = name.split(".")
    imports = [one for one in getattr(node, "body", []) if isinstance(one, ast.ImportFrom)]
    found = [(one, to) for one in imports for to in one.names if first == (to.asname or to.name)]
    if not found:
        return ""
    statement, alias = found[-1]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    try:
        source = resolve_name("." * statement.level + (statement.module or ""), package)
    except ImportError:  # it would reach outside the package, so it never runs
        return ""
    parts = [source, ".".join([alias.name, *rest])]
    if source == module:  # a module of this package
        parts = [f"{source}.{alias.name}", ".".join(rest)]
    return f', but imports it; write show="{":".join(filter(None, parts))}"'


def _extent(node: ast.AST) -> tuple[int, int]:
    """Return the first and the last line of a statement."""
    assert isinstance(node, ast.stmt)
    assert node.end_lineno is not None
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(one.lineno for one in decorators)]), node.end_lineno


def _only(node: ast.AST, lines: list[str], text: str, target: str) -> tuple[int, int]:
    """Return the lines of the innermost statement that contains a text; there must be only one."""
    holding = []
    for statement in ast.walk(node):
        if isinstance(statement, ast.stmt):
            first, last = _extent(statement)
            if text in "\n".join(lines[first - 1 : last]):
                holding.append((first, last))
    innermost = sorted(one for one in holding if not any(_within(other, one) for other in holding))
    if not innermost:
        raise LookupError(f"{text!r} is nowhere in {target}")
    if len(innermost) > 1:
        places = ", ".join(str(first) for first, _ in innermost)
        raise LookupError(f"{text!r} is in {target} at lines {places}; quote more of one of them")
    return innermost[0]


def _within(inner: tuple[int, int], outer: tuple[int, int]) -> bool:
    return inner != outer and outer[0] <= inner[0] and inner[1] <= outer[1]


def module_file(module: str, folders: tuple[Path, ...], root: Path) -> Path:
    """Find the source file of a module in the given folders, then on `sys.path`.

    Raises:
        LookupError: There is none, or pages would import a different one.
    """
    found = _first(module, (*folders, *map(Path, sys.path)))
    if found:
        imported = _first(module, (root, *map(Path, sys.path))) or found
        if not _same_file(imported, found) and imported.read_bytes() != found.read_bytes():
            raise LookupError(f"two modules are called {module!r}: {found} and {imported}")
        return found
    searched = ", ".join(map(str, folders))
    raise LookupError(f"no source file for a module {module!r} in {searched} or on sys.path")


def _first(module: str, folders: Iterable[Path]) -> Path | None:
    relative = Path(*module.split("."))
    for folder in folders:
        for path in (folder / relative / "__init__.py", folder / relative.with_suffix(".py")):
            if path.is_file():
                return path
    return None


def _same_file(one: Path, other: Path) -> bool:
    return one == other or one.resolve() == other.resolve()


def _defined(node: ast.AST, name: str, missing: str) -> ast.stmt:
    """Return the one statement of a body that binds a name.

    Raises:
        LookupError: There is none, or there are several and the text doesn't show which one runs.
    """
    found = [one for bound, one in _bound_in(node) if bound == name]
    bound = [one for one in found if not _only_declares(one)]
    named = [one for one in found if isinstance(one, SHOWN)]
    direct = [one for one in named if one in getattr(node, "body", [])]
    if not direct:
        raise LookupError(missing)
    others = [one for one in bound if one is not direct[-1] and not _belongs_to(one, direct[-1])]
    if others:
        lines = ", ".join(str(one.lineno) for one in [*others, direct[-1]])
        raise LookupError(
            f"{name!r} is bound at lines {lines}, and only one can run: give each its own name"
        )
    return direct[-1]


@lru_cache(maxsize=256)  # a served book looks all of them up again after each edit
def _bound_in(node: ast.AST) -> tuple[tuple[str, ast.stmt], ...]:
    return tuple(bindings(getattr(node, "body", [])))


def _only_declares(statement: ast.stmt) -> bool:
    """Return whether a statement gives a name a type but no value."""
    return isinstance(statement, ast.AnnAssign) and statement.value is None


def _belongs_to(statement: ast.stmt, last: ast.stmt) -> bool:
    """Return whether a definition is part of a later one: an overload, or part of a property."""
    if not (isinstance(statement, FUNCTIONS) and isinstance(last, FUNCTIONS)):
        return False
    decorators = [ast.unparse(one) for one in statement.decorator_list]
    later = [ast.unparse(one) for one in last.decorator_list]
    accessors = {f"{last.name}.{kind}" for kind in ("getter", "setter", "deleter")}
    return bool({"overload", "typing.overload"} & {*decorators} or accessors & {*later})
