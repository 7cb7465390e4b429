"""What could be a claim is one, on every page."""

from pages import CHAPTERS, ROOT

from proofbook.checking.book import Book
from proofbook.coverage.coverage import cover
from proofbook.coverage.report import is_whole, report

COUNTS = 852  # number words in sentences without a value, as measured first; they may only fall


def test_pages_leave_nothing_unclaimed_and_at_most_a_tenth_exempt(book: Book) -> None:
    checked = book.check({path: (ROOT / path).read_text(encoding="utf-8") for path in CHAPTERS})
    pages = [cover(one, book.settings) for one in checked]
    assert is_whole(pages), report(pages)
    assert sum(page.covered for page in pages) > 2000
    assert sum(len(page.counts) for page in pages) <= COUNTS, report(pages, sentences=True)
    runs = {one.page.chapter.path: one.run for one in checked}
    assert runs["docs/encoder/attention.md"].cached  # or each page runs here once more
