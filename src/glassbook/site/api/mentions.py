"""Where pages mention the packages' names: in their code and in their sentences."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from doctest import DocTestParser
from functools import lru_cache

from glassbook.site.api.package import Packages
from glassbook.site.api.source import imports
from glassbook.site.api.symbol import Symbol
from glassbook.site.page_text import PageText
from proofbook.parsing.fences import Fence

CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
NAMED = re.compile(r"([A-Za-z_][\w.]*)(?:\(.*\))?")


@dataclass(frozen=True)
class Mentions:
    """What a page says about the packages, and which names mean something else there.

    Attributes:
        imported: Names that its code imports from the packages, and what they refer to.
        own: Names that its code binds to something of its own.
        shown: Full names whose source it shows.
        codes: The inline code in its sentences.
    """

    imported: dict[str, str]
    own: frozenset[str]
    shown: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()

    def find(self, code: str, packages: Packages) -> Symbol | None:
        """Find what a piece of inline code on this page refers to, if that is in the packages.

        A full name is looked up as it is. A short one refers to what the page imported under that
        name; failing that, to the only class or function with that name, unless it looks like an
        ordinary word.
        """
        named = NAMED.fullmatch(code)
        if not named:
            return None
        head, dot, rest = named[1].partition(".")
        if head in packages.names:
            return packages.find(named[1])
        if head in self.imported:
            return packages.find(f"{self.imported[head]}{dot}{rest}")
        candidates = packages.shorts.get(head, set())
        if head in self.own or len(candidates) != 1 or not re.search("_|[A-Z].*[a-z]", head):
            return None
        (name,) = candidates
        known = packages.symbols[name].kind in ("class", "function")
        return packages.find(f"{name}{dot}{rest}") if known else None

    def used(self, packages: Packages) -> Iterator[Symbol]:
        """List what its code imports and what its sentences name."""
        found = [packages.find(name) for name in self.imported.values()]
        found += [self.find(code, packages) for code in self.codes]
        yield from dict.fromkeys(one for one in found if one)


@lru_cache(1024)  # under `mkdocs serve`, most pages stay as they are
def mentions(text: PageText, packages: tuple[str, ...]) -> Mentions:
    """Read how a page mentions packages."""
    targets = [fence.options["show"] for fence in text.fences if "show" in fence.options]
    shown = tuple(target.replace(":", ".") for target in targets)
    imported: dict[str, str] = {}
    own: set[str] = set()
    for block in map(_statements, text.fences):
        try:
            tree = ast.parse(block)
        except SyntaxError:  # code that is shown but not run may not be a program
            continue
        imported |= dict(imports(tree, packages))
        own |= set(_bound(tree))
    return Mentions(
        imported, frozenset(own) - set(imported), shown, tuple(CODE.findall(text.prose))
    )


def _statements(fence: Fence) -> str:
    """Return the code of a fence, without prompts and outputs."""
    if fence.language == "python":
        return fence.code
    try:
        return "".join(example.source for example in DocTestParser().get_examples(fence.code))
    except ValueError:  # for the engine to report
        return ""


def _bound(tree: ast.Module) -> Iterator[str]:
    """Find the names that a block binds."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)
