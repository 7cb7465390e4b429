"""The map shows each chapter, and what it builds on; the page of exercises lists each."""

import re
from pathlib import Path

import pytest
from test_openings import CHAPTERS, DOCS, needs


@pytest.fixture(scope="module")
def html(site: Path) -> str:
    return (site / "reference/map/index.html").read_text(encoding="utf-8")


def page_of(site: Path, href: str) -> Path:
    """The file that a link on the map leads to."""
    return (site / "reference/map" / href / "index.html").resolve()


def test_each_chapter_stands_in_the_picture_with_a_line_to_each_that_it_builds_on(site, html):
    groups = re.findall(r'<g class="chapter">(.*?)<a href="([^"]+)">', html)
    found = {page_of(site, href): lines.count("<path") for lines, href in groups}
    assert found == {
        site / path.removesuffix(".md") / "index.html": len(needs(path)) for path in CHAPTERS
    }


def test_the_page_of_exercises_lists_each_once(site):
    html = (site / "reference/exercises/index.html").read_text(encoding="utf-8")
    listed = re.findall(r"check_\w+", html.partition('id="all"')[2])
    sources = (DOCS.parent / "src/glassbook/exercises").glob("*.py")
    code = "".join(path.read_text(encoding="utf-8") for path in sources)
    assert {*listed} == {*re.findall(r"^(check_\w+) = Exercise\(", code, re.MULTILINE)}
