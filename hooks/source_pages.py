"""A page for each module of the package, so that shown code leads to its lines without a network.

A MkDocs hook. The engine names the file and the lines of what `show=` shows; this makes the pages
and turns the names into links.
"""

import re
from functools import cache
from html import escape
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

PACKAGE = "src/glassformer"
TESTS = "tests/glassformer"
NAMED = re.compile(
    r'<p class="proofbook-source">(?P<path>[\w/.]+\.py), lines? (?P<first>\d+)(?: to \d+)?</p>'
)

PLACE = "<div data-source></div>"
waiting: dict[str, str] = {}


def address(path: str) -> str:
    """Where in the site the page of a source file is."""
    return f"source/{path.removeprefix('src/').removesuffix('.py')}/"


@event_priority(-100)  # after the engine, which takes every page before that for a chapter
def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Add a page for each module, and for each test that stands beside one."""
    root = Path(config.config_file_path).parent
    modules = sorted((root / PACKAGE).rglob("*.py"))
    tests = [root / TESTS / f"test_{module.name}" for module in (root / PACKAGE).glob("*.py")]
    for file in [*modules, *sorted(test for test in tests if test.exists())]:
        path = file.relative_to(root).as_posix()
        name = f"{address(path).rstrip('/')}.md"
        waiting[name] = numbered(file.read_text(encoding="utf-8"))
        head = f"---\ntitle: {path}\nhide: [toc]\nsearch:\n  exclude: true\n---\n\n"
        shown = escape(path).replace("_", r"\_").replace("/", "/<wbr>")  # lines may break there
        text = f"{head}# {shown}\n\n{PLACE}\n"
        page = File.generated(config, name, content=text, inclusion=InclusionLevel.NOT_IN_NAV)
        files.append(page)
    return files


@cache  # under `mkdocs serve`, most files have not changed since the last build
def numbered(code: str) -> str:
    """A file's code, each line with its number and an anchor."""
    formatter = HtmlFormatter(nowrap=True)
    lines = highlight(code, PythonLexer(stripnl=False), formatter).rstrip("\n").split("\n")
    anchored = "\n".join(
        f'<span class="line" id="L{n}">'
        f'<a href="#L{n}" tabindex="-1" aria-hidden="true" data-n="{n}"></a>{line}</span>'
        for n, line in enumerate(lines, start=1)
    )
    return f'<div class="highlight source"><pre><code>{anchored}</code></pre></div>'


def on_page_content(html: str, *, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Give a page its code, and link the names of files and lines to such pages."""
    if page.file.src_uri in waiting:  # Markdown would have read each tag of it
        return html.replace(PLACE, waiting[page.file.src_uri])
    pages = {file.url for file in files.documentation_pages()}

    def link(named: re.Match[str]) -> str:
        target = address(named["path"]) if named["path"].startswith(f"{PACKAGE}/") else ""
        if target not in pages:
            return named[0]
        text = named[0].removeprefix('<p class="proofbook-source">').removesuffix("</p>")
        url = f"{get_relative_url(target, page.url)}#L{named['first']}"
        return f'<p class="proofbook-source"><a href="{url}">{text}</a></p>'

    return NAMED.sub(link, html)
