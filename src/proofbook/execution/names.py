"""Find which names each statement of a page reads, binds, and may change.

This is a closure over names, not an analysis of values: it explains which code a value came from,
and what a failure spoils.
"""

import ast
import symtable
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from proofbook.execution.sources import sources_of
from proofbook.model import Block

EVERY_NAME = "*"
"""Stands for the unknown names that a star import binds."""


@dataclass(frozen=True)
class Statement:
    """The names of a statement at the top level of a page.

    Attributes:
        reads: Names that must exist, including those read in functions that it defines.
        binds: Names that it binds.
        renews: Those of `binds` whose old value no longer matters.
        changes: Names whose objects it may change: it assigns to a part of them, or it uses them in
            a call whose value nobody uses.
        defines: Whether it defines a function or class, which reads names only when called.
        imports: Whether it only imports.
    """

    reads: frozenset[str]
    binds: frozenset[str] = frozenset()
    renews: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    defines: bool = False
    imports: bool = False


def statements_of(block: Block) -> list[Statement]:
    """Return the statements of a block; in a doctest, each prompt counts as one.

    Raises:
        SyntaxError: The block can't be parsed.
    """
    if block.kind == "pycon":
        found = [_example(source) for source in sources_of(block)]
    else:
        body = ast.parse(block.code).body
        found = [_statement(tree, is_shown=tree is body[-1]) for tree in body]
    if block.raises is not None and found:
        found[-1] = Statement(found[-1].reads)  # none of its bindings last
    return found


def statements_behind(blocks: Sequence[Block], expression: str) -> dict[tuple[int, int], Statement]:
    """Return an expression that follows some blocks, and the statements that it depends on.

    The keys are the index of a statement's block and its own index within the block.
    """
    every = [*blocks, Block("python", expression, line=1)]
    page = {
        (index, number): statement
        for index, block in enumerate(every)
        for number, statement in enumerate(statements_of(block))
    }
    later, constant = read_later(page.values()), constants(page.values())
    wanted: set[str] = set()
    behind = {}
    for place, statement in reversed(page.items()):
        made = statement.binds | (statement.changes - constant)
        if place[0] == len(blocks) or made & (wanted | {EVERY_NAME}):
            behind[place] = statement
            wanted -= statement.renews
            wanted |= with_later(statement.reads, later)
    return behind


def names_bound(blocks: Sequence[Block]) -> set[str]:
    """Return the names that blocks bind, except by imports."""
    every = (one for block in blocks for one in statements_of(block))
    return {name for one in every if not one.imports for name in one.binds}


def reads_builtin(blocks: Sequence[Block], name: str) -> bool:
    """Return whether blocks read a name that none of them binds; unparsable ones read nothing."""
    found = []
    for block in blocks:
        try:
            found += statements_of(block)
        except SyntaxError:
            continue
    is_read = any(name in one.reads for one in found)
    return is_read and not any(name in one.binds for one in found)


def constants(statements: Collection[Statement]) -> set[str]:
    """Return the names of modules, functions, and classes, which no call changes."""
    return {name for one in statements if one.imports or one.defines for name in one.binds}


def read_later(statements: Collection[Statement]) -> dict[str, frozenset[str]]:
    """Return the names that each function reads when called, by the function's name."""
    return {name: one.reads for one in statements if one.defines for name in one.binds}


def with_later(names: Collection[str], later: dict[str, frozenset[str]]) -> set[str]:
    """Return the names, plus those that functions among them read when called."""
    found, waiting = set(), set(names)
    while waiting:
        name = waiting.pop()
        found.add(name)
        waiting |= later.get(name, frozenset()) - found
    return found


def _example(source: str) -> Statement:
    try:
        return _statement(ast.parse(source))
    except SyntaxError:  # the page shows the error
        return Statement(frozenset())


def _statement(tree: ast.AST, is_shown: bool = False) -> Statement:
    table = symtable.symtable(ast.unparse(tree), "<statement>", "exec")
    symbols = table.get_symbols()
    binds = {one.get_name() for one in symbols if one.is_assigned() or one.is_imported()}
    reads = {one.get_name() for one in symbols if one.is_referenced()}
    reads |= {name for inner in table.get_children() for name in _globals(inner)}
    if isinstance(tree, ast.ImportFrom) and tree.names[0].name == EVERY_NAME:
        binds = {EVERY_NAME}
    augmented = {name for name in _augmented(tree) if name in binds}
    defines = isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    imports = isinstance(tree, ast.Import | ast.ImportFrom)
    assigns = isinstance(tree, ast.Assign | ast.AnnAssign)
    statement = Statement(
        frozenset(reads | augmented),
        frozenset(binds),
        defines=defines,
        imports=imports,
    )
    if defines or imports:
        return replace(statement, renews=statement.binds)
    renews = statement.binds - statement.reads if assigns else frozenset()
    changes = frozenset() if is_shown and isinstance(tree, ast.Expr) else frozenset(_changed(tree))
    return replace(statement, renews=renews, changes=changes)


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    """Yield the global names that a function or class reads, at any depth."""
    for symbol in table.get_symbols():
        if symbol.is_global() and symbol.is_referenced():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _globals(inner)


def _augmented(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def _changed(tree: ast.AST) -> Iterator[str]:
    """Yield the names whose objects a statement may change."""
    for node in ast.walk(tree):
        match node:
            case ast.Attribute() | ast.Subscript() if not isinstance(node.ctx, ast.Load):
                yield from _root(node)
            case ast.AugAssign():
                yield from _root(node.target)
            case ast.Expr(value=ast.Call(func=ast.Name("print" | "display"))):
                continue
            case ast.Expr(value=ast.Call() as call):
                keywords = (keyword.value for keyword in call.keywords)
                receiver = [call.func] if isinstance(call.func, ast.Attribute) else []
                for used in [*receiver, *call.args, *keywords]:
                    yield from _root(used)


def _root(node: ast.expr) -> Iterator[str]:
    """Yield the name at the beginning of `a.b[c].d`; nothing if there is none."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Starred):
        node = node.value
    if isinstance(node, ast.Name):
        yield node.id
