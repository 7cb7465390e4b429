"""What could be a claim is one, on every page."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from proofbook.checking.book import Book
from proofbook.coverage.coverage import Coverage, cover
from proofbook.coverage.report import has_too_many_exempt, report
from proofbook.settings import load

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md"))

pytestmark = pytest.mark.xdist_group("site")  # one worker, which has run the chapters already


@pytest.fixture(scope="module")
def coverage() -> Iterator[Callable[[str], Coverage]]:
    with Book(load(ROOT / "mkdocs.yml"), covers=True) as book:

        @cache
        def of(path: str) -> Coverage:
            [checked] = book.check({path: (ROOT / path).read_text(encoding="utf-8")})
            return cover(checked, book.settings)

        yield of


@pytest.mark.parametrize("path", CHAPTERS)
def test_a_page_leaves_nothing_unclaimed(coverage, path):
    page = coverage(path)
    assert page.uncovered == (), report([page])


def test_at_most_a_tenth_is_exempt(coverage):
    pages = [coverage(path) for path in CHAPTERS]
    assert not has_too_many_exempt(pages), report(pages)


def test_pages_with_many_claims_were_found(coverage):
    assert coverage("docs/encoder/attention.md").covered > 30
