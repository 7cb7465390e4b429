"""Markup is out of the way while a page is made, and in its place when it is ready."""

import re

from proofbook.held import Held


def test_markup_comes_back_where_it_was():
    held = Held()
    places = [held.put(markup) for markup in ("<i>1</i>", "<b>2</b>", "<i>1</i>")]
    assert not re.search("<[ib]>", "".join(places))
    page = "<p>{}</p><p>{}{}</p>".format(*places)
    assert held.put_back(page) == "<p><i>1</i></p><p><b>2</b><i>1</i></p>"


def test_a_place_that_is_another_books_stays():
    foreign = Held().put("<hr>")
    assert Held().put_back(foreign) == foreign
