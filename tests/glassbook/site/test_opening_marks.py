"""The opening of a page is marked, in a chapter with a box of its sections behind it."""

import markdown
import pytest

from glassbook.site.opening import OPENED, Opening

OPENING = "*You will know:* one,\ntwo.\n*You need:* three."


def converted(text: str, boxed: bool = False) -> str:
    opening = Opening()
    opening.boxed = boxed
    return markdown.markdown(text, extensions=["toc", opening])


@pytest.mark.parametrize("opening", [OPENING, OPENING.replace("\n*", " *")])
def test_what_it_gives_and_takes_is_one_paragraph_wherever_it_is(opening):
    html = converted(f"# A\n\n## Why?\n\nLook.\n\n{opening}\n\nMore.")
    assert OPENED in html
    line = opening.replace("*You", "<em>You").replace(":*", ":</em>")
    assert f'<p>Look.</p>\n<p class="opening">{line}</p>\n<p>More.</p>' in html


def test_the_box_has_the_sections_in_their_order():
    html = converted(f"# A\n\n{OPENING}\n\n## B & *b*\n\n### c\n\n## D\n", boxed=True)
    box = html.partition("three.</p>")[2].partition("</details>")[0]
    items = '<li><a href="#b-b">B &amp; b</a></li><li><a href="#d">D</a></li>'
    summary = "<summary>In this chapter</summary>"
    assert box == f'<details class="contents" data-search-exclude>{summary}<ol>{items}</ol>'


@pytest.mark.parametrize(
    "text",
    [
        "*You will know:* one.",
        "*You need:* three.",
        "**You will know:** one. **You need:** three.",
        "Now *you will know:* one.\n*You need:* three.",
    ],
)
def test_other_paragraphs_stay_as_they_are(text):
    html = converted(f"# A\n\n{text}", boxed=True)
    assert "opening" not in html
    assert "details" not in html


def test_only_the_first_one_counts():
    html = converted(f"# A\n\n{OPENING}\n\n{OPENING}")
    assert html.count('<p class="opening">') == 1
