"""The plugin that offers labs as notebooks, and shows them as the book shows its pages."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from functools import cache, partial
from pathlib import Path, PurePosixPath
from types import MethodType
from typing import Any, cast

import jupytext
from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs_jupyter.config import settings
from mkdocs_jupyter.plugin import NotebookFile
from nbformat.v4 import new_code_cell

from glassbook.site.common import engine_of, fill
from glassbook.site.labs.cells import (
    about,
    asset_url,
    block,
    colab_address,
    colored,
    counted,
    program,
)
from glassbook.site.labs.formulas import Explained
from glassbook.site.labs.kept import Kept
from glassbook.site.labs.running import HERE, Cell, run
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

LabRun = tuple[list[Cell], dict[str, Any] | None]
"""The cells of a lab with their outputs, and what its run depended on; `None` if unknown."""


class LabsPlugin(BasePlugin[LegacyConfig]):
    """Shows labs."""

    def __init__(self) -> None:
        self.unkept: dict[str, list[Cell] | Exception] = {}  # what no cache has, by file
        self.colored = cache(colored)  # under `mkdocs serve`, most cells stay as they are

    def on_startup(self, **_: object) -> None:
        """Have MkDocs keep the plugin across rebuilds: `mkdocs serve` builds often."""

    def on_config(self, config: MkDocsConfig) -> None:
        """Give mkdocs-jupyter the book's own templates; run failed labs again."""
        self.unkept.clear()
        settings.templates_dir = str(HERE)

    @event_priority(-100)  # after mkdocs-jupyter, which determines what is a notebook
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> Files:
        """Offer each lab as a notebook that has not run."""
        repository = config.repo_url or ""
        engine = engine_of(config)
        memo = engine.book.memo if engine and engine.book else None
        for file in list(files.documentation_pages()):
            if isinstance(file, NotebookFile):
                name = PurePosixPath(file.src_uri).with_suffix(".ipynb").as_posix()
                asked = file.content_string, repository
                notebook = memo.get(as_notebook, *asked) if memo else as_notebook(*asked)
                files.append(File.generated(config, name, content=notebook))
        return files

    @event_priority(-100)  # after mkdocs-jupyter, which has put its own rendering there
    def on_pre_page(self, page: Page, /, *, config: MkDocsConfig, files: Files) -> Page:
        """Have a lab rendered like the book's pages."""
        if isinstance(page.file, NotebookFile):
            rendering = partial(self._render, page, cast(MethodType, page.render))
            page.render = rendering  # type: ignore[method-assign]  # as mkdocs-jupyter does
        return page

    def _render(self, page: Page, execute: MethodType, config: MkDocsConfig, files: Files) -> None:
        """Convert the text around the cells, then put the cells into it.

        Raises:
            PluginError: there is no engine to show them and to count them.
        """
        engine = engine_of(config)
        if engine is None or engine.book is None:
            raise PluginError("glassbook/labs: labs need the plugin proofbook")
        own = copy(page)
        execute_own = partial(execute.__func__, own, config, files)
        known = self._known(own, execute_own, engine)
        cells = known or still_running(page.file.content_string)
        blocks = {"<!--about-->": PENDING}
        if known:
            found = engine.labs[f"docs/{page.file.src_uri}"] = counted(cells)
            blocks = {"<!--about-->": about(page, found, colab_address(page, config))}
        url = partial(asset_url, page, engine.assets)
        codes = [cell for cell in cells if cell["cell_type"] != "markdown"]
        numbers = itertools.count()
        parts = []
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "markdown":
                parts.append(cell["source"])
            else:
                parts.append(f"<!--cell-{number}-->")
                script = PurePosixPath(page.file.src_uri).name
                blocks[parts[-1]] = block(cell, next(numbers), script, url, self.colored)
        title, _, text = "\n\n".join(parts).partition("\n")
        page.markdown = f"{title}\n\n<!--about-->\n\n{text}"
        with explained(page, config):
            Page.render(page, config, files)
        page.content = page.content or ""
        for place, html in blocks.items():
            page.content = fill(page.content, place, html, page)
        page.content += program(codes)

    def _known(
        self, page: Page, execute: Callable[[], None], engine: ProofbookPlugin
    ) -> list[Cell] | None:
        """Return the cells with their outputs; run the lab unless they would be the same again.

        While a book is served, a lab runs behind its page; until then there are none.
        """
        assert engine.book
        settings = engine.book.settings
        found: LabRun | None = Kept(settings).load(page)
        if found is None and engine.live is None:
            found = _ran(page, execute, settings)
        if found is not None:
            cells, seen = found
            engine.lab_runs.append(seen)
            return cells
        result = self.unkept.get(page.file.src_uri)
        if isinstance(result, Exception):
            raise result
        if result is None and engine.live:
            engine.live.run_behind(page.file, partial(self._run_behind, page, execute, settings))
        return result

    def _run_behind(self, page: Page, execute: Callable[[], None], settings: Settings) -> None:
        try:
            self.unkept[page.file.src_uri], _ = _ran(page, execute, settings)
        except Exception as error:  # its page shows it
            self.unkept[page.file.src_uri] = error


def _ran(page: Page, execute: Callable[[], None], settings: Settings) -> LabRun:
    """Run a lab, and keep its cells if they would be the same again."""
    cells, told = run(page, execute, settings)
    seen = compared(told)
    return cells, seen if Kept(settings).store(page, cells, seen) else None


def still_running(script: str) -> list[Cell]:
    """Return the cells of a lab that is still to be run, each with a note instead of outputs."""
    cells: list[Cell] = jupytext.reads(script, "py:percent").cells
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


@contextmanager
def explained(page: Page, config: MkDocsConfig) -> Iterator[None]:
    """Have the book's table of symbols explain the symbols in formulas.

    They have no values: what a lab computes stays in its kernel.
    """
    name = config.mdx_configs.get("proofbook.maths", {}).get("symbols")
    if not name:
        yield
        return
    file = Path(config.docs_dir, name)
    table = read_table(file, name, file.stat().st_mtime_ns)
    extension = Explained(Explainer(table, page.file.src_uri, {}))
    config.markdown_extensions.append(extension)
    try:
        yield
    finally:
        config.markdown_extensions.remove(extension)
