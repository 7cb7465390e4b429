"""Find the statements that change a module's settings for everything that runs later."""

import ast
import re
from collections.abc import Iterable, Iterator, Set

_SETTING = re.compile(
    r"set(_|[A-Z]|$|buf|con|def|err|loc|rec|t?race)|use(_|$)|rc([A-Z_]|$|defaults)|f?chdir$|(un)?register"
    r"|(dis|en)able|reset|(simple)?filter(warnings)?$|(un)?putenv|unsetenv|umask|basicConfig"
    r"|(un)?install|config|init(_|$)|(un)?patch|load_dotenv|capture|add[A-Z_]|freeze$|tzset"
)
"""Prefixes of the names of functions that change settings."""
EVERYWHERE = ("builtins", "gc", "locale", "logging", "os", "sys", "warnings")
"""Modules whose settings affect all programs, even those that don't import them."""


def token(package: str) -> str:
    """Return a token that stands for all settings of a package and can't be a name on a page."""
    return f"{package}."


class Imported:
    """The names that imports have bound, and what they stand for."""

    def __init__(self) -> None:
        self._origins: dict[str, tuple[str, str]] = {}

    def add(self, tree: ast.Import | ast.ImportFrom, name: str, alias: ast.alias) -> None:
        """Record a name that an import binds."""
        if isinstance(tree, ast.ImportFrom):
            self._origins[name] = (str(tree.module).partition(".")[0], alias.name)
        else:
            self._origins[name] = (alias.name.partition(".")[0], "")

    def drop(self, names: Iterable[str]) -> None:
        """Forget names that now mean something else."""
        for name in names:
            self._origins.pop(name, None)

    def __contains__(self, name: str) -> bool:
        return name in self._origins

    def settings(self, tree: ast.AST, mutators: Set[str]) -> set[str]:
        """Return a token for each package whose settings a statement changes.

        Args:
            tree: The statement; for a function definition, the settings that a call changes count.
            mutators: Methods that change their object.
        """
        roots = {root for node in self._lasting(tree) for root in self._set_by(node, mutators)}
        return {token(self._origins[root][0]) for root in roots if root in self._origins}

    def _lasting(self, tree: ast.AST) -> Iterator[ast.AST]:
        """Yield a statement's parts, except what a `warnings.catch_warnings` would undo."""
        yield tree
        for part in ast.iter_child_nodes(tree):
            if not (isinstance(tree, ast.With) and part in tree.body and self._undoes(tree)):
                yield from self._lasting(part)

    def _undoes(self, tree: ast.With) -> bool:
        roots = {name for item in tree.items for name in chain(item.context_expr)[:1]}
        packages = {self._origins[root][0] for root in roots if root in self._origins}
        inner = self.settings(ast.Module(tree.body, []), frozenset())
        return inner <= {token(package) for package in packages}

    def _set_by(self, node: ast.AST, mutators: Set[str]) -> Iterator[str]:
        """Yield the names through which a part of a statement changes a setting."""
        match node:
            case (
                ast.Attribute(ctx=ast.Store() | ast.Del())
                | ast.Subscript(ctx=ast.Store() | ast.Del())
            ):
                yield from chain(node)[:1]
            case (
                ast.Expr(value=ast.Call(func=function)) | ast.Assign(value=ast.Call(func=function))
            ):
                first, *rest = chain(function) or [""]
                called = rest[-1] if rest else self._origins.get(first, ("", ""))[1]
                if _SETTING.match(called) and not called.endswith("_"):
                    yield first
            case ast.Call(func=ast.Name("setattr" | "delattr"), args=[first, *_]):
                yield from chain(first)[:1]
            case ast.Call(func=ast.Attribute(attr=method) as function) if method in mutators:
                first, *rest = chain(function, through_calls=False) or [""]
                is_thing = self._origins.get(first, ("", ""))[1]
                if len(rest) > 1 or is_thing:
                    yield first
            case _:
                pass


def chain(node: ast.expr, through_calls: bool = True) -> list[str]:
    """Return the names along `a.b[c].d()`, without arguments; empty if the first isn't a name.

    Args:
        node: The expression.
        through_calls: Whether to look past calls; if not, a chain with a call yields no names.
    """
    names: list[str] = []
    kinds = (ast.Attribute, ast.Subscript) + (ast.Call,) * through_calls
    while isinstance(node, kinds):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        node = node.func if isinstance(node, ast.Call) else node.value  # type: ignore[attr-defined]
    return [node.id, *names[::-1]] if isinstance(node, ast.Name) else []
