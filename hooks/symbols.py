"""What the package offers, read from its source: names, signatures, docstrings, messages.

Nothing is imported, so a build needs no torch for it. What is read of a file is kept until the
file changes.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

PACKAGE = "glassformer"
PROTOCOL = {"extra_repr"}  # what only torch calls
SPEAKING = re.compile(r"[^\W\d_]{2,}")

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Symbol:
    """A module, or a public name in one.

    Attributes:
        name: with its module, as in `glassformer.masks.causal_mask`.
        kind: "module", "class", "function", "method" or "value".
        signature: the lines of the source that say how it is called, or what it is.
        doc: its docstring.
        path: the file, seen from the root of the project.
        first: its first line.
        last: its last line.
        messages: the errors that it raises, as a traceback ends; … stands for what is filled in.
        members: names in a module, methods and properties of a class.
    """

    name: str
    kind: str
    signature: str
    doc: str
    path: str
    first: int
    last: int
    messages: tuple[str, ...] = ()
    members: tuple["Symbol", ...] = ()

    @property
    def short(self) -> str:
        """The last part of the name."""
        return self.name.rpartition(".")[2]


@dataclass
class Source:
    """A parsed file, and the names that its statements bind."""

    module: str
    path: str
    lines: list[str]
    tree: ast.Module
    imported: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.imported = dict(imports(self.tree))
        self.functions = {n.name: n for n in self.tree.body if isinstance(n, Function)}

    def text(self, first: int, last: int) -> str:
        """Some lines, without what they are indented by in common."""
        lines = self.lines[first - 1 : last]
        indent = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        return "\n".join(line[indent:] for line in lines).rstrip()


def imports(tree: ast.AST) -> Iterator[tuple[str, str]]:
    """Each name that a statement takes from the package, and what it stands for there."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == PACKAGE:
            for alias in node.names:
                yield alias.asname or alias.name, f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == PACKAGE:
                    yield alias.asname or PACKAGE, alias.name if alias.asname else PACKAGE


class Package:
    """The modules of the package by name, and what each public name leads to."""

    def __init__(self, sources: Iterable[Source]) -> None:
        self.sources = {source.module: source for source in sources}
        inner = {name for name in self.sources if name.count(".") == 1}
        self.modules = {name: self._module(self.sources[name]) for name in sorted(inner)}
        self.symbols = {one.name: one for module in self.modules.values() for one in walk(module)}
        self.shorts: dict[str, set[str]] = {}
        for name in self.symbols:
            self.shorts.setdefault(name.rpartition(".")[2], set()).add(name)

    def find(self, name: str) -> Symbol | None:
        """What a full name leads to, through the modules that only hand it on."""
        seen: set[str] = set()
        while name not in self.symbols and name not in seen:
            seen.add(name)
            module, _, rest = name.rpartition(".")
            while module and module not in self.sources:
                module, _, part = module.rpartition(".")
                rest = f"{part}.{rest}"
            head, dot, tail = rest.partition(".")
            if not module or head not in self.sources[module].imported:
                return None
            name = f"{self.sources[module].imported[head]}{dot}{tail}"
        return self.symbols.get(name)

    def _module(self, source: Source) -> Symbol:
        """A module with its public names; a package with those that it hands on."""
        members = [*self._defined(source)]
        if source.path.endswith("__init__.py"):
            handed_on = source.imported.values()
            members += [one for name in handed_on if (one := self._handed_on(name))]
        doc = ast.get_docstring(source.tree) or ""
        return Symbol(
            source.module, "module", "", doc, source.path, 1, len(source.lines), (), tuple(members)
        )

    def _handed_on(self, name: str) -> Symbol | None:
        module, _, short = name.rpartition(".")
        found = self._defined(self.sources[module]) if module in self.sources else ()
        return next((one for one in found if one.short == short), None)

    def _defined(self, source: Source) -> Iterator[Symbol]:
        for node, after in zip(source.tree.body, [*source.tree.body[1:], None], strict=True):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                yield self._class(source, node)
            elif isinstance(node, Function) and not node.name.startswith("_"):
                yield self._function(source, node, source.module, "function")
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                yield from _values(source, node, after)

    def _class(self, source: Source, node: ast.ClassDef) -> Symbol:
        name = f"{source.module}.{node.name}"
        methods = {one.name: one for one in node.body if isinstance(one, Function)}
        made = [methods[n] for n in ("__new__", "__init__", "__post_init__") if n in methods]
        hidden = [n for n in methods if n.startswith("_") and n != "__call__"]
        public = [n for n in methods if n not in {*hidden, *PROTOCOL}]
        first, parts = _head(source, node)
        if "__init__" in methods:
            parts[0] += ":"
            parts.append("    " + _head(source, methods["__init__"])[1][0].replace("\n", "\n    "))
        else:
            fields = [
                source.text(_commented(source, one.lineno), one.end_lineno or 0)
                for one in node.body
                if isinstance(one, ast.AnnAssign)
                and isinstance(one.target, ast.Name)
                and not one.target.id.startswith("_")
            ]
            parts[0] += ":" * bool(fields)
            parts += ["    " + field.replace("\n", "\n    ") for field in fields]
        return Symbol(
            name,
            "class",
            "\n".join(parts),
            ast.get_docstring(node) or "",
            source.path,
            first,
            node.end_lineno or first,
            tuple(dict.fromkeys(m for one in made for m in self._messages(source, one, node))),
            tuple(self._function(source, methods[n], name, "method") for n in public),
        )

    def _function(self, source: Source, node: Function, within: str, kind: str) -> Symbol:
        owner = within.rpartition(".")[2] if kind == "method" else ""
        classes = {n.name: n for n in source.tree.body if isinstance(n, ast.ClassDef)}
        first, parts = _head(source, node)
        return Symbol(
            f"{within}.{node.name}",
            kind,
            parts[0],
            ast.get_docstring(node) or "",
            source.path,
            first,
            node.end_lineno or first,
            tuple(dict.fromkeys(self._messages(source, node, classes.get(owner)))),
        )

    def _messages(
        self, source: Source, node: Function, within: ast.ClassDef | None = None, depth: int = 3
    ) -> Iterator[str]:
        """The errors that a function raises, itself or in its own helpers, with their messages."""
        own = {m.name: m for m in within.body if isinstance(m, Function)} if within else {}
        for one in ast.walk(node):
            if not isinstance(one, ast.Call):
                continue
            name = ast.unparse(one.func).rpartition(".")[2]
            if name.endswith("Error") and one.args:
                text = re.sub(r"\s+", " ", template(one.args[0])).strip()
                if len(SPEAKING.findall(text)) > 2:
                    yield f"{name}: {text}"
            elif depth and name.startswith(("_", "check_")) and not name.startswith("__"):
                helper, there = own.get(name) or source.functions.get(name), source
                if helper is None and name in source.imported:
                    module = source.imported[name].rpartition(".")[0]
                    there = self.sources.get(module, source)
                    helper = there.functions.get(name)
                if helper is not None and helper is not node:
                    yield from self._messages(there, helper, within, depth - 1)


def walk(symbol: Symbol) -> Iterator[Symbol]:
    """A symbol and all within it."""
    yield symbol
    for member in symbol.members:
        yield from walk(member)


def read(root: Path) -> Package:
    """The package of a project."""
    files = sorted((root / "src" / PACKAGE).rglob("*.py"))
    return _package(
        tuple((file.relative_to(root).as_posix(), file.read_text("utf-8")) for file in files)
    )


@cache
def _package(files: tuple[tuple[str, str], ...]) -> Package:
    return Package(parsed(path, code) for path, code in files)


@cache  # under `mkdocs serve`, most files have not changed since the last build
def parsed(path: str, code: str) -> Source:
    """A file of the package."""
    name = path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__")
    return Source(name.replace("/", "."), path, code.split("\n"), ast.parse(code))


def template(node: ast.expr) -> str:
    """What a message says whatever the values are."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.JoinedStr):
        return "".join(map(template, node.values))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        return template(node.left) + template(node.right)
    return "…"


def _head(source: Source, node: Function | ast.ClassDef) -> tuple[int, list[str]]:
    """The first line of a definition, and its lines up to the colon that opens its body."""
    first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
    opening = node.body[0]
    last = opening.lineno - 1 if opening.lineno > node.lineno else node.lineno
    while source.lines[last - 1].lstrip().startswith("#"):  # a comment on the body
        last -= 1
    return first, [source.text(first, last).removesuffix(":").rstrip()]


def _commented(source: Source, line: int) -> int:
    """The first line of the comment that ends above a line; the line itself if none does."""
    while line > 1 and source.lines[line - 2].lstrip().startswith("# "):
        line -= 1
    return line


def _values(
    source: Source, node: ast.Assign | ast.AnnAssign, after: ast.stmt | None
) -> Iterator[Symbol]:
    """A value under a public name; what it means stands below it as text, or above as comment."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    first, last = node.lineno, node.end_lineno or node.lineno
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        doc = str(after.value.value)
    else:
        above = source.lines[_commented(source, first) - 1 : first - 1]
        doc = " ".join(line.lstrip("# ") for line in above)
    text = source.text(first, last)
    asks = _asked(node.value)
    if asks:  # the rest of an exercise gives its answer away
        text, doc = f"{text.partition('(')[0]}(...)", f"Asked for: {asks}."
    for target in targets:
        if isinstance(target, ast.Name) and re.match(r"[A-Za-z]", target.id):
            name = f"{source.module}.{target.id}"
            yield Symbol(name, "value", text, doc, source.path, first, last)


def _asked(value: ast.expr | None) -> str:
    """What an exercise asks for; nothing where the value is none."""
    keywords = value.keywords if isinstance(value, ast.Call) else []
    return next((template(one.value) for one in keywords if one.arg == "asks"), "")
