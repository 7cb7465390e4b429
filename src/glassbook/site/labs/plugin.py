"""The plugin that offers labs as notebooks, and shows them as the book shows its pages."""

from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from xml.etree.ElementTree import Element

import jupytext
from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from nbformat.v4 import new_code_cell

from glassbook.site.common import TreeStep, engine_of, fill, remembered
from glassbook.site.labs.cells import about, block, colab_address, counted, program
from glassbook.site.labs.running import Cell, Kept, read_cells, run
from proofbook.caching.dependencies import compared
from proofbook.integrations.mkdocs import ProofbookPlugin
from proofbook.maths.explain import Explainer, read_table
from proofbook.rendering.page_renderer import PENDING, RUNNING
from proofbook.settings import Settings

INSTALL = """\
# On Colab this installs what the notebook needs; elsewhere it does nothing.
import sys

if "google.colab" in sys.modules:
    %pip install --quiet "glassformer @ git+{repository}"
"""
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
ABOUT = "<!--about-->"


class LabFile(File):
    """A lab: a script that is a page."""

    def is_documentation_page(self) -> bool:
        """Return that it is."""
        return True


class Explained(TreeStep):
    """Explains the formulas of a lab, as the engine does for chapters.

    Attributes:
        explainer: What explains those of the next page; `None` if that isn't a lab.
    """

    step = "lab-symbols", 4  # after the table of contents, before links are resolved
    explainer: Explainer | None = None

    def run(self, root: Element) -> None:
        """Explain the formulas on the page."""
        if self.explainer:
            self.explainer.explain(root)


class LabsPlugin(BasePlugin[LegacyConfig]):
    """Shows labs: the scripts that the book doesn't exclude."""

    def __init__(self) -> None:
        self.unkept: dict[str, list[Cell] | Exception] = {}  # what no cache has, by file
        self.explained = Explained()
        self.cells: list[Cell] = []  # of the page that is converted
        self.above = PENDING  # what is below its title

    def on_startup(self, **_: object) -> None:
        """Have MkDocs keep the plugin across rebuilds: `mkdocs serve` builds often."""

    def on_config(self, config: MkDocsConfig) -> None:
        """Have formulas explained; run failed labs again."""
        self.unkept.clear()
        config.markdown_extensions = [*config.markdown_extensions, self.explained]

    @event_priority(-100)  # after the engine
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> Files:
        """Make each lab a page, and offer it as a script, and as a notebook that has not run."""
        labs, offered = {}, []
        for file in files:
            if file.src_uri.endswith(".py") and file.inclusion.is_included():
                given = config.docs_dir, config.site_dir, config.use_directory_urls
                lab = labs[file] = LabFile(file.src_uri, *given)
                lab.inclusion = file.inclusion
                path, script = PurePosixPath(file.src_uri), lab.content_string
                text = remembered(config, as_notebook, script, config.repo_url or "")
                name = path.with_suffix(".ipynb").as_posix()
                offered.append(File.generated(config, name, content=text))
                name = f"{path.with_suffix('')}/{path.name}"
                kind = InclusionLevel.INCLUDED
                offered.append(File.generated(config, name, content=script, inclusion=kind))
        return Files([*(labs.get(file, file) for file in files), *offered])

    @event_priority(200)  # before plugins that read the page's Markdown
    def on_page_markdown(
        self, markdown: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Have a lab's text converted, with a place for each of its cells.

        Raises:
            PluginError: There is no engine to show them and to count them.
        """
        self.explained.explainer = None
        if not isinstance(page.file, LabFile):
            return markdown
        engine = engine_of(config)
        if engine is None or engine.book is None:
            raise PluginError("glassbook/labs: labs need the plugin proofbook")
        known = self._known(page.file, engine)
        self.cells, self.above = known or still_running(page.file.content_string), PENDING
        if known:
            found = engine.labs[f"docs/{page.file.src_uri}"] = counted(known)
            self.above = about(page, found, colab_address(page, config))
        self.explained.explainer = explainer(page, config)
        parts = (
            cell["source"] if cell["cell_type"] == "markdown" else place(number)
            for number, cell in enumerate(self.cells)
        )
        title, _, text = "\n\n".join(parts).partition("\n")
        return f"{title}\n\n{ABOUT}\n\n{text}"

    @event_priority(200)  # before plugins that read the page's text
    def on_page_content(
        self, html: str, /, *, page: Page, config: MkDocsConfig, files: Files
    ) -> str:
        """Put the cells into a lab's text."""
        engine = engine_of(config)
        if not isinstance(page.file, LabFile) or engine is None:
            return html
        html = fill(html, ABOUT, self.above, page)
        url = engine.asset_url(page.url)
        script = PurePosixPath(page.file.src_uri).name
        codes = [(n, one) for n, one in enumerate(self.cells) if one["cell_type"] != "markdown"]
        for count, (number, cell) in enumerate(codes):
            html = fill(html, place(number), block(cell, count, script, url), page)
        return html + program([cell for _, cell in codes])

    def _known(self, lab: File, engine: ProofbookPlugin) -> list[Cell] | None:
        """Return the cells with their outputs; run the lab unless they would be the same again.

        While a book is served, a lab runs behind its page; until then there are none.
        """
        assert engine.book
        settings = engine.book.settings
        found: tuple[list[Cell], dict[str, Any] | None] | None = Kept(settings).load(lab)
        if found is None and engine.live is None:
            found = _ran(lab, settings)
        if found is not None:
            cells, seen = found
            engine.lab_runs.append(seen)
            return cells
        result = self.unkept.get(lab.src_uri)
        if isinstance(result, Exception):
            raise result
        if result is None and engine.live:
            engine.live.run_behind(lab, partial(self._run_behind, lab, settings))
        return result

    def _run_behind(self, lab: File, settings: Settings) -> None:
        try:
            self.unkept[lab.src_uri], _ = _ran(lab, settings)
        except Exception as error:  # its page shows it
            self.unkept[lab.src_uri] = error


def _ran(lab: File, settings: Settings) -> tuple[list[Cell], dict[str, Any] | None]:
    """Run a lab, and keep its cells if they would be the same again; else, nobody knows of what."""
    cells, told = run(lab, settings)
    seen = compared(told)
    return cells, seen if Kept(settings).store(lab, cells, seen) else None


def place(number: int) -> str:
    """Return the placeholder of a cell."""
    return f"<!--cell-{number}-->"


def still_running(script: str) -> list[Cell]:
    """Return the cells of a lab that is still to be run, each with a note instead of outputs."""
    cells = read_cells(script)
    for cell in cells:
        if cell["cell_type"] == "code":
            cell["outputs"] = [{"output_type": "display_data", "data": {"text/html": RUNNING}}]
    return cells


def as_notebook(script: str, repository: str) -> str:
    """Make the file that Jupyter opens; equal scripts make equal files.

    Args:
        script: The lab.
        repository: The address of the book's repository, for Colab to install from; or "".
    """
    notebook = jupytext.reads(script, "py:percent")
    if repository:
        notebook.cells.insert(1, new_code_cell(INSTALL.format(repository=repository)))
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    notebook.metadata["kernelspec"] = KERNEL
    return str(jupytext.writes(notebook, "ipynb"))


def explainer(page: Page, config: MkDocsConfig) -> Explainer | None:
    """Have the book's table of symbols explain the symbols in formulas, if there is one.

    They have no values: what a lab computes stays in its kernel.
    """
    name = config.mdx_configs.get("proofbook.maths", {}).get("symbols")
    if not name:
        return None
    file = Path(config.docs_dir, name)
    return Explainer(read_table(file, name, file.stat().st_mtime_ns), page.file.src_uri, {})
