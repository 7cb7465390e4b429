"""The navigation of a narrow window, by keys alone."""

import pytest

from browser import visit

pytestmark = pytest.mark.browser

REACHED = """() => {
  const { left, right, width } = document.activeElement.getBoundingClientRect();
  const seen = document.activeElement.checkVisibility({ visibilityProperty: true });
  return {
    drawer: Boolean(document.activeElement.closest('.md-sidebar--primary')),
    words: (document.activeElement.textContent || '').trim(),
    seen: seen && left >= 0 && right <= innerWidth && width > 0,
  };
}"""

# What slides in has come.
STANDS = "document.getAnimations().every(animation => animation.playState === 'finished')"


def walk(page, steps):
    """What has the focus after each of so many steps, of the drawer alone."""
    reached = []
    for _ in range(steps):
        page.keyboard.press("Tab")
        reached.append(page.evaluate(REACHED))
    return [place for place in reached if place["drawer"]]


def test_keys_stay_out_of_a_drawer_that_is_shut(browser, address):
    with visit(browser, address + "gpt/masks/", width=720) as seen:
        assert walk(seen.page, 13) == []


def test_keys_open_the_drawer_and_reach_each_part_of_it(browser, address):
    with visit(browser, address + "gpt/masks/", width=720) as seen:
        page = seen.page
        page.locator(".md-header__button[for=__drawer]").focus()
        page.keyboard.press("Enter")
        page.wait_for_function(STANDS)
        inside = walk(page, 11)
        assert all(place["seen"] for place in inside), inside
        assert {"GPT", "Generation"} <= {place["words"] for place in inside}
        page.locator("label.md-nav__title", has_text="GPT").focus()
        page.keyboard.press("Enter")
        page.wait_for_function(STANDS)
        following = [place["words"] for place in walk(page, 2)]
        assert following == ["Translation", "Objectives and families"]
