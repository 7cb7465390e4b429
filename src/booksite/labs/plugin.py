"""The plugin that offers labs as notebooks, and shows them as the book shows its pages."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path, PurePosixPath

import jupytext
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs_jupyter.config import settings
from mkdocs_jupyter.plugin import NotebookFile
from nbformat.v4 import new_code_cell

from booksite.engine import engine_of
from booksite.labs.cells import (
    about,
    asset_url,
    block,
    colab_address,
    colored,
    counted,
    programs,
)
from booksite.labs.formulas import Explained
from booksite.labs.kept import Kept
from booksite.labs.running import HERE, Cell, run
from booksite.no_settings import NoSettings
from booksite.places import fill
from proofbook.maths.explain import Explainer, read_table
from proofbook.settings import Settings

INSTALL = """\
# On Colab this installs what the notebook needs; elsewhere it does nothing.
import sys

if "google.colab" in sys.modules:
    %pip install --quiet "glassformer @ git+{repository}"
"""
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


class LabsPlugin(BasePlugin[NoSettings]):
    """Shows labs."""

    def __init__(self) -> None:
        # Under `mkdocs serve`, most scripts and cells stay as they are.
        self.as_notebook = cache(as_notebook)
        self.colored = cache(colored)

    def on_startup(self, **_: object) -> None:
        """Have MkDocs keep the plugin across rebuilds: `mkdocs serve` builds often."""

    def on_config(self, config: MkDocsConfig) -> None:
        """Give mkdocs-jupyter the book's own templates."""
        settings.templates_dir = str(HERE)

    @event_priority(-100)  # after mkdocs-jupyter, which determines what is a notebook
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> Files:
        """Offer each lab as a notebook that has not run."""
        repository = config.repo_url or ""
        for file in list(files.documentation_pages()):
            if isinstance(file, NotebookFile):
                name = PurePosixPath(file.src_uri).with_suffix(".ipynb").as_posix()
                files.append(
                    File.generated(
                        config, name, content=self.as_notebook(file.content_string, repository)
                    )
                )
        return files

    @event_priority(-100)  # after mkdocs-jupyter, which has put its own rendering there
    def on_pre_page(self, page: Page, /, *, config: MkDocsConfig, files: Files) -> Page:
        """Have a lab rendered like the book's pages."""
        if isinstance(page.file, NotebookFile):
            rendering = partial(self._render, page, page.render)
            page.render = rendering  # type: ignore[method-assign]  # as mkdocs-jupyter does
        return page

    def _render(
        self, page: Page, execute: Callable[..., None], config: MkDocsConfig, files: Files
    ) -> None:
        """Convert the text around the cells, then put the cells into it.

        Raises:
            PluginError: there is no engine to show them and to count them.
        """
        engine = engine_of(config)
        if engine is None or engine.book is None:
            raise PluginError("booksite/labs: labs need the plugin proofbook")
        cells = _cells(page, partial(execute, config, files), engine.book.settings)
        found = counted(cells)
        engine.labs[f"docs/{page.file.src_uri}"] = found
        url = partial(asset_url, page, engine.assets)
        blocks = {"<!--about-->": about(page, found, colab_address(page, config))}
        codes = [cell for cell in cells if cell["cell_type"] != "markdown"]
        source = Path(config.config_file_path).parent / "src"
        copied = programs(codes, lambda package: (source / package).is_dir())
        parts = []
        for number, cell in enumerate(cells):
            if cell["cell_type"] == "markdown":
                parts.append(cell["source"])
            else:
                parts.append(f"<!--cell-{number}-->")
                blocks[parts[-1]] = block(cell, next(copied), url, self.colored)
        title, _, text = "\n\n".join(parts).partition("\n")
        page.markdown = f"{title}\n\n<!--about-->\n\n{text}"
        with explained(page, config):
            Page.render(page, config, files)
        page.content = page.content or ""
        for place, html in blocks.items():
            page.content = fill(page.content, place, html, page)


def _cells(page: Page, execute: Callable[[], None], settings: Settings) -> list[Cell]:
    """Return the cells with their outputs; run the lab unless they would be the same again."""
    kept = Kept(settings)
    cells = kept.load(page)
    if cells is None:
        cells, asked = run(page, execute, settings)
        kept.store(page, cells, asked)
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
