"""The cells of a lab that has run, shown as a chapter shows its blocks."""

import ast
from functools import lru_cache
from html import escape
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, urljoin

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from glassbook.site.labs.running import Cell
from proofbook.model import Block, BlockResult, Output
from proofbook.notebook.programs import program_of
from proofbook.rendering.downloads import copy_html, program_html
from proofbook.rendering.html import AssetUrl, outputs_html

PAGE = "text/vnd.proofbook.page"  # the form that profile_default/startup adds to a view's


def counted(cells: list[Cell]) -> dict[str, int]:
    """Count the cells that have run, and the assertions in them, all of which were true."""
    codes = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
    nodes = [node for code in codes for node in ast.walk(ast.parse(code))]
    return {"cells": len(codes), "assertions": sum(isinstance(n, ast.Assert) for n in nodes)}


def about(page: Page, found: dict[str, int], colab: str) -> str:
    """Write, below the title, what was run and asserted, and where the files are.

    Args:
        page: The page of the lab.
        found: The number of its cells and of its assertions.
        colab: Where the lab opens in Colab; or "".
    """
    name = PurePosixPath(page.file.src_uri)
    there = f', or <a href="{escape(colab)}">open it in Colab</a>' if colab else ""
    return (
        f'<p class="lab-about">Run when this page was built: {found["cells"]} cells, '
        f"{found['assertions']} assertions. Download it as a "
        f'<a href="../{name.stem}.ipynb" download>notebook</a> or '
        f'a <a href="{name.name}" download>script</a>{there}. It imports the book\'s package: '
        '<a href="../../reference/install/#taking-code-along">where to run it</a>.</p>'
    )


def colab_address(page: Page, config: MkDocsConfig) -> str:
    """Return where a lab opens in Colab; "" if it can't.

    Colab reads the notebook from the site and installs the package from the repository, so both
    addresses must be known.
    """
    if not (config.site_url and config.repo_url):
        return ""
    name = PurePosixPath(page.file.src_uri).with_suffix(".ipynb").as_posix()
    return f"https://colab.research.google.com/#fileId={quote(urljoin(config.site_url, name))}"


def block(cell: Cell, number: int, script: str, url: AssetUrl) -> str:
    """Show a cell's code and its output, with the link that copies it with what it needs."""
    code = colored(cell["source"])
    below = f"{outputs_html(_result(cell), url)}{copy_html(number, script)}"
    return f'<div class="proofbook-block">{code}{below}</div>'


def program(cells: list[Cell]) -> str:
    """Return the element with the program of a lab, given its cells with code."""
    blocks = [Block("python", cell["source"], 1) for cell in cells]
    return program_html(program_of(blocks, [_result(cell) for cell in cells]))


def _result(cell: Cell) -> BlockResult:
    outputs = tuple(map(shown, cell["outputs"]))
    has_value = any(one["output_type"] == "execute_result" for one in cell["outputs"])
    last = len(ast.parse(cell["source"]).body) - 1
    return BlockResult(outputs, prints=(last,) if has_value and outputs[-1].kind == "text" else ())


@lru_cache(256)  # under `mkdocs serve`, most cells stay as they are
def colored(code: str) -> str:
    """Color the code of a cell."""
    formatter = HtmlFormatter(cssclass="language-python highlight", wrapcode=True)
    return str(highlight(code, PythonLexer(), formatter))


def shown(output: dict[str, Any]) -> Output:
    """Return one output of a cell in the richest form that a page can use."""
    if output["output_type"] == "stream":
        return Output("stdout", output["text"])
    data = output["data"]
    if PAGE in data:
        return Output("html", data[PAGE], output["metadata"][PAGE])
    if "text/html" in data:
        return Output("html", data["text/html"])
    return Output("text", data["text/plain"])
