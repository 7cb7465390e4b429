"""The API reference, made from the source; mentions of a symbol lead there, and back from there.

A MkDocs hook. A page whose front matter names modules (`api: [glassformer.masks]`) gets an entry
for each of their public names below what its author wrote.
"""

import re
from functools import cache, partial
from pathlib import Path
from typing import Any

import yaml
from entries import NAME, Entry, contents, headings, within
from markdown import Markdown
from mentions import Mentions, SymbolLinks, mentions
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.structure.toc import AnchorLink
from mkdocs.utils import get_relative_url
from symbols import Package, Symbol, read, walk

FRONT = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
CONTENTS = "<div data-api></div>"
IMPORT = re.compile(
    r'(<span class="nn">(glassformer[\w.]*)</span><span class="w"> </span>'
    r'<span class="kn">import</span>)(.*?)(?=\n\S|</code>)',
    re.DOTALL,
)
FIELD = re.compile(r"^ {4}(\w+): ", re.MULTILINE)
SOURCE = re.compile(r'<p class="proofbook-source">((?:<a[^>]*>)?([\w/.]+), lines (\d+))')


class Reference:
    """What one build knows of the package, and of the pages that speak of it."""

    def __init__(self, package: Package) -> None:
        self.package = package
        self.lines = {(one.path, one.first): one for one in package.symbols.values()}
        self.places: dict[str, File] = {}
        self.modules: list[Symbol] = []
        self.shown: dict[str, list[tuple[str, File]]] = {}
        self.used: dict[str, list[tuple[str, File]]] = {}

    def describe(self, file: File, names: list[str]) -> None:
        """A page that describes these modules.

        Raises:
            PluginError: there is no such module, or another page describes it.
        """
        for name in names:
            module = self.package.modules.get(name)
            if module is None or name in self.places:
                fault = "there is no such module" if module is None else "it is described twice"
                raise PluginError(f"docs/{file.src_uri}: api: {name}: {fault}")
            self.places |= {one.name: file for one in walk(module)}

    def read(self, title: str, file: File, said: Mentions) -> None:
        """A page that may show and use symbols."""
        shown = [found for name in said.shown if (found := self.package.find(name))]
        for one in dict.fromkeys(shown):
            self.shown.setdefault(one.name, []).append((title, file))
        for one in said.used(self.package):
            owner = one.name.rpartition(".")[0] if one.kind == "method" else one.name
            users = self.used.setdefault(owner, [])
            if one not in shown and (title, file) not in users:
                users.append((title, file))

    def address(self, symbol: Symbol | None, page: Page) -> str | None:
        """Where a symbol is described, seen from a page."""
        if symbol is None or symbol.name not in self.places:
            return None
        return f"{self.places[symbol.name].url_relative_to(page.file)}#{symbol.name}"


links = SymbolLinks()
built: dict[str, Reference] = {}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Have inline code in sentences linked."""
    config.markdown_extensions = [*config.markdown_extensions, links]
    return config


@event_priority(-100)  # after the notebooks have been found
def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Read the package, and which page describes what of it."""
    built["now"] = reference = Reference(read(Path(config.config_file_path).parent))
    for file in files.documentation_pages():
        if file.src_uri.endswith(".md"):
            reference.describe(file, _front(file).get("api") or [])
    return files


def on_nav(nav: Navigation, *, config: MkDocsConfig, files: Files) -> Navigation:
    """Read in reading order who speaks of what."""
    reference = built["now"]
    for page in nav.pages:
        front = _front(page.file)
        if "api" in front:
            reference.modules += [reference.package.modules[name] for name in front["api"]]
        else:
            title = page.title or front.get("title") or _first_heading(page.file)
            said = mentions(page.file.content_string, not page.file.src_uri.endswith(".md"))
            reference.read(title, page.file, said)
    return nav


def on_page_markdown(markdown: str, *, page: Page, config: MkDocsConfig, files: Files) -> None:
    """Link what the page's sentences name."""
    said = mentions(page.file.content_string, not page.file.src_uri.endswith(".md"))
    links.address = partial(_address, said, page)


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Add the entries to a page that describes modules, and to its table of contents."""
    reference = built["now"]
    find = reference.package.symbols.get
    if CONTENTS in html:
        rows = contents(reference.modules, lambda name: reference.address(find(name), page))
        return html.replace(CONTENTS, rows)
    parts = [_named_sources(html, page, reference)]
    for name in page.meta.get("api") or []:
        module = reference.package.modules[name]
        parts += [_entry(one, page, reference) for one in walk(module)]
        _extend_toc(page, module)
    return "\n".join(parts)


@event_priority(-200)  # when code stands in its place, in colours
def on_page_context(context: Any, *, page: Page, config: MkDocsConfig, nav: Navigation) -> None:
    """Link what a page's blocks import."""
    reference = built["now"]

    def named(module: str, name: re.Match[str]) -> str:
        address = reference.address(reference.package.find(f"{module}.{name[1]}"), page)
        return f'<a class="symbol" href="{address}">{name[0]}</a>' if address else name[0]

    def imported(line: re.Match[str]) -> str:
        return line[1] + NAME.sub(partial(named, line[2]), line[3])

    page.content = IMPORT.sub(imported, page.content or "")


def _named_sources(html: str, page: Page, reference: Reference) -> str:
    """Name what a page's blocks show, above its place."""

    def shown(place: re.Match[str]) -> str:
        symbol = reference.lines.get((place[2], int(place[3])))
        address = reference.address(symbol, page)
        if symbol is None or address is None:
            return place[0]
        link = f'<a class="symbol" href="{address}"><code>{".".join(within(symbol))}</code></a>'
        return f'<p class="proofbook-source">{link} in {place[1]}'

    return SOURCE.sub(shown, html)


def _entry(symbol: Symbol, page: Page, reference: Reference) -> str:
    module = symbol.name
    while module not in reference.package.sources:
        module = module.rpartition(".")[0]
    said = _in_module(module, reference.package)

    def address(code: str) -> str | None:
        if re.search(rf"\b{re.escape(code)}: ", symbol.signature):
            return None  # its own parameter or field, whatever else has that name
        found = said.find(code, reference.package)
        return reference.address(found, page) if found is not symbol else None

    def pages(known: dict[str, list[tuple[str, File]]]) -> list[tuple[str, str]]:
        return [
            (title, file.url_relative_to(page.file)) for title, file in known.get(symbol.name, ())
        ]

    def convert(text: str) -> str:
        links.address = address
        return _markdown().reset().convert(text)

    source = f"source/{symbol.path.removeprefix('src/').removesuffix('.py')}/"
    place = f"{get_relative_url(source, page.url)}#L{symbol.first}"
    used = pages(reference.shown), pages(reference.used)
    return Entry(symbol, convert, address, said.imported, place, used).html()


@cache
def _in_module(module: str, package: Package) -> Mentions:
    """What names mean in a module; a field of a class that it imports is no function."""
    path = package.sources[module].path
    imported = package.sources[module].imported
    taken = [one for name in imported.values() if (one := package.find(name))]
    classes = [one.signature for one in taken if one.kind == "class"]
    fields = frozenset(name for signature in classes for name in FIELD.findall(signature))
    here = [one for one in package.symbols.values() if one.path == path]
    own = {one.short: one.name for one in here if one.kind not in ("module", "method")}
    return Mentions({**imported, **own}, fields, (), ())


def _address(said: Mentions, page: Page, code: str) -> str | None:
    reference = built["now"]
    return reference.address(said.find(code, reference.package), page)


def _extend_toc(page: Page, module: Symbol) -> None:
    """List a module's functions and classes under it, below the page's own headings."""
    item = AnchorLink(module.name, module.name, 2)
    item.children = [AnchorLink(one.short, one.name, 3) for one in headings(module)]
    top = page.toc.items
    (top[0].children if top else top).append(item)


@cache
def _markdown() -> Markdown:
    """What docstrings are converted with."""
    return Markdown(extensions=["proofbook.maths", links])


def _front(file: File) -> dict[str, Any]:
    """The front matter of a page."""
    found = FRONT.match(file.content_string) if file.src_uri.endswith(".md") else None
    return _loaded(found[1]) if found else {}


@cache  # under `mkdocs serve`, most are what they were
def _loaded(front: str) -> dict[str, Any]:
    return yaml.safe_load(front) or {}


def _first_heading(file: File) -> str:
    """The title of a page that names none in its front matter, or of a lab."""
    found = re.search(r"^(?:# )?# (?!%%)(.*)$", file.content_string, re.MULTILINE)
    return found[1] if found else file.name
