"""A chapter's notebook runs from top to bottom, and shows and asserts what its page does.

A third of them is run at each change, and each night all.
"""

import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from zlib import crc32

import nbformat
import pytest
from jupyter_client.kernelspec import KernelSpecManager
from jupyter_core.utils import run_sync
from nbclient import NotebookClient
from notebook_kernels import kernels, manager

from proofbook.checking.book import Book
from proofbook.checking.outputs import prints
from proofbook.notebook.export import notebook
from proofbook.parsing.fences import scan
from proofbook.rendering.ledger import circumstances
from proofbook.settings import load

ROOT = Path(__file__).parents[2]
CHAPTERS = [
    path.relative_to(ROOT).as_posix()
    for path in sorted((ROOT / "docs").rglob("*.md"))
    if any(fence.runs for fence in scan(path.read_text(encoding="utf-8")).fences)
]
# About a third of them: a page that changes is drawn anew.
DRAWN = [path for path in CHAPTERS if crc32((ROOT / path).read_bytes()) % 3 == 0]
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


def notebook_of(path: str) -> tuple[str, nbformat.NotebookNode]:
    """The notebook of a chapter, as a text and read."""
    with Book(load(ROOT / "mkdocs.yml")) as book:
        [checked] = book.check({path: (ROOT / path).read_text(encoding="utf-8")})
        assert not checked.problems
        text = notebook(checked, book.settings, circumstances(book.settings))
    return text, nbformat.reads(text, as_version=4)


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


def execute(book: nbformat.NotebookNode, found: KernelSpecManager) -> None:
    """Run all cells. A client ends no kernel that it was given."""
    kernel = manager(found)
    try:
        NotebookClient(book, km=kernel, timeout=600, resources=THERE).execute()
    finally:
        run_sync(kernel.shutdown_kernel)(now=True)


@pytest.mark.parametrize("path", DRAWN)
def test_it_runs_and_shows_what_its_page_shows(path: str, forked: KernelSpecManager) -> None:
    same_as_its_page(path, forked)


@pytest.mark.nightly
@pytest.mark.parametrize("path", CHAPTERS)
def test_each_runs_and_shows_what_its_page_shows(path: str, forked: KernelSpecManager) -> None:
    same_as_its_page(path, forked)


def same_as_its_page(path: str, forked: KernelSpecManager) -> None:
    """Run a chapter's notebook, and compare each cell's output with the page's."""
    text, book = notebook_of(path)
    nbformat.validate(book)
    assert len(text.encode()) < LARGEST
    expected = [shown(cell) for cell in book.cells if cell.cell_type == "code"]
    execute(book, forked)
    cells = [cell for cell in book.cells if cell.cell_type == "code"]
    differing = [
        f"{cell.id}:\n{cell.source}\n-- the page\n{want}\n-- the notebook\n{shown(cell)}"
        for cell, want in zip(cells, expected, strict=True)
        if not prints(settled(want), settled(shown(cell)))
    ]
    assert not differing, "\n\n".join(differing)


@pytest.mark.slow
def test_one_runs_in_a_kernel_that_jupyter_starts() -> None:
    _, book = notebook_of("docs/encoder/attention.md")
    NotebookClient(book, timeout=600, kernel_name="python3", resources=THERE).execute()


def test_a_kernel_ends_with_its_notebook(forked: KernelSpecManager) -> None:
    cell = nbformat.v4.new_code_cell("import os\nprint(os.getpid())")
    book = nbformat.v4.new_notebook(cells=[cell])
    execute(book, forked)
    process = int(book.cells[0].outputs[0].text)
    until = time.monotonic() + 30
    while alive(process) and time.monotonic() < until:
        time.sleep(0.05)
    assert not alive(process)


def alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True


def test_chapters_were_found() -> None:
    assert "docs/encoder/attention.md" in CHAPTERS
    assert "docs/contributing.md" not in CHAPTERS
