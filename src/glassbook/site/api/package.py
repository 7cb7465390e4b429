"""What the packages offer: names, signatures, docstrings, messages.

It is read from their syntax trees. Nothing is imported, so a build doesn't need torch for this.
"""

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from glassbook.site.api.messages import Messages, template
from glassbook.site.api.source import Definition, Function, Source, first_line, functions, imports
from glassbook.site.api.symbol import Symbol, walk

PROTOCOL = {"extra_repr"}  # called only by torch
MAKERS = ("__new__", "__init__", "__post_init__")


class Packages:
    """The described modules of some packages by name, and what each public name refers to.

    Args:
        root: The root of the project.
        folders: The folder of each package, relative to the root.
        described: Names of modules; `package.room.*` is each module of the room, by name.

    Attributes:
        names: The names of the packages.
        modules: The described modules.
        symbols: These modules and all their public names, by full name.
        shorts: Full names by their last part.
        imported: For each file's module, the names that it imports from the packages, and what
            they refer to.
    """

    def __init__(self, root: Path, folders: Sequence[str], described: Sequence[str]) -> None:
        self.names = tuple(Path(folder).name for folder in folders)
        found = [one for folder in folders for one in _sources(root, root / folder)]
        self._sources = {one.module: one for one in found}
        self.imported = {one.module: dict(imports(one.tree, self.names)) for one in found}
        self._messages = Messages(self._sources, self.imported)
        names = [name for one in described for name in self.modules_of(one)]
        known = self._sources
        self.modules = {name: self._module(known[name]) for name in names if name in known}
        self.symbols = {one.name: one for module in self.modules.values() for one in walk(module)}
        self.shorts: dict[str, set[str]] = {}
        for name in self.symbols:
            self.shorts.setdefault(name.rpartition(".")[2], set()).add(name)

    def modules_of(self, described: str) -> list[str]:
        """Name the modules that a name stands for: `package.room.*` for each in a room.

        Those of an inner package aren't among them, but the package is.
        """
        room, _, star = described.rpartition(".")
        return self._inside(room) if star == "*" else [described]

    def _inside(self, room: str) -> list[str]:
        return sorted(name for name in self._sources if name.rpartition(".")[0] == room)

    def find(self, name: str) -> Symbol | None:
        """Find what a full name refers to, through the modules that only re-export it."""
        seen: set[str] = set()
        while name not in self.symbols and name not in seen:
            seen.add(name)
            module, _, rest = name.rpartition(".")
            while module and module not in self._sources:
                module, _, part = module.rpartition(".")
                rest = f"{part}.{rest}"
            head, dot, tail = rest.partition(".")
            if not module or head not in self.imported[module]:
                return None
            name = f"{self.imported[module][head]}{dot}{tail}"
        return self.symbols.get(name)

    def home(self, symbol: Symbol) -> str:
        """Name the module of the file in which a symbol is defined."""
        module = symbol.name
        while module not in self._sources:
            module = module.rpartition(".")[0]
        return module

    def _module(self, source: Source) -> Symbol:
        """Read a module with its public names; a package's include those that it re-exports."""
        name, members = source.module, self._defined(source)
        if source.path.endswith("__init__.py"):
            offered = [
                one for inner in self._inside(name) for one in _offered(self._sources[inner])
            ]
            handed_on = dict.fromkeys([*self.imported[name].values(), *offered])
            members += [one for full in handed_on if (one := self._handed_on(full))]
        last = len(source.lines) - 1  # the last line ends in a line break
        doc = ast.get_docstring(source.tree) or ""
        return Symbol(name, "module", "", doc, source.path, 1, last, (), tuple(members))

    def _handed_on(self, name: str) -> Symbol | None:
        module, _, short = name.rpartition(".")
        found = self._defined(self._sources[module]) if module in self._sources else ()
        return next((one for one in found if one.short == short), None)

    def _defined(self, source: Source) -> list[Symbol]:
        """List what a module defines, in the order of its lines."""
        found = list(_values(source))
        for node in source.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found.append(self._class(source, node))
            elif isinstance(node, Function) and not node.name.startswith("_"):
                found.append(self._function(source, node))
        return sorted(found, key=lambda one: one.first)

    def _class(self, source: Source, node: ast.ClassDef) -> Symbol:
        own = functions(node)
        makers = (own[name] for name in MAKERS if name in own)
        said = (one for maker in makers for one in self._messages.of(source.module, maker, node))
        members = (
            self._function(source, method, node)
            for name, method in own.items()
            if name not in PROTOCOL and (not name.startswith("_") or name == "__call__")
        )
        name = f"{source.module}.{node.name}"
        signature = _class_signature(source, node)
        return _symbol(name, "class", signature, source, node, said, members)

    def _function(
        self, source: Source, node: Function, within: ast.ClassDef | None = None
    ) -> Symbol:
        name = f"{within.name}.{node.name}" if within else node.name
        said = self._messages.of(source.module, node, within)
        kind = "method" if within else "function"
        return _symbol(f"{source.module}.{name}", kind, source.head(node), source, node, said)


def _symbol(
    name: str,
    kind: str,
    signature: str,
    source: Source,
    node: Definition,
    messages: Iterable[str],
    members: Iterable[Symbol] = (),
) -> Symbol:
    doc, last = ast.get_docstring(node) or "", node.end_lineno or node.lineno
    said = tuple(dict.fromkeys(messages))
    return Symbol(
        name, kind, signature, doc, source.path, first_line(node), last, said, tuple(members)
    )


def _sources(root: Path, folder: Path) -> Iterator[Source]:
    """Read the modules of a package."""
    for file in sorted(folder.rglob("*.py")):
        parts = file.relative_to(folder.parent).with_suffix("").parts
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        path = file.relative_to(root).as_posix()
        yield Source(module, path, file.read_text(encoding="utf-8"))


def _offered(source: Source) -> list[str]:
    """List the full names in a module's `__all__`; none if it has no such list."""
    lists = (
        ast.literal_eval(node.value)
        for node in source.tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    return [f"{source.module}.{name}" for names in lists for name in names]


def _class_signature(source: Source, node: ast.ClassDef) -> str:
    """Return how a class is called: the head of its `__init__`, or its fields."""
    init = functions(node).get("__init__")
    if init:
        return f"{source.head(node)}:\n{_indented(source.head(init))}"
    fields = [
        _indented(source.text(source.commented(one.lineno), one.end_lineno or one.lineno))
        for one in node.body
        if isinstance(one, ast.AnnAssign)
        and isinstance(one.target, ast.Name)
        and not one.target.id.startswith("_")
    ]
    return "\n".join([source.head(node) + ":" * bool(fields), *fields])


def _indented(text: str) -> str:
    return "    " + text.replace("\n", "\n    ")


def _values(source: Source) -> Iterator[Symbol]:
    """Find the values of a module under their public names."""
    body = source.tree.body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.Assign | ast.AnnAssign):
            text, doc = _described(source, node, after)
            for name in _names(node):
                last = node.end_lineno or node.lineno
                full = f"{source.module}.{name}"
                yield Symbol(full, "value", text, doc, source.path, node.lineno, last)


def _names(node: ast.Assign | ast.AnnAssign) -> list[str]:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [target.id for target in targets if isinstance(target, ast.Name)]
    return [name for name in names if re.match(r"[A-Za-z]", name)]


def _described(
    source: Source, node: ast.Assign | ast.AnnAssign, after: ast.stmt | None
) -> tuple[str, str]:
    """Return the lines of a value, and its meaning from the text below or the comment above it."""
    first, last = node.lineno, node.end_lineno or node.lineno
    text = source.text(first, last)
    if asks := _asked(node.value):  # the rest of an exercise gives its answer away
        return f"{text.partition('(')[0]}(...)", f"Asked for: {asks}."
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return text, str(after.value.value)
    above = source.lines[source.commented(first) - 1 : first - 1]
    return text, " ".join(line.lstrip("# ") for line in above)


def _asked(value: ast.expr | None) -> str:
    """Return what an exercise asks for; "" if the value isn't one."""
    keywords = value.keywords if isinstance(value, ast.Call) else []
    return next((template(one.value) for one in keywords if one.arg == "asks"), "")
