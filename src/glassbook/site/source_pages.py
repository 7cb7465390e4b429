"""Make a page for each module of the packages, so that shown code can link to it offline.

The engine names the file and the lines of the code that `show=` shows. This plugin makes the pages
and links the names to them.
"""

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

from glassbook.site.common import engine_of, fill, remembered
from proofbook.checking.source_lookup import Shown

PLACE = "<div data-source></div>"


def address(path: str) -> str:
    """Return the address of a source file's page in the site."""
    return f"source/{path.removeprefix('src/').removesuffix('.py')}/"


class SourcePagesConfig(Config):
    """The folders whose files get a page, and those within that don't, relative to the root."""

    packages = options.ListOfItems(options.Type(str))
    without = options.ListOfItems(options.Type(str), default=[])
    tests = options.Type(str)


class SourcePagesPlugin(BasePlugin[SourcePagesConfig]):
    """Makes the pages, and links the places of shown sources to them."""

    def __init__(self) -> None:
        self.files: dict[str, tuple[str, str]] = {}  # path and code of each file, by its page

    def on_config(self, config: MkDocsConfig) -> None:
        """Make the engine's captions link to the pages."""
        self.root = Path(config.config_file_path).parent.resolve()
        if engine := engine_of(config):
            engine.captions.append(self._linked)

    @event_priority(-100)  # after the engine, which treats every earlier page as a chapter
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> Files:
        """Add a page for each module, and for each test that belongs to one."""
        self.files, self.sources = {}, self._sources()
        for file in self.sources:
            path = file.relative_to(self.root).as_posix()
            name = f"{address(path).rstrip('/')}.md"
            self.files[name] = path, file.read_text(encoding="utf-8")
            title = escape(path).replace("_", r"\_").replace("/", "/<wbr>")  # may break there
            text = f"# {title}\n\n{PLACE}\n"
            page = File.generated(config, name, content=text, inclusion=InclusionLevel.NOT_IN_NAV)
            files.append(page)
        return files

    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> None:
        """Set what other pages set in front matter, since parsing YAML for these takes too long."""
        if found := self.files.get(page.file.src_uri):
            title, _ = found
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
        """Fill in a page's code only now, since Markdown would have parsed all its tags."""
        if found := self.files.get(page.file.src_uri):
            _, code = found
            return fill(html, PLACE, remembered(config, numbered, code), page)
        return html

    def _linked(self, page: Page, shown: Shown, place: str) -> str:
        """Make the place of a shown source a link, if the site has a page for the file."""
        if shown.path not in self.sources:
            return place
        target = address(shown.path.relative_to(self.root).as_posix())
        return f'<a href="{get_relative_url(target, page.url)}#L{shown.first}">{place}</a>'

    def _sources(self) -> list[Path]:
        """List the modules and their tests: `tests` has the same folders as the packages."""
        folders = [self.root / folder for folder in self.config.packages]
        without = [self.root / folder for folder in self.config.without]
        found = [path for folder in folders for path in sorted(folder.rglob("*.py"))]
        modules = [path for path in found if not any(map(path.is_relative_to, without))]
        inside = [path.relative_to(self.root / "src") for path in modules]
        places = [self.root / self.config.tests / p.with_name(f"test_{p.name}") for p in inside]
        return [*modules, *(test for test in places if test.exists())]


def numbered(code: str) -> str:
    """Highlight a file's code, with a number and an anchor for each line."""
    formatter = HtmlFormatter(nowrap=True)
    lines = highlight(code, PythonLexer(stripnl=False), formatter).rstrip("\n").split("\n")
    anchored = "\n".join(
        f'<span class="line" id="L{n}">'
        f'<a href="#L{n}" tabindex="-1" aria-hidden="true" data-n="{n}"></a>{line}</span>'
        for n, line in enumerate(lines, start=1)
    )
    return f'<div class="highlight source"><pre><code>{anchored}</code></pre></div>'
