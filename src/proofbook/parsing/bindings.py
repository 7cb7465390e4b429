"""Find the names that a body of Python code binds, and where."""

import ast
from collections.abc import Iterator, Sequence

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def bindings(body: Sequence[ast.stmt]) -> Iterator[tuple[str, ast.stmt]]:
    """Yield each name that a body binds, including in conditions and loops, and its statement.

    A name that a function declares `global` counts as bound where the function is defined.
    """
    for statement in body:
        for name in _bound_by(statement):
            yield name, statement
        if not isinstance(statement, Definition):
            for inner in _blocks(statement):
                yield from bindings(inner)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    """Yield the blocks of a compound statement."""
    for _, value in ast.iter_fields(node):
        if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
            yield value
        elif isinstance(value, list):
            for part in value:
                if isinstance(part, ast.ExceptHandler | ast.match_case):
                    yield part.body


def _bound_by(node: ast.AST) -> Iterator[str]:
    """Yield the names that a statement, or a part of one, binds by itself."""
    match node:
        case ast.Import(names) | ast.ImportFrom(names=names):
            yield from (alias.asname or alias.name.partition(".")[0] for alias in names)
        case ast.Name(name, ast.Store() | ast.Del()):
            yield name
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)):
            yield name
        case ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
            yield name
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
            globals_ = (part for part in ast.walk(node) if isinstance(part, ast.Global))
            yield from (name for part in globals_ for name in part.names)
            return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _COMPREHENSIONS):
            yield from _walruses(child)
        elif not isinstance(child, ast.stmt | ast.Lambda):
            yield from _bound_by(child)


def _walruses(node: ast.AST) -> Iterator[str]:
    """Yield the names that a comprehension binds outside itself."""
    if isinstance(node, ast.NamedExpr):
        yield node.target.id
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.Lambda):
            yield from _walruses(child)
