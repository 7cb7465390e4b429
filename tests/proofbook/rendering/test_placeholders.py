"""Markup is out of the way while a page is made, and in its place when it is ready."""

import re

from proofbook.rendering.placeholders import Placeholders, at_once, uncolored


def test_markup_comes_back_where_it_was():
    placeholders = Placeholders()
    places = [placeholders.put(markup, "") for markup in ("<i>1</i>", "<b>2</b>", "<i>1</i>")]
    assert not re.search("<[ib]>", "".join(places))
    page = "<p>{}</p><p>{}{}</p>".format(*places)
    assert placeholders.put_back(page) == "<p><i>1</i></p><p><b>2</b><i>1</i></p>"


def test_a_place_that_is_another_books_stays():
    foreign = Placeholders().put("<hr>", "")
    assert Placeholders().put_back(foreign) == foreign


def test_words_stand_there_meanwhile_without_colors():
    placeholders = Placeholders()
    code = (
        '<div class="h"><pre id="c"><code><span class="k">if</span> x &lt; 1:\n</code></pre></div>'
    )
    words = uncolored(code)
    assert words == '<pre id="c"><code>if x &lt; 1:\n</code></pre>'
    page = f"<p>{placeholders.put(code, words)}</p><div>{placeholders.put('<hr>', '')}</div>"
    assert words in page
    assert placeholders.put_back(page) == f"<p>{code}</p><div><hr></div>"


def test_without_a_page_to_wait_for_markup_stands_for_itself():
    assert at_once("<hr>", "words") == "<hr>"
