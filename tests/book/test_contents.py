"""A page's opening: one line under its question, and in a chapter a box with its sections."""

import re

import pytest
from pages import Page
from test_openings import CHAPTERS, TAUGHT

pytestmark = pytest.mark.xdist_group("site")


@pytest.mark.parametrize("path", TAUGHT)
def test_one_line_says_what_a_page_gives_and_takes(site, path):
    html = (site / path.rpartition(".")[0] / "index.html").read_text(encoding="utf-8")
    opening = r'<p class="opening"><em>You will know:</em>(?:(?!</p>).)*'
    [line] = re.findall(opening, html, re.DOTALL)
    assert line.count("<em>You need:</em>") == 1
    assert "<br" not in line
    assert html.count('<details class="contents" data-search-exclude>') == (path in CHAPTERS)


@pytest.mark.parametrize("path", CHAPTERS)
def test_the_box_lists_the_sections_in_their_order(site, path):
    page = Page(site / path.removesuffix(".md") / "index.html")
    html = page.path.read_text(encoding="utf-8")
    box = html.partition('<details class="contents"')[2].partition("</details>")[0]
    sections = [tag.attributes["id"] for tag in page.named("h2") if "id" in tag.attributes]
    assert len(sections) > 2
    assert box.count("<li>") == len(sections)
    places = [box.index(f'href="#{section}"') for section in sections]
    assert places == sorted(places)
