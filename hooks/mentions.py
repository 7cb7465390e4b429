"""Where pages mention the package's names: in their code and in their sentences."""

import ast
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from symbols import PACKAGE, Package, Symbol, imports

FENCE = re.compile(r"^( *)```(python|pycon)\b([^\n]*)\n(.*?)^\1```", re.MULTILINE | re.DOTALL)
PROMPT = re.compile(r"^(?:>>>|\.\.\.) ?")
SHOWN = re.compile(r'show="([\w.]+)(?::([\w.]+))?"')
CODE = re.compile(r"(?<!`)`([^`\n]+)`(?!`)")
NAMED = re.compile(r"([A-Za-z_][\w.]*)(?:\(.*\))?")
VERBATIM = {"a", "button", "h1", "h2", "h3", "h4", "h5", "h6", "pre"}


@dataclass(frozen=True)
class Mentions:
    """What a page says of the package, and which names mean something else there.

    Attributes:
        imported: names that its code takes from the package, with what they stand for.
        own: names that its code gives to something of its own.
        shown: full names whose source it shows.
        codes: the inline code in its sentences.
    """

    imported: dict[str, str]
    own: frozenset[str]
    shown: tuple[str, ...]
    codes: tuple[str, ...]

    def find(self, code: str, package: Package) -> Symbol | None:
        """What a piece of inline code on this page names, if it is the package's.

        A full name is what it says. A short one is what the page imported under it; else a class
        or function that has it alone, and looks like a name and not like an ordinary word.
        """
        named = NAMED.fullmatch(code)
        if not named:
            return None
        head, dot, rest = named[1].partition(".")
        if head == PACKAGE:
            return package.find(named[1])
        if head in self.imported:
            return package.find(f"{self.imported[head]}{dot}{rest}")
        candidates = package.shorts.get(head, set())
        if head in self.own or len(candidates) != 1 or not re.search("_|[A-Z].*[a-z]", head):
            return None
        (name,) = candidates
        known = package.symbols[name].kind in ("class", "function")
        return package.find(f"{name}{dot}{rest}") if known else None

    def used(self, package: Package) -> Iterator[Symbol]:
        """What its code imports, and what its sentences name."""
        found = [package.find(name) for name in self.imported.values()]
        found += [self.find(code, package) for code in self.codes]
        yield from dict.fromkeys(one for one in found if one)


@cache  # under `mkdocs serve`, most pages have not changed since the last build
def mentions(text: str, is_script: bool) -> Mentions:
    """What a chapter, or the script of a lab, mentions."""
    blocks = [text] if is_script else [_code(match) for match in FENCE.finditer(text)]
    imported: dict[str, str] = {}
    own: set[str] = set()
    for block in blocks:
        try:
            tree = ast.parse(block)
        except SyntaxError:  # a doctest of one, say
            continue
        imported |= dict(imports(tree))
        own |= set(_bound(tree))
    shown = tuple(".".join(filter(None, pair)) for pair in SHOWN.findall(text))
    prose = text if is_script else FENCE.sub("", text)
    return Mentions(imported, frozenset(own) - set(imported), shown, tuple(CODE.findall(prose)))


def _code(match: re.Match[str]) -> str:
    """The code of a fence, without indent and prompts."""
    indent, language, _, code = match.groups()
    lines = [line.removeprefix(indent) for line in code.split("\n")]
    if language == "pycon":
        lines = [PROMPT.sub("", line) for line in lines if PROMPT.match(line)]
    return "\n".join(lines)


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names that a block gives to something."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from (alias.asname or alias.name for alias in node.names)


class SymbolLinks(Extension):
    """Makes inline code that names one of the package's symbols a link to its entry.

    Attributes:
        address: gives the address of what a piece of inline code names on the page that is
            converted; None where it names nothing.
    """

    def __init__(self) -> None:
        self.address: Callable[[str], str | None] = lambda code: None
        super().__init__()

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Come after MkDocs, which would take the addresses for paths of files."""
        md.treeprocessors.register(_Linker(md, self), "symbols", -5)


class _Linker(Treeprocessor):
    def __init__(self, md: Markdown, links: SymbolLinks) -> None:
        super().__init__(md)
        self.links = links

    def run(self, root: Element) -> None:
        """Wrap each piece of inline code that has an address."""
        for place, child in enumerate(root):
            if child.tag == "code":
                address = self.links.address(child.text or "")
                if address:
                    root[place] = _link(child, address)
            elif child.tag not in VERBATIM:
                self.run(child)


def _link(code: Element, address: str) -> Element:
    link = Element("a", {"class": "symbol", "href": address})
    link.tail, code.tail = code.tail, None
    link.append(code)
    return link
