"""Arcs in a browser, with the book's script: which word asks, and if that changes by itself."""

import pytest
import torch

from browser import opened, visit
from glassformer.views import arcs

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("views-browser")]

TURN = 3000  # milliseconds, more than a word is shown for
ASKS = "() => document.querySelector('.asks').textContent"


def test_a_picture_that_asks_for_a_word_stays_there_until_a_reader_wants_more(
    browser, shelf, subtests
):
    weights = torch.full((4, 4), 0.25)
    for asks, first, later in ((2, "c", "c"), (0, "a", "a"), (None, "b", "c")):
        with subtests.test(asks=asks), visit(browser, "about:blank") as seen:
            page = seen.page
            page.clock.install()
            opened(page, shelf.page(arcs({"one": weights}, "abcd", asks=asks)))
            assert page.evaluate(ASKS) == first
            page.clock.run_for(TURN)
            assert page.evaluate(ASKS) == later
            if asks is not None:
                page.get_by_role("button", name="Move from word to word").click()
                page.mouse.move(0, 0)
                page.clock.run_for(TURN)
                assert page.evaluate(ASKS) != first
