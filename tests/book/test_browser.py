"""What a reader sees: each page in a real browser, light and dark, narrow and wide."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from browser import launched, served, visit

ROOT = Path(__file__).parents[2]
PAGES = [
    "" if path.stem == "index" else f"{path.relative_to(ROOT / 'docs').with_suffix('')}/"
    for path in sorted([*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs/labs").glob("*.py")])
]
WIDTHS = [360, 1280]

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("site")]

# What sticks out of the window to the right, and is not inside a box that scrolls by itself.
STICKING_OUT = """() => [...document.querySelectorAll('main *')].filter(element => {
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.right <= innerWidth + 1) return false;
  for (let e = element; e && e.tagName !== 'MAIN'; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.overflowX !== 'visible' || style.clipPath !== 'none') return false;
  }
  return true;
}).map(element => element.outerHTML.slice(0, 120))"""

# Custom elements are the viewers; they draw into a shadow of their own.
VIEWERS = "[...document.querySelectorAll('main *')].filter(e => e.tagName.includes('-'))"
DRAWN = f"""() => {VIEWERS}.map(view => {{
  const root = view.shadowRoot ?? view;
  const marks = root.querySelectorAll('svg line, svg path, svg rect, canvas').length;
  return [view.tagName.toLowerCase(), marks, view.getBoundingClientRect().height];
}})"""


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with launched() as browser:
        yield browser


def scroll_through(page: Any) -> None:
    """Bring every part of the page near the screen, as a reader does; then wait for the views."""
    height = page.evaluate("document.documentElement.scrollHeight")
    for y in range(0, height + 1, 600):
        page.evaluate(f"window.scrollTo(0, {y})")
        page.wait_for_timeout(30)
    for index in range(page.evaluate(f"{VIEWERS}.length")):
        page.evaluate(f"{VIEWERS}[{index}].scrollIntoView({{block: 'center'}})")
        page.wait_for_function(
            f"() => ({VIEWERS}[{index}].shadowRoot ?? {VIEWERS}[{index}])"
            ".querySelectorAll('svg line, svg path, svg rect, canvas').length > 0",
            timeout=20_000,
        )


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("path", PAGES)
def test_page(browser: Any, address: str, path: str, width: int, dark: bool) -> None:
    with visit(browser, address + path, width=width, dark=dark) as seen:
        scroll_through(seen.page)
        assert not seen.foreign
        assert not seen.complaints
        assert seen.page.evaluate("document.documentElement.scrollWidth") <= width
        assert not seen.page.evaluate(STICKING_OUT)
        for name, marks, height in seen.page.evaluate(DRAWN):
            assert marks > 10, name
            assert height > 100, name
        scheme = seen.page.evaluate("document.body.dataset.mdColorScheme")
        assert scheme == ("slate" if dark else "default")


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_heatmaps_are_drawn_with_words_and_colours(browser, address, dark):
    with visit(browser, address, dark=dark) as seen:
        heatmap = seen.page.locator("figure svg").first
        assert {"[CLS]", "time", "arrow"} <= set(heatmap.locator("text").all_text_contents())
        fills = heatmap.locator("rect").evaluate_all(
            "cells => new Set(cells.map(c => getComputedStyle(c).fillOpacity)).size"
        )
        assert fills > 5


def test_the_ring_beside_a_claim_opens_its_check(browser, address):
    with visit(browser, address + "encoder/attention/") as seen:
        proof = seen.page.locator("[popover]", has_text="(weights @ values)[0, 0]")
        sign = seen.page.locator(f"[popovertarget={proof.get_attribute('id')}]")
        sign.scroll_into_view_if_needed()
        assert not proof.is_visible()
        sign.click()
        assert proof.is_visible()
        near, box = sign.bounding_box(), proof.bounding_box()
        assert 0 <= box["y"] - near["y"] < 60
        seen.page.keyboard.press("Escape")
        assert not proof.is_visible()


def test_the_page_can_be_read_without_javascript(browser, address):
    context = browser.new_context(java_script_enabled=False)
    try:
        page = context.new_page()
        page.goto(address + "encoder/attention/")
        assert page.locator("math").first.is_visible()
        assert page.locator(".proofbook-output svg").first.is_visible()
        assert page.locator("h2").first.is_visible()
        assert page.get_by_role("link", name="Many heads").first.is_visible()
    finally:
        context.close()


def test_formulas_are_set_in_the_books_mathematical_font(browser, address):
    with visit(browser, address + "encoder/attention/") as seen:
        seen.page.wait_for_function("document.fonts.status === 'loaded'")
        loaded = seen.page.evaluate(
            "[...document.fonts].filter(f => f.status === 'loaded').map(f => f.family)"
        )
        assert any("STIX Two Math" in family for family in loaded)
        # A root that is laid out as one is taller than the letter under it, and covers it.
        root, letter = seen.page.locator("msqrt").first, seen.page.locator("msqrt mi").first
        outer, inner = root.bounding_box(), letter.bounding_box()
        assert outer["height"] > inner["height"]
        assert outer["width"] < inner["width"] + 1.2 * outer["height"]


def test_the_palette_can_be_chosen(browser, address):
    with visit(browser, address) as seen:
        shades = []
        for _ in range(3):
            shades.append(seen.page.evaluate("getComputedStyle(document.body).backgroundColor"))
            seen.page.locator("label.md-header__button:visible[for^=__palette]").first.click()
            seen.page.wait_for_timeout(300)
        assert len(set(shades)) == 2  # the system's, light, and dark


def test_a_reader_can_go_through_with_the_keyboard(browser, address):
    with visit(browser, address + "encoder/attention/") as seen:
        seen.page.keyboard.press("Tab")
        assert "Skip to content" in seen.page.evaluate("document.activeElement.innerText")
        seen.page.keyboard.press("Enter")
        reached = set()
        for _ in range(40):
            seen.page.keyboard.press("Tab")
            reached.add(seen.page.evaluate("document.activeElement.className || 'none'"))
        assert any("proofbook-sign" in classes for classes in reached)
