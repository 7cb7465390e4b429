"""A chapter's notebook runs from top to bottom, and shows and asserts what its page does.

One of them is run at each change, and each night all.
"""

import os
import re
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from notebook_kernels import kernels, manager
from pages import CHAPTERS, ROOT

from proofbook.checking.book import Book
from proofbook.checking.outputs import prints
from proofbook.integrations.reading import load
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


@pytest.fixture(scope="module")
def forked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KernelSpecManager]:
    preload = load(ROOT / "mkdocs.yml").preload
    with kernels(tmp_path_factory.mktemp("kernels"), ROOT, preload) as found:
        yield found


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


def execute(made: nbformat.NotebookNode, found: KernelSpecManager) -> None:
    """Run all cells. A client ends no kernel that it was given."""
    kernel = manager(found)
    try:
        NotebookClient(made, km=kernel, timeout=600, resources=THERE).execute()
    finally:
        run_sync(kernel.shutdown_kernel)(now=True)


def differing(
    made: nbformat.NotebookNode, execute: Callable[[nbformat.NotebookNode], object]
) -> list[str]:
    """The cells of a notebook that show something else when it is executed."""
    expected = [shown(cell) for cell in made.cells if cell.cell_type == "code"]
    assert expected
    execute(made)
    cells = [cell for cell in made.cells if cell.cell_type == "code"]
    return [
        f"{cell.id}:\n{cell.source}\n-- the page\n{want}\n-- the notebook\n{shown(cell)}"
        for cell, want in zip(cells, expected, strict=True)
        if not prints(settled(want), settled(shown(cell)))
    ]


@pytest.mark.slow
def test_one_runs_in_a_kernel_that_jupyter_starts_and_shows_what_its_page_shows(book: Book) -> None:
    def run(made: nbformat.NotebookNode) -> None:
        NotebookClient(made, timeout=600, kernel_name="python3", resources=THERE).execute()

    wrong = differing(notebook_of("docs/encoder/attention.md", book), run)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.nightly
@pytest.mark.parametrize("path", EXPORTED)
def test_each_runs_and_shows_what_its_page_shows(
    path: str, book: Book, forked: KernelSpecManager
) -> None:
    wrong = differing(notebook_of(path, book), partial(execute, found=forked))
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.nightly
def test_a_kernel_ends_with_its_notebook(forked: KernelSpecManager) -> None:
    cell = nbformat.v4.new_code_cell("import os\nprint(os.getpid())")
    book = nbformat.v4.new_notebook(cells=[cell])
    execute(book, forked)
    process = int(book.cells[0].outputs[0].text)
    while alive(process):  # or the test hangs, and is ended
        time.sleep(0.05)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
