"""A page for each module of the package, so that shown code leads to its lines without a network.

The engine names the file and the lines of what `show=` shows; this makes the pages and has the
names lead to them.
"""

from functools import cache
from html import escape
from pathlib import Path

from mkdocs.config import config_options as options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from booksite.engine import engine_of
from booksite.places import fill
from proofbook.checking.source_lookup import Shown

PLACE = "<div data-source></div>"


def address(path: str) -> str:
    """Give the address in the site of the page of a source file."""
    return f"source/{path.removeprefix('src/').removesuffix('.py')}/"


class SourcePagesConfig(Config):
    """Which files have a page, as folders seen from the root of the project."""

    package = options.Type(str)
    tests = options.Type(str)


class SourcePagesPlugin(BasePlugin[SourcePagesConfig]):
    """Makes the pages, and has the places of shown sources lead to them."""

    def __init__(self) -> None:
        self.waiting: dict[str, str] = {}
        self.titles: dict[str, str] = {}
        self.numbered = cache(numbered)  # under `mkdocs serve`, most files stay as they are

    def on_startup(self, **_: object) -> None:
        """Have MkDocs keep the plugin over rebuilds."""

    def on_config(self, config: MkDocsConfig) -> None:
        """Have the engine's captions lead to the pages."""
        self.root = Path(config.config_file_path).parent.resolve()
        if engine := engine_of(config):
            engine.captions.append(self._linked)

    @event_priority(-100)  # after the engine, which takes every page before that for a chapter
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> Files:
        """Add a page for each module, and for each test that belongs to one."""
        self.waiting, self.titles = {}, {}
        for file in self._sources():
            path = file.relative_to(self.root).as_posix()
            name = f"{address(path).rstrip('/')}.md"
            self.waiting[name] = self.numbered(file.read_text(encoding="utf-8"))
            shown = (
                escape(path).replace("_", r"\_").replace("/", "/<wbr>")
            )  # a line may break there
            text = f"# {shown}\n\n{PLACE}\n"
            self.titles[name] = path
            page = File.generated(config, name, content=text, inclusion=InclusionLevel.NOT_IN_NAV)
            files.append(page)
        return files

    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> None:
        """Set what front matter says elsewhere; there are too many pages to have YAML read it."""
        if title := self.titles.get(page.file.src_uri):
            page.meta.update(
                title=title,
                description=f"The file {title}, as it was when this book was built.",
                hide=["toc"],
                noindex=True,
                search={"exclude": True},
            )

    def on_page_content(
        self, html: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Give a page its code; Markdown would have read each tag of it."""
        code = self.waiting.get(page.file.src_uri)
        return html if code is None else fill(html, PLACE, code, page)

    def _linked(self, page: Page, shown: Shown, place: str) -> str:
        """Make the place of a shown source a link, where the site has a page of the file."""
        if not shown.path.is_relative_to(self.root / self.config.package):
            return place
        target = address(shown.path.relative_to(self.root).as_posix())
        return f'<a href="{get_relative_url(target, page.url)}#L{shown.first}">{place}</a>'

    def _sources(self) -> list[Path]:
        package = self.root / self.config.package
        tests = [self.root / self.config.tests / f"test_{one.name}" for one in package.glob("*.py")]
        return [*sorted(package.rglob("*.py")), *sorted(test for test in tests if test.exists())]


def numbered(code: str) -> str:
    """Color the code of a file, each line with its number and an anchor."""
    formatter = HtmlFormatter(nowrap=True)
    lines = highlight(code, PythonLexer(stripnl=False), formatter).rstrip("\n").split("\n")
    anchored = "\n".join(
        f'<span class="line" id="L{n}">'
        f'<a href="#L{n}" tabindex="-1" aria-hidden="true" data-n="{n}"></a>{line}</span>'
        for n, line in enumerate(lines, start=1)
    )
    return f'<div class="highlight source"><pre><code>{anchored}</code></pre></div>'
