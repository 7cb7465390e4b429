"""What the packages offer: names, signatures, docstrings, messages.

Nothing is imported, so a build doesn't need torch for this.
"""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path

import griffe

from glassbook.site.api.messages import Messages
from glassbook.site.api.source import Source, first_line, methods
from glassbook.site.api.symbol import Symbol, walk
from glassbook.site.api.values import values

PROTOCOL = {"extra_repr"}  # called only by torch


class Packages:
    """The described modules of some packages by name, and what each public name refers to.

    Args:
        root: the root of the project.
        folders: the folder of each package, relative to the root.
        described: names of modules; `package.room.*` is each module of the room, by name.

    Attributes:
        names: the names of the packages.
        modules: the described modules.
        symbols: these modules and all their public names, by full name.
        shorts: full names by their last part.
        imported: for each file's module, the names that it imports from the packages, and what
            they refer to.
    """

    def __init__(self, root: Path, folders: Sequence[str], described: Sequence[str]) -> None:
        self.names = tuple(Path(folder).name for folder in folders)
        files: dict[str, griffe.Module] = {}
        for folder in folders:
            places = [(root / folder).parent]
            tree = griffe.load(Path(folder).name, search_paths=places, allow_inspection=False)
            assert isinstance(tree, griffe.Module)
            files |= {one.path: one for one in _modules(tree)}
        self._files = files
        self._sources = {name: _source(one, root) for name, one in files.items()}
        self.imported = {name: self._imports(one) for name, one in files.items()}
        self._messages = Messages(self._sources, self.imported)
        names = [name for one in described for name in self.modules_of(one)]
        self.modules = {name: self._module(files[name]) for name in names if name in files}
        self.symbols = {one.name: one for module in self.modules.values() for one in walk(module)}
        self.shorts: dict[str, set[str]] = {}
        for name in self.symbols:
            self.shorts.setdefault(name.rpartition(".")[2], set()).add(name)

    def modules_of(self, described: str) -> list[str]:
        """Name the modules that a name stands for: `package.room.*` for each in a room.

        Those of an inner package aren't among them, but the package is.
        """
        room, _, star = described.rpartition(".")
        if star != "*":
            return [described]
        depth = room.count(".") + 1
        return sorted(n for n in self._files if n.startswith(f"{room}.") and n.count(".") == depth)

    def find(self, name: str) -> Symbol | None:
        """Find what a full name refers to, through the modules that only re-export it.

        griffe's own lookup confuses a function with the module of the same name that defines it.
        """
        seen: set[str] = set()
        while name not in self.symbols and name not in seen:
            seen.add(name)
            module, _, rest = name.rpartition(".")
            while module and module not in self._files:
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
        while module not in self._files:
            module = module.rpartition(".")[0]
        return module

    def _imports(self, module: griffe.Module) -> dict[str, str]:
        imports = module.imports.items()
        return {name: to for name, to in imports if to.partition(".")[0] in self.names}

    def _module(self, module: griffe.Module) -> Symbol:
        """Read a module with its public names; a package's include those that it re-exports."""
        members = self._defined(module)
        if module.is_init_module:
            offered = [name for inner in module.modules.values() for name in _offered(inner)]
            handed_on = dict.fromkeys([*self.imported[module.path].values(), *offered])
            members += [one for name in handed_on if (one := self._handed_on(name))]
        source = self._sources[module.path]
        last = len(source.lines) - 1  # the last line ends in a line break
        doc = _doc(module)
        return Symbol(module.path, "module", "", doc, source.path, 1, last, (), tuple(members))

    def _handed_on(self, name: str) -> Symbol | None:
        module, _, short = name.rpartition(".")
        found = self._defined(self._files[module]) if module in self._files else ()
        return next((one for one in found if one.short == short), None)

    def _defined(self, module: griffe.Module) -> list[Symbol]:
        """List what a module defines, in the order of its lines."""
        found = list(values(self._sources[module.path], module.path))
        for one in module.members.values():
            if isinstance(one, griffe.Class) and not one.name.startswith("_"):
                found.append(self._class(module, one))
            elif isinstance(one, griffe.Function) and not one.name.startswith("_"):
                found.append(self._function(module, one, None))
        return sorted(found, key=lambda one: one.first)

    def _class(self, module: griffe.Module, one: griffe.Class) -> Symbol:
        source = self._sources[module.path]
        node = source.cls(one.name, one.endlineno or 0)
        own = methods(node)
        made = [own[n] for n in ("__new__", "__init__", "__post_init__") if n in own]
        said = dict.fromkeys(m for n in made for m in self._messages.of(module.path, n, node))
        public = (
            member
            for name, member in one.members.items()
            if name in own and name not in PROTOCOL
            if not name.startswith("_") or name == "__call__"
        )
        return Symbol(
            one.path,
            "class",
            _class_signature(source, node),
            _doc(one),
            source.path,
            first_line(node),
            node.end_lineno or node.lineno,
            tuple(said),
            tuple(self._function(module, member, node) for member in public),
        )

    def _function(
        self,
        module: griffe.Module,
        one: griffe.Object | griffe.Alias,
        within: ast.ClassDef | None,
    ) -> Symbol:
        source = self._sources[module.path]
        node = source.function(one.name, one.endlineno or 0)
        return Symbol(
            one.path,
            "method" if within else "function",
            source.head(node),
            _doc(one),
            source.path,
            first_line(node),
            node.end_lineno or node.lineno,
            tuple(dict.fromkeys(self._messages.of(module.path, node, within))),
        )


def _modules(module: griffe.Module) -> Iterator[griffe.Module]:
    yield module
    for inner in module.modules.values():
        if isinstance(inner, griffe.Module):
            yield from _modules(inner)


def _offered(module: griffe.Module | griffe.Alias) -> list[str]:
    """List the full names in a module's `__all__`; none if it has no such list."""
    return [f"{module.path}.{name}" for name in module.exports or ()]


def _source(module: griffe.Module, root: Path) -> Source:
    file = module.filepath
    assert isinstance(file, Path)
    return Source(file.relative_to(root).as_posix(), file.read_text(encoding="utf-8"))


def _doc(one: griffe.Object | griffe.Alias) -> str:
    return one.docstring.value if one.docstring else ""


def _class_signature(source: Source, node: ast.ClassDef) -> str:
    """Return how a class is called: the head of its `__init__`, or its fields."""
    init = methods(node).get("__init__")
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
