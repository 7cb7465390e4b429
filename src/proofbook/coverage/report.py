"""Report coverage: a line for each uncovered candidate, and a table with a row for each page."""

from collections.abc import Sequence
from textwrap import shorten

from proofbook.coverage.coverage import Coverage

LARGEST_SHARE = 0.1
"""The largest share of the candidates that may be exempt."""
HEAD = ("page", "candidates", "covered", "exempt", "uncovered", "share", "unbound", "counts")
LONGEST = 120
"""The most characters of a sentence that are shown."""


def is_whole(pages: Sequence[Coverage]) -> bool:
    """Return whether nothing is left uncovered, and not too much is exempt."""
    return _total(pages).uncovered == () and not has_too_many_exempt(pages)


def has_too_many_exempt(pages: Sequence[Coverage]) -> bool:
    """Return whether more candidates are exempt than allowed."""
    total = _total(pages)
    return total.exempt > LARGEST_SHARE * total.candidates


def report(pages: Sequence[Coverage], sentences: bool = False) -> str:
    """Return a line for each uncovered candidate, then a table.

    Args:
        pages: The coverage of each page.
        sentences: Also add a line for each sentence that binds nothing, and for each count.
    """
    lines = [
        f"{page.path}:{line}: {kind}: {text}"
        for page in pages
        for line, kind, text in page.uncovered
    ]
    if sentences:
        lines += [
            f"{page.path}:{line}: sentence: {shorten(text, LONGEST, placeholder=' …')}"
            for page in pages
            for line, text in page.unbound
        ]
        lines += [
            f"{page.path}:{line}: count: {text}" for page in pages for line, text in page.counts
        ]
    rows = [HEAD, *(_row(page) for page in [*pages, _total(pages)])]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines += ["", *(_line(row, widths) for row in rows)]
    if has_too_many_exempt(pages):
        lines += ["", f"more than {LARGEST_SHARE:.0%} of the candidates are exempt"]
    return "\n".join(lines)


def _total(pages: Sequence[Coverage]) -> Coverage:
    uncovered = tuple(one for page in pages for one in page.uncovered)
    unbound = tuple(one for page in pages for one in page.unbound)
    counts = tuple(one for page in pages for one in page.counts)
    covered = sum(page.covered for page in pages)
    exempt = sum(page.exempt for page in pages)
    return Coverage("all", covered, exempt, uncovered, unbound, counts)


def _row(page: Coverage) -> tuple[str, ...]:
    """Return a table row; the share of covered and exempt is rounded down, so 100% means all."""
    left = len(page.uncovered)
    share = 100 * (page.candidates - left) // page.candidates if page.candidates else 100
    counts = page.candidates, page.covered, page.exempt, left
    alone = len(page.unbound), len(page.counts)
    return (page.path, *map(str, counts), f"{share}%", *map(str, alone))


def _line(row: Sequence[str], widths: Sequence[int]) -> str:
    first, *others = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
    numbers = [cell.strip().rjust(len(cell)) for cell in others]
    return "  ".join([first, *numbers])
