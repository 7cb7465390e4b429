"""A chapter's notebook runs from top to bottom, and shows and asserts what its page does.

One of them is run at each change, and each night all.
"""

import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from pages import CHAPTERS, ROOT

from proofbook.checking.book import Book
from proofbook.checking.outputs import prints
from proofbook.notebook.export import notebook
from proofbook.parsing.fences import scan
from proofbook.rendering.ledger import provenance

EXPORTED = [
    path
    for path in CHAPTERS
    if any(fence.runs for fence in scan((ROOT / path).read_text(encoding="utf-8")).fences)
]
LARGEST = 1_000_000
THERE = {"metadata": {"path": str(ROOT)}}


@pytest.fixture(autouse=True)
def _as_a_page_runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))


def notebook_of(path: str, book: Book) -> nbformat.NotebookNode:
    """The notebook of a chapter, which is valid and not too large."""
    [checked] = book.check({path: (ROOT / path).read_text(encoding="utf-8")})
    assert not checked.problems
    text = notebook(checked, book.settings, provenance(book.settings))
    assert len(text.encode()) < LARGEST
    made = nbformat.reads(text, as_version=4)
    nbformat.validate(made)
    return made


def shown(cell: nbformat.NotebookNode) -> str:
    """What a cell printed and gave, as text; for a figure, that there is one.

    Here stderr is apart, and with it the warnings of transformers, which a page shows.
    """
    texts = []
    for output in cell.outputs:
        if output.output_type == "stream":
            texts += [output.text] if output.name == "stdout" else []
        elif output.output_type == "error":
            texts.append(f"{output.ename}: {output.evalue}")
        elif any(kind.startswith("image/") for kind in output.data):
            texts.append("a figure")
        else:
            texts.append(output.data["text/plain"])
    return re.sub(r"^\[transformers\] .*\n*", "", "\n".join(texts), flags=re.MULTILINE)


def settled(text: str) -> str:
    """A text without the line breaks, which IPython puts elsewhere than Python does."""
    return re.sub(r" ?([,\[\](){}]) ?", r"\1", " ".join(text.split()))


def differing(path: str, book: Book) -> list[str]:
    """The cells of a chapter's notebook that show something else when Jupyter runs it."""
    made = notebook_of(path, book)
    expected = [shown(cell) for cell in made.cells if cell.cell_type == "code"]
    assert expected
    NotebookClient(made, timeout=600, kernel_name="python3", resources=THERE).execute()
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    return [
        f"{cell.id}:\n{cell.source}\n-- the page\n{want}\n-- the notebook\n{shown(cell)}"
        for cell, want in zip(cells, expected, strict=True)
        if not prints(settled(want), settled(shown(cell)))
    ]


@pytest.mark.slow
def test_one_runs_and_shows_what_its_page_shows(book: Book) -> None:
    path = "docs/encoder/attention.md"
    assert not (wrong := differing(path, book)), "\n\n".join(wrong)
    [cell] = [
        one for one in notebook_of(path, book).cells if '.keep("my_encoder.py")' in one.source
    ]
    assert cell.cell_type == "code"


@pytest.mark.nightly
@pytest.mark.parametrize("path", EXPORTED)
def test_each_runs_and_shows_what_its_page_shows(path: str, book: Book) -> None:
    assert not (wrong := differing(path, book)), "\n\n".join(wrong)
