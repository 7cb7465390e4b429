"""Explain the symbols in formulas.

If a symbol is in the book's table, `data-aid` holds its meaning, and its value in the page's run,
which a script shows. For readers without scripts, a list below a displayed formula explains the
symbols that are new in its section, and a formula that is a single symbol links to the table.
"""

import copy
import posixpath
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, SubElement

from markdown import Markdown
from markdown.treeprocessors import Treeprocessor

from proofbook.maths.mathml import to_mathml
from proofbook.maths.symbol_table import Symbol, read_symbols
from proofbook.parsing.markdown_processors import renderer_of
from proofbook.text import shown

INDICES = {"i", "j", "h", "c", "ℓ"}
"""A symbol with one of these as its subscript stands for that symbol with any index."""
TRANSPOSED: "Key" = ("mo", "⊤", ())
FORMULAS = {"maths", "maths-block"}
LETTERS = {"mi", "mo", "msub", "msup", "msubsup", "mover"}
CLOSED = {"a", "button", "summary", "h1", "h2", "h3", "h4", "h5", "h6"}

Key = tuple[str, str, tuple[Any, ...]]


@dataclass(frozen=True)
class Table:
    """The symbols of a book, by how they look in MathML.

    Attributes:
        page: The page with the table, relative to the folder of the chapters.
        known: All symbols by anchor.
        exact: Symbols by look, then by the page where they have this meaning; "" means all pages.
        indexed: The same for symbols with an index, by their look without the index.
    """

    page: str
    known: Mapping[str, Symbol]
    exact: Mapping[Key, Mapping[str, Symbol]]
    indexed: Mapping[Key, Mapping[str, Symbol]]

    def find(self, part: Element, page: str) -> Symbol | None:
        """Return the symbol that a part of a formula stands for on this page."""
        places = [self.exact.get(look(part))]
        if part.tag in ("msub", "msubsup") and len(part):
            places.append(self.indexed.get(without_index(part)))
        for meanings in filter(None, places):
            if found := meanings.get(page) or meanings.get(""):
                return found
        return None


def look(part: Element) -> Key:
    """Return the key of a part of a formula.

    One-part rows, transposition, and the power of a symbol with a subscript don't count.
    """
    inside = tuple(look(child) for child in part if child.tag != "mspace")
    if part.tag in ("mrow", "math"):
        inside = tuple(one for one in inside if one != TRANSPOSED)
        if len(inside) == 1:
            return inside[0]
    above = inside[2] if part.tag == "msubsup" else None
    if above and (above[0] == "mn" or above in (TRANSPOSED, ("mrow", "", ()))):
        return "msub", "", inside[:2]
    return part.tag, (part.text or "").strip(), inside


def has_index(part: Element) -> bool:
    """Return whether a part's subscript is an index, as in x_i, rather than a label."""
    if part.tag not in ("msub", "msubsup"):
        return False
    letters = {one.text for one in part[1].iter("mi")}
    return bool(letters) and letters <= INDICES


def without_index(part: Element) -> Key:
    """Return a part's key without its index."""
    tag, text, inside = look(part)
    return tag, text, (inside[0], *inside[2:])


@lru_cache(maxsize=8)
def read_table(file: Path, page: str, mtime_ns: int) -> Table:
    """Return the table of a page; read it again only if the file has changed."""
    known = {one.key: one for one in read_symbols(file.read_text(encoding="utf-8"), page)}
    exact: dict[Key, dict[str, Symbol]] = {}
    indexed: dict[Key, dict[str, Symbol]] = {}
    for symbol in known.values():
        part = to_mathml(symbol.tex)
        while part.tag in ("math", "mrow") and len(part) == 1:
            part = part[0]
        meanings = exact.setdefault(look(part), {})
        if symbol.home in meanings:
            other = meanings[symbol.home].key
            raise ValueError(f"{page}: {other!r} and {symbol.key!r} look alike: ${symbol.tex}$")
        meanings[symbol.home] = symbol
        if has_index(part):
            indexed.setdefault(without_index(part), {})[symbol.home] = symbol
    return Table(page, known, exact, indexed)


class SymbolsTreeprocessor(Treeprocessor):
    """Explains the formulas of a page with its book's table."""

    def __init__(self, md: Markdown, page: str) -> None:
        super().__init__(md)
        self.page = page

    def run(self, root: Element) -> None:
        """Explain the symbols of all formulas, if this is a page of a book."""
        renderer = self._renderer()
        if renderer is None:
            return
        settings = renderer.book.settings
        file, here = settings.docs / self.page, settings.root / renderer.path
        page = here.relative_to(settings.docs).as_posix() if here.exists() else renderer.path
        if page == self.page:
            return
        table = read_table(file, self.page, file.stat().st_mtime_ns)
        Explainer(table, page, _values(renderer.checked)).explain(root)

    def _renderer(self) -> Any:
        """Return the renderer of the page being converted, if that page is checked."""
        renderer = renderer_of(self.md)
        return renderer if getattr(renderer, "checked", None) else None


def _values(checked: Any) -> dict[str, str]:
    """Return the values of the page's symbols in its run, as text."""
    values = {}
    for key, number in checked.page.symbols.items():
        claim = checked.page.chapter.claims[number]
        value = checked.run.values.get((claim.value, claim.place))
        if value is not None and value.failure is None:
            data = value.data
            values[key] = data if isinstance(data, str) else shown(data)
    return values


class Explainer:
    """Explains the formulas of one page."""

    def __init__(self, table: Table, page: str, values: Mapping[str, str]) -> None:
        self.table = table
        self.page = page
        self.values = values
        self.linked: set[str] = set()
        self.listed: set[str] = set()

    def explain(self, element: Element, closed: bool = False) -> None:
        """Explain all formulas within an element, in order."""
        place = 0
        for child in list(element):
            place += 1
            if child.tag == "h2":
                self.listed.clear()
            if child.get("class") not in FORMULAS:
                self.explain(child, closed or child.tag in CLOSED)
                continue
            symbols = dict.fromkeys(self._marked(child))
            if child.get("class") == "maths":
                self._link(child, closed)
            elif new := [one for one in symbols if one.key not in self.listed]:
                self.listed |= {one.key for one in new}
                element.insert(place, self._list(new))
                place += 1

    def _marked(self, part: Element) -> Iterator[Symbol]:
        """Mark and yield the symbols of a formula: the largest parts that are in the table."""
        symbol = self.table.find(part, self.page) if part.tag in LETTERS else None
        if symbol:
            part.set("data-aid", self._text(symbol))
            yield symbol
        inside = part if not symbol else part[1:2] if has_index(part) else ()
        for child in inside:
            yield from self._marked(child)

    def _text(self, symbol: Symbol) -> str:
        value = self.values.get(symbol.key)
        return f"{symbol.meaning}{f'; here {value}' if value else ''}"

    def _address(self, symbol: Symbol) -> str:
        page = posixpath.relpath(self.table.page, posixpath.dirname(self.page) or ".")
        return f"{page}#{symbol.key}"

    def _link(self, holder: Element, closed: bool) -> None:
        """Link a formula that is a single new symbol to the table."""
        math = holder[0]
        only = math[0] if len(math) == 1 else math
        while only.tag == "mrow" and len(only) == 1:
            only = only[0]
        symbol = self.table.find(only, self.page)
        if closed or symbol is None or symbol.key in self.linked:
            return
        self.linked.add(symbol.key)
        holder.remove(math)
        only.attrib.pop("data-aid", None)
        link = SubElement(holder, "a", {"class": "symbol-link", "href": self._address(symbol)})
        link.set("data-aid", self._text(symbol))
        link.set("aria-label", f"{''.join(math.itertext())}: {symbol.meaning}")
        link.append(math)

    def _list(self, symbols: list[Symbol]) -> Element:
        """Return a folded list of a formula's symbols and their meanings."""
        details = Element("details", {"class": "symbols", "data-search-exclude": ""})
        SubElement(details, "summary").text = "Symbols"
        items = SubElement(details, "dl")
        for symbol in symbols:
            row = SubElement(items, "div")
            term = SubElement(row, "dt")
            link = SubElement(term, "a", {"href": self._address(symbol)})
            link.append(_drawn(symbol.tex))
            link.set("aria-label", "".join(link.itertext()))  # MathML gives a link no name yet
            SubElement(row, "dd").text = self._text(symbol)
        return details


@lru_cache(maxsize=512)
def _formula(tex: str) -> Element:
    return to_mathml(tex)


def _drawn(tex: str) -> Element:
    """Return a new copy of a formula, since an element can have only one place."""
    return copy.deepcopy(_formula(tex))
