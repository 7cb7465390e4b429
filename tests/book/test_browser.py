"""What a reader sees and does, in a real browser; what all pages share is in test_pages.py."""

import pytest
from pages import STICKING_OUT

from browser import opened, served, visit

pytestmark = pytest.mark.browser


def test_the_page_can_be_read_without_javascript(browser, address):
    """Formulas, pictures, outputs and links are there; folds and tabs open."""
    with visit(browser, address + "encoder/seeing-attention/", javascript=False) as seen:
        page = seen.page
        for what in (".proofbook-output svg", "h2", "article table", ".proofbook-output pre"):
            assert page.locator(what).locator("visible=true").count(), what
        assert page.get_by_role("link", name="Many heads").first.is_visible()
        assert page.locator("glassformer-view details table").first.is_visible()
    with visit(browser, address + "encoder/attention/", javascript=False) as seen:
        assert seen.page.locator("math").first.is_visible()
        seen.page.locator(".proofbook-sign").first.click()
        assert seen.page.locator(".proofbook-proof:popover-open").is_visible()


def test_the_index_of_the_search_is_fetched_when_it_is_needed(browser, address):
    def asked(seen):
        return any("search_index" in url for url in seen.requests)

    with visit(browser, address + "encoder/attention/") as seen:
        seen.page.wait_for_load_state("networkidle")
        assert not asked(seen)
        seen.page.keyboard.press("/")
        seen.page.keyboard.type("softmax")
        seen.page.wait_for_selector(".md-search-result__link")
        assert asked(seen)
        assert not seen.complaints


def test_with_fewer_colours_everything_is_still_told_apart(browser, address):
    """In forced colours, marks that are drawn by colour alone keep theirs, and focus is seen."""

    def cells(page):
        return page.locator(".glassformer-heatmap rect").evaluate_all(
            "cells => cells.map(c => getComputedStyle(c).fill)"
        )

    with visit(browser, address + "encoder/attention/") as seen:
        page = seen.page
        before = cells(page)
        page.emulate_media(forced_colors="active")
        assert cells(page) == before
        ground = page.locator(".proofbook-html").first
        assert ground.evaluate("e => getComputedStyle(e).backgroundColor") == "rgb(253, 252, 249)"
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
        claim = page.locator(".proofbook-claim").first
        assert claim.evaluate("e => getComputedStyle(e).textDecorationStyle") == "dotted"


def test_nothing_glides_for_those_who_ask_for_stillness(browser, address):
    with visit(browser, address + "encoder/seeing-attention/") as seen:
        page = seen.page
        moving = """() => [...document.querySelectorAll('*')].filter(e => {
          const s = getComputedStyle(e);
          const longest = t => Math.max(...t.split(',').map(parseFloat));
          return longest(s.transitionDuration) > 0.01 || longest(s.animationDuration) > 0.01;
        }).length"""
        assert page.evaluate(moving) > 0
        page.emulate_media(reduced_motion="reduce")
        assert page.evaluate(moving) == 0
        assert page.evaluate("getComputedStyle(document.documentElement).scrollBehavior") == "auto"


def test_a_tap_on_the_map_shows_the_lines_of_a_chapter_and_the_next_opens_it(browser, address):
    with visit(browser, address + "reference/map/", touch=True) as seen:
        page = seen.page
        chapter = page.locator(".book-map .chapter:has(a[href$='encoder/many-heads/'])")
        other = page.locator(".book-map .chapter:has(a[href$='gpt/masks/'])")
        widths = (
            "group => [...group.querySelectorAll('path')].map(p => getComputedStyle(p).strokeWidth)"
        )
        for tapped, left in ((other, chapter), (chapter, other)):
            tapped.locator("a").tap()
            assert set(tapped.evaluate(widths)) == {"2px"}
            assert set(left.evaluate(widths)) == {"1.1px"}
            assert page.url.endswith("reference/map/")
        chapter.locator("a").tap()
        page.wait_for_url("**/encoder/many-heads/")


ZOOMED = ["", "encoder/seeing-attention/", "gpt/generation/", "reference/api/layers/"]
# Pairs of things in the header that lie over one another, and what of them leaves it.
CLASHES = """() => {
  const header = document.querySelector('.md-header');
  const inside = [...header.querySelectorAll('.md-header__inner > *')]
    .filter(e => e.checkVisibility()).map(e => [e.className, e.getBoundingClientRect()])
    .filter(([, box]) => box.width > 1 && box.height > 1);
  const { right, bottom } = header.getBoundingClientRect();
  const over = inside.filter(([, b]) => b.right > right + 1 || b.bottom > bottom + 1 || b.left < 0);
  const pairs = inside.flatMap(([name, a], i) => inside.slice(i + 1)
    .filter(([, b]) => a.right > b.left + 1 && b.right > a.left + 1)
    .map(([other]) => `${name} over ${other}`));
  return { seen: inside.length, wrong: [...pairs, ...over.map(([name]) => name)] };
}"""
UNDER = """e => e.getBoundingClientRect().top
  - document.querySelector('.md-header').getBoundingClientRect().bottom"""


def test_at_twice_the_size_nothing_sticks_out_and_the_header_covers_no_text(browser, address):
    """A window of 1440 by 900, at 200 percent."""
    with visit(browser, address, width=720) as seen:
        page = seen.page
        page.set_viewport_size({"width": 720, "height": 450})
        for path in ZOOMED:
            opened(page, address + path)
            header = page.evaluate(CLASHES)
            assert header["seen"] >= 3
            assert not header["wrong"], path
            assert page.locator(".md-header").bounding_box()["height"] < 450 / 4
            assert page.locator("main h1").first.evaluate(UNDER) >= 0, path
            heading = page.locator("main h2[id]").last
            page.evaluate("id => { location.hash = id; }", heading.get_attribute("id"))
            page.wait_for_function(f"e => ({UNDER})(e) < 450", arg=heading.element_handle())
            assert heading.evaluate(UNDER) >= 0, path
            assert page.evaluate(STICKING_OUT) == [], path
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


@pytest.mark.parametrize("dark", [False, True])
def test_a_first_visit_begins_in_the_systems_colours(browser, address, dark):
    scheme = "document.body.dataset.mdColorScheme"
    with visit(browser, address + "encoder/attention/", dark=dark) as seen:
        early = seen.page.context.new_page()
        early.route("**/bundle.*.js", lambda route: route.abort())
        early.goto(address + "encoder/attention/")
        assert (
            early.evaluate(scheme) == seen.page.evaluate(scheme) == ("slate" if dark else "default")
        )


def test_the_page_for_missing_addresses_finds_a_book_below_a_folder(site, browser, tmp_path):
    """Where the build was not told that it is there."""
    (tmp_path / "a").mkdir()
    (tmp_path / "a/book").symlink_to(site)
    with served(tmp_path) as root, visit(browser, f"{root}a/book/404.html") as seen:
        seen.page.wait_for_function("document.querySelector('[href^=\"/a/book/\"]')")
        links = seen.page.locator('[href^="/"], [action^="/"]')
        found = links.evaluate_all("all => all.map(e => new URL(e.href ?? e.action).pathname)")
        assert len(found) > 10
        assert [path for path in found if not path.startswith("/a/book/")] == []


# How many blocks whose height can't be known wait to be drawn, and how many don't.
WAITING = """() => {
  const open = [...document.querySelectorAll('.proofbook-block:not([style]), .proofbook-end')];
  const waits = open.filter(part => getComputedStyle(part).contentVisibility === 'auto');
  return [waits.length, open.length - waits.length];
}"""
LONG_PAGE = "encoder/positions/"


def test_a_page_opened_further_down_or_again_waits_with_nothing_of_unknown_height(browser, address):
    """So a section is where its link leads, and the page where it was left."""
    with visit(browser, address) as seen:
        page = seen.page
        page.route("**/aids.js", lambda route: route.abort())  # or it would draw what waits
        page.goto(address + LONG_PAGE + "#what-people-get-wrong")
        assert page.evaluate(WAITING)[0] == 0
        assert 0 <= page.locator("#what-people-get-wrong").evaluate(UNDER) < 100
        page.goto(address + "encoder/tokens/")
        page.goto(address + LONG_PAGE)
        assert page.evaluate(WAITING)[0] > 10
        page.reload()
        assert page.evaluate(WAITING)[0] == 0
