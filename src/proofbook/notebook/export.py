"""Export a chapter as a notebook: its prose, its code and output, its claims as assertions."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from proofbook.checking.book import Checked
from proofbook.coverage.coverage import FORMULAS
from proofbook.notebook import cells
from proofbook.notebook.assertions import WORD, asserts, calls_word
from proofbook.notebook.cells import Cell
from proofbook.notebook.links import Links, title_of
from proofbook.notebook.plain_markdown import Code, Text, pieces
from proofbook.notebook.programs import program_of
from proofbook.notebook.requirements import requirements
from proofbook.settings import Settings

FORMAT = {"nbformat": 4, "nbformat_minor": 5}
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook(checked: Checked, settings: Settings, about: Mapping[str, Any]) -> str:
    """Return the text of a notebook file for a page that passed; equal inputs give equal texts.

    Args:
        checked: The page and its run.
        settings: The book.
        about: How it was verified, as in the ledger.
    """
    return _text(checked, settings, about, Links(settings, checked.page.chapter.path))


class Notebooks:
    """The notebooks of a book, each remade only if one of its inputs has changed."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[tuple[Any, ...], Links, str]] = {}

    def of(self, checked: Checked, settings: Settings, about: Mapping[str, Any]) -> str:
        """Return the notebook of a page that passed; see `notebook`."""
        path = checked.page.chapter.path
        needed = requirements(checked.page.chapter, settings)
        things = checked.page, checked.run, checked.sources, settings, about["versions"], needed
        known, links, text = self._made.get(path, (None, None, ""))
        if known != things or links is None or not links.still_hold():
            links = Links(settings, path)
            text = _text(checked, settings, about, links)
            self._made[path] = things, links, text
        return text


def _text(checked: Checked, settings: Settings, about: Mapping[str, Any], links: Links) -> str:
    maths = not FORMULAS.isdisjoint(settings.extensions)
    body = list(_body(checked, links, maths))
    made = [*_head(checked, links, about), *_installing(checked, settings), *_start(checked), *body]
    content = {**FORMAT, "metadata": METADATA, "cells": made}
    return json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


# -- What comes first ------------------------------------------------------------------------


def _head(checked: Checked, links: Links, about: Mapping[str, Any]) -> Iterator[Cell]:
    """Introduce the notebook: say where its page is and how it was verified."""
    name = links.page.removesuffix(".md")
    title = title_of(links.settings.root / links.path) or name
    page = f"[{title}]({links.address})" if links.address else f"“{title}” (`{name}`)"
    of = f" of *{links.settings.site_name}*" if links.settings.site_name else ""
    under = {**about["versions"], "device": checked.run.device}
    versions = ", ".join(f"{label} {value}" for label, value in under.items())
    checks = "; cells tagged `checks` assert what the text claims" if _claims(checked) else ""
    yield cells.markdown(
        "about",
        f"This notebook was made from the page {page}{of}. The outputs are from the run that "
        f"verified the page ({versions}){checks}. Run the cells from top to bottom.",
    )


def _claims(checked: Checked) -> bool:
    return bool(checked.page.chapter.claims)


def _installing(checked: Checked, settings: Settings) -> Iterator[Cell]:
    """Install what the notebook needs if nothing is installed yet, as on Colab."""
    needed = requirements(checked.page.chapter, settings)
    if needed:
        yield cells.code(
            "install",
            "# On Colab this installs what the notebook needs; elsewhere it does nothing.\n"
            'import sys\n\nif "google.colab" in sys.modules:\n'
            f"    %pip install --quiet {' '.join(needed)}",
        )


def _start(checked: Checked) -> Iterator[Cell]:
    """Set the state that the page began with, if a fresh kernel's is different."""
    start = program_of(checked.page.chapter.blocks, checked.run.blocks).start
    lines = [f"{start};" if start.endswith(")") else start, ""] if start else []
    if any(map(calls_word, checked.page.chapter.claims)):
        lines += [WORD, ""]
    if _ends_with_figures(checked):
        lines += ["%matplotlib inline", "import matplotlib.pyplot as plt", ""]
        lines += ["plt.ioff();  # a figure is shown once, by the cell that ends with it"]
    if lines:
        source = "\n".join(["# Start in the page's initial state.", *lines]).rstrip()
        yield cells.code("start", source)


def _ends_with_figures(checked: Checked) -> bool:
    """Return whether there are figures and each is its block's value, judging by their ids."""
    shown = [
        f'id="block-{number}-figure' in output.data
        for number, result in enumerate(checked.run.blocks, start=1)
        for output in result.outputs
        if re.search(rf'id="block-{number}-(?:d?\d+-)?figure_1"', output.data)
    ]
    return bool(shown) and all(shown)


# -- The page --------------------------------------------------------------------------------


def _body(checked: Checked, links: Links, maths: bool) -> Iterator[Cell]:
    """Yield the cells of the page, with its claims as assertions, grouped by section.

    A block may change values that earlier claims are about, so their assertions come before the
    next block that runs and before the next heading.
    """
    chapter, run = checked.page.chapter, checked.run
    later: dict[int, list[str]] = defaultdict(list)
    due: list[str] = []
    done = texts = checks = 0
    for piece in [*pieces(checked, links, maths), None]:
        if due and not (isinstance(piece, Text) and not piece.begins):
            checks += 1
            yield cells.code(f"checks-{checks}", "\n".join(dict.fromkeys(due)), tags=["checks"])
            due = []
        if isinstance(piece, Text):
            texts += 1
            yield cells.markdown(f"text-{texts}", piece.markdown)
            for number in piece.claims:
                for after, line in asserts(chapter.claims[number], run):
                    (due if after == done else later[after]).append(line)
        elif isinstance(piece, Code):
            block, result = chapter.blocks[piece.block], run.blocks[piece.block]
            done = piece.block + 1
            if block.kind == "python":
                yield cells.python_cell(f"block-{done}", block.code.strip("\n"), result)
            else:
                yield from cells.doctest_cells(f"block-{done}", result)
            due = later.pop(done, [])
