"""The picture on the home page: complete when it stands still, and alive where it may move."""

from contextlib import contextmanager

import pytest

from browser import opened, visit

pytestmark = pytest.mark.browser

TURN = 3000  # milliseconds, more than a word is shown for
ASKS = "() => document.querySelector('.glassformer-arcs .asks')?.textContent"


def test_without_scripts_all_lines_of_a_head_are_seen_and_another_can_be_chosen(browser, address):
    with visit(browser, address, javascript=False) as seen:
        figure = seen.page.locator(".glassformer-arcs")
        pictures = figure.locator("svg")
        assert [pictures.nth(k).is_visible() for k in range(3)] == [True, False, False]
        assert figure.locator("svg").first.locator(".arc").count() > 20
        figure.get_by_label("layer 5, head 11").check()
        assert [pictures.nth(k).is_visible() for k in range(3)] == [False, False, True]
        assert not figure.locator("button").is_visible()


@contextmanager
def timed(browser, address, **media):
    """Home, with a clock that goes on only when it's told to."""
    with visit(browser, "about:blank") as seen:
        seen.page.emulate_media(**media)
        seen.page.clock.install()
        opened(seen.page, address)
        yield seen.page
        assert not seen.complaints


def test_a_word_is_asked_by_pointer_by_key_and_by_itself(browser, address):
    with timed(browser, address) as page:
        figure = page.locator(".glassformer-arcs")
        tokens = figure.locator("svg").first.locator(".token")
        tokens.nth(4).hover()
        assert figure.locator(".says").text_content().startswith("an gives 0.65 to arrow")
        lit = figure.locator("svg").first.locator(".arc.on")
        assert {lit.nth(k).get_attribute("data-from") for k in range(lit.count())} == {"4"}
        tokens.nth(2).focus()
        assert "flies" in page.evaluate(ASKS)
        assert tokens.nth(2).get_attribute("aria-label").startswith("flies gives")
        page.mouse.move(0, 0)
        page.evaluate("document.activeElement.blur()")
        page.clock.run_for(TURN)
        assert "flies" not in page.evaluate(ASKS)
        figure.get_by_role("button", name="Stop moving").click()
        page.mouse.move(0, 0)
        before = page.evaluate(ASKS)
        page.clock.run_for(TURN)
        assert page.evaluate(ASKS) == before


def test_who_wants_no_motion_sees_none(browser, address):
    with timed(browser, address, reduced_motion="reduce") as page:
        before = page.evaluate(ASKS)
        page.clock.run_for(TURN)
        assert page.evaluate(ASKS) == before
