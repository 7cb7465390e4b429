"""Every chapter runs, and every sentence in it that is checked is true."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proofbook.checking.book import Book
from proofbook.settings import load

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))

pytestmark = pytest.mark.xdist_group("site")  # one worker, so that the site finds the results


@pytest.fixture(scope="module")
def book() -> Iterator[Book]:
    with Book(load(ROOT / "mkdocs.yml")) as book:
        yield book


@pytest.mark.parametrize("path", CHAPTERS)
def test_chapter_holds(book: Book, path: str):
    [checked] = book.check({path: (ROOT / path).read_text(encoding="utf-8")})
    assert not checked.problems, "\n\n".join(map(str, checked.problems))


def test_chapters_were_found():
    assert "docs/encoder/attention.md" in CHAPTERS
