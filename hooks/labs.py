"""Labs: notebooks that mkdocs-jupyter finds and runs, shown as the chapters are.

A MkDocs hook. Left alone, mkdocs-jupyter puts JupyterLab's style sheets into every page and asks
other hosts for MathJax and Mermaid. It takes its templates from a folder; those beside this file
hand over the notebook that has run, as data. Its text goes through the book's own Markdown, links
and formulas included, and its cells get the look of a chapter's blocks.
"""

import ast
import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any
from unittest.mock import patch
from xml.etree.ElementTree import Element

import jupytext
from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url
from mkdocs_jupyter.config import settings
from mkdocs_jupyter.plugin import NotebookFile
from nbclient.exceptions import CellControlSignal, DeadKernelError
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from proofbook.maths.explain import Explainer, read_table
from proofbook.model import BlockResult, Output
from proofbook.rendering.html import AssetUrl, outputs_html

Cell = dict[str, Any]

HERE = Path(__file__).with_suffix("")
PAGE = "text/vnd.proofbook.page"  # what profile_default/startup adds to a view's forms
RULE = "-" * 18  # above and below the cell in nbclient's messages
LATE = 4  # after the table of contents, before links are resolved
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}

settings.templates_dir = str(HERE)

ran: dict[str, tuple[str, list[Cell]]] = {}
"""For each lab what it depended on when it last ran, and its cells: `mkdocs serve` builds often."""


@event_priority(-100)  # after mkdocs-jupyter, which says what is a notebook
def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    """Offer each lab as a notebook that has not run."""
    for file in list(files.documentation_pages()):
        if isinstance(file, NotebookFile):
            name = PurePosixPath(file.src_uri).with_suffix(".ipynb").as_posix()
            files.append(File.generated(config, name, content=as_notebook(file.content_string)))
    return files


@event_priority(-100)  # after mkdocs-jupyter, which has put its own rendering there
def on_pre_page(page: Page, *, config: MkDocsConfig, files: Files) -> Page:
    """Show a lab as the book shows its pages."""
    if isinstance(page.file, NotebookFile):
        page.render = partial(render, page, page.render)
    return page


def as_notebook(script: str) -> str:
    """The file that Jupyter opens; equal scripts give equal files."""
    notebook = jupytext.reads(script, "py:percent")
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    notebook.metadata["kernelspec"] = KERNEL
    return jupytext.writes(notebook, "ipynb")


def render(page: Page, run: Callable[..., None], config: MkDocsConfig, files: Files) -> None:
    """Convert the text around the cells, then put the cells into it."""
    cells = executed(page, run, config, files)
    found = counted(cells)
    config.plugins["proofbook"].labs[f"docs/{page.file.src_uri}"] = found
    url = partial(asset_url, page, config)
    blocks = {"<!--about-->": about(page, found)}
    parts = []
    for number, cell in enumerate(cells):
        if cell["cell_type"] == "markdown":
            parts.append(cell["source"])
        else:
            parts.append(f"<!--cell-{number}-->")
            blocks[parts[-1]] = block(cell, url)
    title, _, text = "\n\n".join(parts).partition("\n")
    page.markdown = f"{title}\n\n<!--about-->\n\n{text}"
    with explained(page, config):
        Page.render(page, config, files)
    pattern = "|".join(map(re.escape, blocks))
    page.content = re.sub(pattern, lambda mark: blocks[mark[0]], page.content or "")


@contextmanager
def explained(page: Page, config: MkDocsConfig) -> Iterator[None]:
    """Have the letters of formulas say what they mean, by the book's table of symbols.

    They say no values: what a lab computes stays in its kernel.
    """
    name = config.mdx_configs.get("proofbook.maths", {}).get("symbols")
    if not name:
        yield
        return
    file = Path(config.docs_dir, name)
    table = read_table(file, name, file.stat().st_mtime_ns)
    extension = Explained(Explainer(table, page.file.src_uri, {}))
    config.markdown_extensions.append(extension)  # type: ignore[arg-type]  # an object does too
    try:
        yield
    finally:
        config.markdown_extensions.remove(extension)  # type: ignore[arg-type]


class Explaining(Treeprocessor):
    """Runs an explainer of formulas."""

    def __init__(self, explainer: Explainer) -> None:
        super().__init__()
        self.explainer = explainer

    def run(self, root: Element) -> None:
        """Explain what stands on the page."""
        self.explainer.explain(root)


class Explained(Extension):
    """Has the formulas of a page explained before its links are resolved."""

    def __init__(self, explainer: Explainer) -> None:
        super().__init__()
        self.explainer = explainer

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown's name)
        """Take the place that the explanations of chapters have."""
        md.treeprocessors.register(Explaining(self.explainer), "lab-symbols", LATE)


def executed(
    page: Page, run: Callable[..., None], config: MkDocsConfig, files: Files
) -> list[Cell]:
    """The cells with what they showed; run again unless nothing has changed since.

    Raises:
        PluginError: a cell failed or hung, or the kernel died.
    """
    key = hangs_on(page, config)
    if ran.get(page.file.src_uri, ("", []))[0] != key:
        try:
            with surroundings():
                run(config, files)
        except (CellControlSignal, DeadKernelError) as error:
            raise PluginError(complaint(page, str(error))) from error
        cells = json.loads(page.content or "")["cells"]
        for cell in cells:
            for output in cell.get("outputs", []):
                if output["output_type"] == "error":  # which a tag can allow
                    parts = RULE, cell["source"], RULE, "", *output["traceback"]
                    raise PluginError(complaint(page, "\n".join(parts)))
        ran[page.file.src_uri] = key, cells
    return ran[page.file.src_uri][1]


def hangs_on(page: Page, config: MkDocsConfig) -> str:
    """A hash of the lab and of everything in the project's own packages."""
    root = Path(config.config_file_path).parent
    found = hashlib.sha256(page.file.content_string.encode())
    for path in sorted((root / "src").rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            found.update(str(path).encode() + path.read_bytes())
    return found.hexdigest()


@contextmanager
def surroundings() -> Iterator[None]:
    """Have kernels start alike for everybody, whatever they have set up for themselves."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(HERE / "profile_default", Path(folder) / "profile_default")
        own = {
            "IPYTHONDIR": folder,
            "JUPYTER_CONFIG_DIR": str(HERE),
            "HF_HUB_DISABLE_PROGRESS_BARS": "1",
            "PYTHONWARNINGS": "ignore:IProgress not found",  # what would draw such bars
            "PYDEVD_DISABLE_FILE_VALIDATION": "1",  # or the kernel warns about frozen modules
        }
        with patch.dict(os.environ, own):
            yield


def complaint(page: Page, message: str) -> str:
    """What failed and where: file, line, and the cell with its traceback, without colours."""
    text = page.file.content_string
    plain = re.sub(r"\x1b\[[\d;]*m", "", message)
    source = re.search(rf"^{RULE}\n(.*?)\n{RULE}$", plain, re.DOTALL | re.MULTILINE)
    within = re.findall(r"Cell In\[\d+\], line (\d+)", plain)
    line = ""
    if source and source[1] in text:
        start = text[: text.index(source[1])].count("\n")
        line = f":{start + int(within[0] if within else 1)}"
    return f"docs/{page.file.src_uri}{line}: a cell of this lab fails\n\n{plain}"


def counted(cells: list[Cell]) -> dict[str, int]:
    """How many cells have run, and how many assertions they hold; each of them was true."""
    codes = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    nodes = [node for code in codes for node in ast.walk(ast.parse(code))]
    return {"cells": len(codes), "assertions": sum(isinstance(n, ast.Assert) for n in nodes)}


def about(page: Page, found: dict[str, int]) -> str:
    """The line below the title: what was run and asserted, and where the files are."""
    name = PurePosixPath(page.file.src_uri)
    return (
        f'<p class="lab-about">Run when this page was built: {found["cells"]} cells, '
        f"{found['assertions']} assertions. Take it along as a "
        f'<a href="../{name.stem}.ipynb" download>notebook</a> or '
        f'a <a href="{name.name}" download>script</a>.</p>'
    )


def block(cell: Cell, url: AssetUrl) -> str:
    """A cell's code and what it showed, as a chapter shows its blocks."""
    formatter = HtmlFormatter(cssclass="language-python highlight", wrapcode=True)
    code = highlight(cell["source"], PythonLexer(), formatter)
    result = BlockResult(outputs=tuple(map(shown, cell["outputs"])))
    return f'<div class="proofbook-block">{code}{outputs_html(result, url)}</div>'


def shown(output: dict[str, Any]) -> Output:
    """One output of a cell, in the richest form that a page has a use for."""
    if output["output_type"] == "stream":
        return Output("stdout", output["text"])
    data = output["data"]
    if PAGE in data:
        return Output("html", data[PAGE], output["metadata"][PAGE])
    if "text/html" in data:
        return Output("html", data["text/html"])
    return Output("text", data["text/plain"])


def asset_url(page: Page, config: MkDocsConfig, name: str, path: str) -> str:
    """Where a file that a view needs is served: at the same place as for the chapters."""
    digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]
    target = f"assets/proofbook/{digest}-{name}"
    config.plugins["proofbook"].assets[target] = Path(path)
    return get_relative_url(target, page.url)
