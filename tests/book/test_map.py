"""The map shows each chapter, what it builds on, and its modules and tests."""

import re
from pathlib import Path

import pytest
from mkdocs.utils import meta
from pages import Page
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


def test_each_chapter_stands_in_the_table_with_its_modules_and_their_tests(site):
    page = Page(site / "reference/map/index.html")
    hrefs = [tag.attributes["href"] for tag in page.named("a") if "href" in tag.attributes]
    sources = {href for href in hrefs if "source/" in href}
    wanted = set()
    for path in CHAPTERS:
        front = meta.get_data((DOCS / path).read_text(encoding="utf-8"))[1]
        for module in front["modules"]:
            folder, _, name = module.replace(".", "/").rpartition("/")
            wanted |= {
                f"../../source/{folder}/{name}/",
                f"../../source/tests/{folder}/test_{name}/",
            }
    assert sources == wanted
    for href in sources:
        assert page_of(site, href).exists(), href


def test_no_element_is_left_empty(html):
    assert "data-map=" not in html
