"""What a build knows about the packages, and about the pages that mention it."""

import re
from collections.abc import Sequence
from functools import cached_property

from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.structure.pages import Page

from glassbook.site.api.mentions import Mentions
from glassbook.site.api.package import Packages
from glassbook.site.api.symbol import Symbol, walk

FIELD = re.compile(r"^ {4}(\w+): ", re.MULTILINE)


class Reference:
    """Which page describes a symbol, and which pages show and use it.

    Attributes:
        packages: The packages.
        places: The page that describes a symbol, by the symbol's name.
        pages: Title, file, and modules of each page that describes modules, in reading order.
        shown: Title and file of the pages that show a symbol, by its name.
        used: Title and file of the pages that use it.
    """

    def __init__(self, packages: Packages) -> None:
        self.packages = packages
        self.places: dict[str, File] = {}
        self.pages: list[tuple[str, File, list[Symbol]]] = []
        self.shown: dict[str, list[tuple[str, File]]] = {}
        self.used: dict[str, list[tuple[str, File]]] = {}
        self._known: dict[str, Mentions] = {}

    @cached_property
    def lines(self) -> dict[tuple[str, int, int], Symbol]:
        """Each symbol by its file, its first line, and its last."""
        return {(one.path, one.first, one.last): one for one in self.packages.symbols.values()}

    def describe(self, file: File, names: Sequence[str]) -> None:
        """Record that a page describes modules.

        Raises:
            PluginError: There is no such module, or another page describes it.
        """
        for name in names:
            module = self.packages.modules.get(name)
            if module is None or name in self.places:
                fault = "there is no such module" if module is None else "it is described twice"
                raise PluginError(f"docs/{file.src_uri}: api: {name}: {fault}")
            self.places |= {one.name: file for one in walk(module)}

    def read(self, title: str, file: File, said: Mentions) -> None:
        """Record what a page shows and uses."""
        shown = [found for name in said.shown if (found := self.packages.find(name))]
        for one in dict.fromkeys(shown):
            self.shown.setdefault(one.name, []).append((title, file))
        for one in said.used(self.packages):
            owner = one.name.rpartition(".")[0] if one.kind == "method" else one.name
            users = self.used.setdefault(owner, [])
            if one not in shown and (title, file) not in users:
                users.append((title, file))

    def address(self, symbol: Symbol | None, page: Page) -> str | None:
        """Return the address at which a symbol is described, seen from a page."""
        if symbol is None or symbol.name not in self.places:
            return None
        return f"{self.places[symbol.name].url_relative_to(page.file)}#{symbol.name}"

    def pages_with(self, symbol: Symbol, page: Page) -> list[list[tuple[str, str]]]:
        """Return the pages that show a symbol and those that use it, seen from a page."""
        return [
            [(title, file.url_relative_to(page.file)) for title, file in found.get(symbol.name, ())]
            for found in (self.shown, self.used)
        ]

    def known_in(self, module: str) -> Mentions:
        """Return what names mean in a module.

        A field of an imported class isn't taken for a function.
        """
        if module not in self._known:
            symbols = self.packages.symbols.values()
            imported = self.packages.imported[module]
            taken = [one for name in imported.values() if (one := self.packages.find(name))]
            classes = [one.signature for one in taken if one.kind == "class"]
            fields = frozenset(name for signature in classes for name in FIELD.findall(signature))
            here = [one for one in symbols if self.packages.home(one) == module]
            own = {one.short: one.name for one in here if one.kind not in ("module", "method")}
            self._known[module] = Mentions({**imported, **own}, fields)
        return self._known[module]
