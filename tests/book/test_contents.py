"""A page's top: two lines that are two lines, and in a chapter a box with its sections."""

import pytest
from pages import Page
from test_openings import CHAPTERS, TAUGHT

pytestmark = pytest.mark.xdist_group("site")


@pytest.mark.parametrize("path", TAUGHT)
def test_the_opening_lines_are_two_lines(site, path):
    html = (site / path.rpartition(".")[0] / "index.html").read_text(encoding="utf-8")
    assert html.count('<p class="opening"><em>You will know:</em>') == 1
    assert html.count("<br>\n<em>You need:</em>") == 1
    assert html.count('<details class="contents">') == (path in CHAPTERS)


@pytest.mark.parametrize("path", CHAPTERS)
def test_the_box_lists_the_sections_in_their_order(site, path):
    page = Page(site / path.removesuffix(".md") / "index.html")
    html = page.path.read_text(encoding="utf-8")
    box = html.partition('<details class="contents">')[2].partition("</details>")[0]
    sections = [tag.attributes["id"] for tag in page.named("h2") if "id" in tag.attributes]
    assert len(sections) > 2
    assert box.count("<li>") == len(sections)
    places = [box.index(f'href="#{section}"') for section in sections]
    assert places == sorted(places)
