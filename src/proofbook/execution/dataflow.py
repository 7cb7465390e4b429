"""Analyze statically what each statement of a page reads, binds, and may change."""

import ast
import symtable
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from textwrap import indent
from types import ModuleType

from proofbook.execution.aliases import Aliases, held, shared
from proofbook.execution.settings_made import Imported, chain
from proofbook.execution.sources import sources_of
from proofbook.model import Block

MUTATORS = frozenset(
    {"add", "append", "backward", "clear", "eval", "extend", "insert", "load_state_dict", "pop"}
    | {"popitem", "remove", "reverse", "setdefault", "sort", "step", "train", "update"}
)
"""Methods that change the object they are called on, besides those that end in `_`."""

# Methods that also change what their object was made from: parameters and their gradients.
FAR_REACHING = frozenset({"backward", "step"})
LOOPS = (ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
HARMLESS = frozenset({"print", "display"})
EMPTY = frozenset({"dict", "list", "set", "bytearray", "deque", "defaultdict"})


@dataclass(frozen=True)
class Statement:
    """A statement at the top level of a page.

    Attributes:
        block: Index of its block.
        code: Its lines, with the comments just above it.
        above: Blank lines above it.
        reads: Names that must exist, including those read in functions that it defines.
        binds: Names that it binds.
        renews: Those of `binds` whose old value no longer matters.
        changes: Names whose objects it may change.
        far: Those of `changes` whose change also affects what they were made from.
        draws: Random generators that it advanced.
        defines: Whether it defines a function or class, which reads names only when called.
        imported: For an import, each name that it binds, with a statement that imports only that.
    """

    block: int
    code: str
    above: int = 0
    reads: frozenset[str] = frozenset()
    binds: frozenset[str] = frozenset()
    renews: frozenset[str] = frozenset()
    changes: frozenset[str] = frozenset()
    far: frozenset[str] = frozenset()
    draws: frozenset[str] = frozenset()
    defines: bool = False
    imported: tuple[tuple[str, str], ...] = ()


def _split(block: Block) -> Iterator[tuple[str, int, ast.stmt | ast.Module, bool]]:
    """Yield each statement's code, blank lines above it, tree, and whether its value is shown."""
    if block.kind == "pycon":
        for source in sources_of(block):
            try:
                module = ast.parse(source)
            except SyntaxError:  # the page shows the error
                yield indent(source.rstrip("\n"), "# ", lambda _: True), 0, ast.Module([], []), True
                continue
            alone = module.body[0] if len(module.body) == 1 else module
            yield source.rstrip("\n"), 0, alone, True
        return
    lines = block.code.split("\n")
    body = ast.parse(block.code).body
    after = 0
    for tree, following in zip_longest(body, body[1:]):
        first = min([tree.lineno, *(d.lineno for d in getattr(tree, "decorator_list", []))]) - 1
        code, above = _tail(tree, lines, following), 0
        if first >= after:  # otherwise its line begins with another statement
            while first > after and lines[first - 1].startswith("#"):
                first -= 1
            while first - above > after and not lines[first - above - 1].strip():
                above += 1
            code = "\n".join([*lines[first : tree.lineno - 1], code])
        after = tree.end_lineno or first + 1
        yield code, above, tree, tree is body[-1]


def _tail(tree: ast.stmt, lines: list[str], following: ast.stmt | None) -> str:
    """Return a statement's code without its decorators or other statements on the same lines."""
    last = tree.end_lineno or tree.lineno
    kept = [line.encode() for line in lines[tree.lineno - 1 : last]]
    end = tree.end_col_offset or 0
    behind = kept[-1][end:]
    shared = following is not None and (following.lineno == last or behind.rstrip().endswith(b"\\"))
    if shared:
        kept[-1] = kept[-1][:end]
    kept[0] = kept[0][tree.col_offset :]
    return b"\n".join(kept).decode()


class Reader:
    """A reader of blocks, in order; it knows which names are modules, classes, and functions."""

    def __init__(self) -> None:
        self.callables: set[str] = set()
        self.impure: set[str] = set()
        self.hollow: set[str] = set()
        self._aliases = Aliases()
        self._imported = Imported()
        self._made: set[str] = set()
        self._mutators: set[str] = set()
        self._effects: dict[str, set[str]] = {}
        self._late: dict[str, set[str]] = {}

    def read(
        self, index: int, block: Block, draws: Sequence[tuple[int, str]]
    ) -> Iterator[Statement]:
        """Yield the statements of a block; in a doctest, each prompt counts as one.

        Args:
            index: The block's index on the page.
            block: The block.
            draws: For each draw, the statement's index and the generator that it advanced.
        """
        statements = list(_split(block))
        for number, (code, above, tree, shown) in enumerate(statements):
            moved = frozenset(generator for n, generator in draws if n == number)
            bare = Statement(index, code, above, draws=moved)
            if block.raises is not None and number == len(statements) - 1:
                yield replace(bare, reads=frozenset(_names(tree)[1]))  # none of its bindings last
            else:
                yield self._read(tree, bare, shown)

    def _read(self, tree: ast.stmt | ast.Module, bare: Statement, shown: bool) -> Statement:
        """Fill in the statement's fields from its code."""
        if isinstance(tree, ast.Import | ast.ImportFrom):
            imported = tuple(_imports(tree))
            for alias in tree.names:
                for name, _ in _imports(tree, [alias]):
                    self._imported.add(tree, name, alias)
            names = frozenset(name for name, _ in imported)
            self.callables |= names
            return replace(bare, binds=names, renews=names, imported=imported)
        defines = isinstance(tree, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        binds, reads = _names(tree)
        changes, far = self._changed(tree)
        settings = self._imported.settings(tree, MUTATORS | self._mutators)
        changes |= self._filled(tree)
        if isinstance(tree, ast.Expr) and not shown and isinstance(tree.value, ast.Call):
            changes |= self._changed_by_bare_call(tree.value, drew=bool(bare.draws))
        changes |= self._changed_by_functions(reads)
        if defines:
            self._define(tree, binds, reads, changes | far)
            for name in binds:
                self._effects[name] |= settings
            changes, far = self._changed_by_decorators(tree), set()
        else:
            self._share(tree, binds - reads)
            changes |= settings
        changes = self._aliases.of(changes)
        self._imported.drop(binds)
        assigns = isinstance(tree, ast.Assign | ast.AnnAssign)
        self.hollow -= binds
        if isinstance(tree, ast.Assign):
            self.hollow |= self._made_from_nothing(tree)
        return replace(
            bare,
            reads=frozenset(reads),
            binds=frozenset(binds),
            renews=frozenset(binds if defines else binds - reads if assigns else ()),
            changes=frozenset(changes),
            far=frozenset(far),
            defines=defines,
        )

    def _define(self, tree: ast.AST, binds: set[str], reads: set[str], changes: set[str]) -> None:
        """Record what calling a function, or a class's methods, may change."""
        self.callables |= binds
        within = Aliases()
        within.add(shared(tree, self._made))
        changed = within.of(changes)
        counted = {
            node.target.id
            for node in ast.walk(tree)
            if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        }
        parameters = {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
        if changes - counted or within.of(counted) & parameters:  # not just a local counter
            self.impure |= binds
        for name in binds:
            self._effects[name] = (changed & reads) | _declared(tree)
            self._late[name] = reads
        self._made |= binds
        for method in tree.body if isinstance(tree, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.args.args:
                self._made.add(method.name)
                if method.args.args[0].arg in within.of(set().union(*self._changed(method))):
                    self._mutators.add(method.name)

    def _changed_by_decorators(self, tree: ast.AST) -> set[str]:
        """Return the names that a definition's decorators may change, such as a registry."""
        decorators = getattr(tree, "decorator_list", [])
        roots = set().union(*map(_root, decorators))
        handed = set().union(
            *(_roots_of_arguments(d) for d in decorators if isinstance(d, ast.Call))
        )
        return (roots | handed) - self.callables | self._changed_by_functions(roots)

    def _share(self, tree: ast.AST, renewed: set[str]) -> None:
        """Record which names may share an object after a statement runs."""
        if isinstance(tree, ast.Assign | ast.AnnAssign):
            for name in renewed:
                self._aliases.drop(name)
        pairs = shared(tree, self._made)
        self._aliases.add(pair for pair in pairs if self.callables.isdisjoint(pair))
        if isinstance(tree, ast.Assign) and isinstance(tree.value, ast.Lambda):
            for name in renewed:
                self._effects[name] = self._changed(tree)[0]
                self._late[name] = set()

    def _changed_by_functions(self, reads: set[str]) -> set[str]:
        """Return the names that may change when the functions among these names are called."""
        changes: set[str] = set()
        called, waiting = set(), [name for name in reads if name in self._effects]
        while waiting:
            name = waiting.pop()
            if name not in called:
                called.add(name)
                changes |= self._effects[name]
                waiting.extend(self._late[name] & self._effects.keys())
        return changes

    def _changed(self, tree: ast.AST) -> tuple[set[str], set[str]]:
        """Return the names whose objects may change, and those whose change is far-reaching."""
        changes: set[str] = set()
        far: set[str] = set()
        owned: set[str] = set()  # the page's functions and classes that are themselves changed
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute | ast.Subscript):
                if not isinstance(node.ctx, ast.Load):
                    changes |= _root(node)
                    owned.update(chain(node, through_calls=False)[:1])
            elif isinstance(node, ast.AugAssign):
                changes |= _root(node.target)
            elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                method = node.func.attr
                in_place = method.endswith("_") and not method.endswith("__")
                if in_place or method in MUTATORS | self._mutators:
                    changes |= _root(node.func)
                    owned.update(chain(node.func, through_calls=False)[:1])
                if in_place:  # torch.nn.init.normal_(weight)
                    changes |= _roots_of_arguments(node)
                if method in FAR_REACHING:
                    far |= _root(node.func)
            elif isinstance(node, ast.Call) and _root(node.func) & self.impure:
                for argument in [*node.args, *(keyword.value for keyword in node.keywords)]:
                    changes |= held(argument, self._made)
            elif isinstance(node, ast.Call) and "__call__" in self._mutators:
                changes |= _root(node.func)
        theirs = {name for name in self.callables if name in self._imported or name not in owned}
        return changes - theirs, far - self.callables

    def _made_from_nothing(self, tree: ast.Assign) -> set[str]:
        """Find the names bound to an empty container, or to an object made without arguments."""
        found = set()
        for target in tree.targets:
            pairs = [(target, tree.value)]
            if isinstance(target, ast.Tuple) and isinstance(tree.value, ast.Tuple):
                pairs = list(zip(target.elts, tree.value.elts, strict=False))
            for name, value in pairs:
                made = isinstance(value, ast.Call) and self._makes_empty(value)
                if isinstance(name, ast.Name) and (made or ast.unparse(value) in ("[]", "{}")):
                    found.add(name.id)
        return found

    def _makes_empty(self, call: ast.Call) -> bool:
        """Return whether a call may return an empty object; loaded objects are already full."""
        if call.args or call.keywords:
            return False
        first, *rest = chain(call.func) or [""]
        name = rest[-1] if rest else first
        return first not in self._imported or name in EMPTY or name[:1].isupper()

    def _filled(self, tree: ast.AST) -> set[str]:
        """Return the names of empty objects that a loop passes to calls, which may fill them."""
        loops = (node for node in ast.walk(tree) if isinstance(node, LOOPS))
        calls = (node for loop in loops for node in ast.walk(loop) if isinstance(node, ast.Call))
        return self.hollow & set().union(*map(_roots_of_arguments, calls))

    def _changed_by_bare_call(self, call: ast.Call, *, drew: bool) -> set[str]:
        """Return the names that a call may change, given that its value is unused."""
        if isinstance(call.func, ast.Name):
            return set() if call.func.id in HARMLESS else _roots_of_arguments(call)
        root = _root(call.func)
        if root & self.callables and drew:  # torch.manual_seed: recorded as a draw
            return set()
        return root | (_roots_of_arguments(call) - self.callables)


def _names(tree: ast.AST) -> tuple[set[str], set[str]]:
    """Return the names that a statement binds and those that it reads, functions included."""
    table = symtable.symtable(ast.unparse(tree), "<statement>", "exec")
    symbols = table.get_symbols()
    binds = {s.get_name() for s in symbols if s.is_assigned() or s.is_imported()}
    reads = {s.get_name() for s in symbols if s.is_referenced()}
    reads |= {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)
        if node.target.id in binds | _declared(tree)
    }
    return binds, reads | {name for inner in table.get_children() for name in _globals(inner)}


def _declared(tree: ast.AST) -> set[str]:
    """Return the names that functions in a statement declare as globals."""
    return {name for n in ast.walk(tree) if isinstance(n, ast.Global) for name in n.names}


def _roots_of_arguments(call: ast.Call) -> set[str]:
    arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
    return set().union(*map(_root, arguments))


def _imports(
    tree: ast.Import | ast.ImportFrom, aliases: Sequence[ast.alias] | None = None
) -> Iterator[tuple[str, str]]:
    """Yield each name that an import binds, with a statement that binds it."""
    for alias in tree.names if aliases is None else aliases:
        alone = (
            ast.Import([alias])
            if isinstance(tree, ast.Import)
            else ast.ImportFrom(tree.module, [alias], tree.level)
        )
        names = [alias.asname or alias.name.split(".")[0]]
        if alias.name == "*" and isinstance(tree, ast.ImportFrom):
            names = ["*", *_public(sys.modules.get(str(tree.module)))]
        yield from ((name, ast.unparse(alone)) for name in names)


def _public(module: ModuleType | None) -> list[str]:
    """Return the names that a star import takes from a module, if it is loaded."""
    names = vars(module) if module else {}
    return list(names.get("__all__", [name for name in names if not name.startswith("_")]))


def _globals(table: symtable.SymbolTable) -> Iterator[str]:
    for symbol in table.get_symbols():
        if symbol.is_global() and symbol.is_referenced():
            yield symbol.get_name()
    for inner in table.get_children():
        yield from _globals(inner)


def _root(node: ast.expr) -> set[str]:
    """Return the name at the start of a chain of attributes, items, and calls."""
    while isinstance(node, ast.Attribute | ast.Subscript | ast.Call | ast.Starred):
        node = node.func if isinstance(node, ast.Call) else node.value
    return {node.id} if isinstance(node, ast.Name) else set()
