"""The page that follows one sentence: whole without scripts, and with them a step at a time."""

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urldefrag, urljoin

import pytest
from pages import read

from browser import opened, served, visit

ROOT = Path(__file__).parents[2]
PATH = "one-sentence/"
STEPS = "h2[id^='step-']"

# Where a step's picture is, or what it prints, and whether it stands before the step's code.
WHERE = """step => {
  const section = document.getElementById(step).parentNode;
  const output = section.querySelector(".proofbook-output");
  const { top, bottom } = (output.querySelector("svg") ?? output).getBoundingClientRect();
  const bar = document.querySelector(".steps-bar").getBoundingClientRect().bottom;
  const after = output.compareDocumentPosition(section.querySelector(".highlight"));
  return { bar, top, bottom, isBeforeCode: Boolean(after & Node.DOCUMENT_POSITION_FOLLOWING) };
}"""


pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    with served(site) as url:
        yield url + PATH


@pytest.fixture
def page(browser: Any, address: str) -> Iterator[Any]:
    with visit(browser, address) as seen:
        yield seen.page
        assert not seen.complaints


def shown(page: Any) -> list[str]:
    """The steps that can be seen."""
    visible = "all => all.filter(e => e.checkVisibility({contentVisibilityAuto: true}))"
    return page.locator(STEPS).evaluate_all(f"all => ({visible})(all).map(e => e.id)")


def steps(page: Any) -> list[str]:
    return page.locator(STEPS).evaluate_all("all => all.map(e => e.id)")


def next_button(page: Any) -> Any:
    return page.get_by_role("button", name="Next step")


# --- the page as it was built


def test_each_step_has_a_shape_its_line_a_picture_and_a_chapter(site: Path):
    html = (site / PATH / "index.html").read_text(encoding="utf-8")
    parts = re.split(r'(?=<h2 [^>]*id="step-)', html)[1:]
    assert len(parts) == 20
    for part in parts[1:]:  # the first records the run
        name = re.search(r'id="([\w-]+)"', part)[1]
        facts = re.search(r'<p class="step-facts">(.*?)</p>', part, re.DOTALL)[1]
        assert re.search(r"\[\d+(, \d+)+\]", facts), name
        assert re.search(r'<a href="\.\./\w+/[\w-]+/#[\w-]+"', facts), name
        assert 'class="proofbook-source"' in part, name
        assert "proofbook-output" in part, name
        assert "<svg" in part or name == "step-ids"
        said = part.split("step-facts")[1].split("</p>", 1)[1]
        assert re.search("proofbook-(claim|fact)", said), name


def test_each_line_of_source_is_the_one_that_its_link_leads_to(site: Path):
    html = (site / PATH / "index.html").read_text(encoding="utf-8")
    shown = re.findall(
        r"<code>((?:(?!<code>|</code>).)*)</code></pre></div>"
        r'<p class="proofbook-source"><a href="([^"]+)">(src/[\w/]+\.py), [^<]*</a></p>',
        html,
        re.DOTALL,
    )
    assert len(shown) == html.count('class="proofbook-source"') > 20
    for markup, link, path in shown:
        url, anchor = urldefrag(urljoin(f"/{PATH}", link))
        assert anchor in read(site / url.strip("/") / "index.html").ids
        lines = (ROOT / path).read_text(encoding="utf-8").split("\n")[int(anchor[1:]) - 1 :]
        code = unescape(re.sub(r"<[^>]+>", "", markup)).rstrip("\n").split("\n")
        assert [line.strip() for line in lines[: len(code)]] == [line.strip() for line in code]


# --- without scripts, and on paper


def test_all_is_there_without_scripts(browser, address):
    with visit(browser, address, javascript=False) as seen:
        assert shown(seen.page) == steps(seen.page)
        assert seen.page.locator(".glassformer-heatmap svg").last.is_visible()
        assert not seen.page.locator(".steps-bar").is_visible()


def test_all_is_printed(page):
    page.emulate_media(media="print")
    assert shown(page) == steps(page)
    assert page.locator(".glassformer-heatmap svg").last.is_visible()
    assert not page.locator(".steps-bar").is_visible()


# --- a step at a time


def test_buttons_lead_on_and_back_and_stop_at_the_ends(page):
    back = page.get_by_role("button", name="Previous step")
    order = steps(page)
    assert back.get_attribute("aria-disabled") == "true"
    back.click(force=True)
    assert shown(page) == order[:1]
    for step in order[1:]:
        next_button(page).click()
        assert shown(page) == [step]
        assert page.url.endswith(f"#{step}")
    assert next_button(page).get_attribute("aria-disabled") == "true"
    next_button(page).click(force=True)
    assert shown(page) == order[-1:]
    back.click()
    assert shown(page) == order[-2:-1]
    page.go_back()  # no step is an entry in the history
    assert page.url == "about:blank"


@pytest.mark.parametrize(("width", "height"), [(360, 740), (768, 1024), (1440, 900)])
def test_controls_fit_and_after_next_the_whole_picture_is_in_sight(browser, address, width, height):
    with visit(browser, address, width=width) as seen:
        page = seen.page
        page.set_viewport_size({"width": width, "height": height})
        cut = []
        for step in steps(page)[1:]:
            next_button(page).click()
            place = page.evaluate(WHERE, step)
            if not place["bar"] <= place["top"] < place["bottom"] <= height:
                cut.append(step)
            assert place["isBeforeCode"], step
        assert not cut
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert not seen.complaints


SWIPES = [
    ("h2", (-120, 10), 1),
    ("h2", (120, 10), -1),
    ("h2", (-120, 90), 0),  # down the page, not across
    ("h2", (-30, 0), 0),  # a tap that slipped
    ("pre:not(.proofbook-stdout) > code", (-120, 10), 0),  # wide code moves itself
]


def test_swipes_lead_on_and_back(browser, address):
    with visit(browser, address, width=360, touch=True) as seen:
        page = seen.page
        order = steps(page)
        begin = order.index("step-positions")
        touch = page.context.new_cdp_session(page)
        for row, (where, path, led_to) in enumerate(SWIPES):
            opened(page, f"{address}?{row}#step-positions")
            target = page.locator(f"#step-positions, #step-positions ~ * {where}").locator(
                "visible=true"
            )
            target = target.last if "pre" in where else target.first
            target.scroll_into_view_if_needed()
            box = target.bounding_box()
            x, y = max(box["x"], 0) + 150, box["y"] + box["height"] / 2
            for kind, part in (("Start", 0), ("Move", 0.5), ("Move", 1), ("End", None)):
                at = [] if part is None else [{"x": x + part * path[0], "y": y + part * path[1]}]
                touch.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": at})
            page.evaluate("new Promise(requestAnimationFrame)")
            assert shown(page) == [order[begin + led_to]], (where, path)
        assert not seen.complaints


def test_arrow_keys_still_move_the_cursor_of_who_types(page):
    page.locator("input[name=query]").first.focus()
    page.keyboard.press("ArrowRight")
    assert shown(page) == ["step-run"]


def test_the_strip_says_where_we_are_and_leads_to_each_step(page):
    strip = page.get_by_role("list", name="All steps")
    order = steps(page)
    links = strip.get_by_role("link")
    hrefs = links.evaluate_all("all => all.map(a => a.getAttribute('href').slice(1))")
    assert hrefs == order
    for index in (12, 3, 19):
        links.nth(index).click()
        assert shown(page) == [order[index]]
        current = strip.locator("[aria-current=step]")
        assert current.evaluate_all("all => all.map(a => a.hash.slice(1))") == [order[index]]
        assert current.get_attribute("aria-label").startswith(f"{index + 1}: ")
    parts = strip.locator("[data-part]").evaluate_all("all => all.map(li => li.dataset.part)")
    assert parts == ["Text", "Embedding", "Attention", "Layer", "Model", "Meaning"]


def test_the_strip_is_one_stop_for_keys_and_arrows_lead_through_it(page):
    page.locator(".steps-next").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("End")
    assert shown(page) == steps(page)[-1:]
    page.keyboard.press("ArrowLeft")
    assert shown(page) == steps(page)[-2:-1]
    assert page.evaluate("document.activeElement.textContent") == "19"
    assert page.locator(".steps-place").get_attribute("aria-live") == "off"  # it is told once
    page.keyboard.press("Home")
    assert shown(page) == steps(page)[:1]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('.steps-strip')") is None
    next_button(page).click()
    assert page.locator(".steps-place").get_attribute("aria-live") == "polite"


def test_the_address_of_a_step_opens_it(browser, address):
    with visit(browser, f"{address}#step-scores") as seen:
        assert shown(seen.page) == ["step-scores"]
        assert seen.page.evaluate("document.activeElement.id") == "step-scores"
        assert 0 < seen.page.locator("#step-scores").bounding_box()["y"] < 300
        seen.page.locator(".md-nav__link[href$='#step-residual']").last.click()
        assert shown(seen.page) == ["step-residual"]
        current = seen.page.locator(".md-nav__link[aria-current=step]").last
        assert current.text_content().strip().startswith("Added, not replaced")
        seen.page.go_back()
        seen.page.wait_for_function("document.activeElement.id === 'step-scores'")
        assert shown(seen.page) == ["step-scores"]
        assert not seen.complaints


def test_what_is_hidden_cannot_be_reached_with_the_keyboard(page):
    next_button(page).focus()
    within = set()
    for _ in range(40):
        page.keyboard.press("Tab")
        within.add(
            page.evaluate("document.activeElement.closest('section.steps-step')?.firstChild.id")
        )
    assert within == {"step-run", None}


def test_focus_follows_where_its_step_is_left(page):
    page.locator("#step-run ~ * a").first.focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "step-ids"


def test_a_search_in_the_page_opens_what_it_finds(browser, address):
    with visit(browser, f"{address}#:~:text=Softmax%20turns%20each%20row") as seen:
        seen.page.wait_for_function("!document.querySelector('#step-weights').closest('[hidden]')")
        assert shown(seen.page) == ["step-weights"]
        assert not seen.complaints


def test_all_steps_can_be_shown(page):
    button = page.get_by_role("button", name="Show all steps")
    button.click()
    assert shown(page) == steps(page)
    assert button.get_attribute("aria-pressed") == "true"
    button.click()
    assert shown(page) == ["step-run"]


def test_nothing_moves_for_who_wants_no_motion(page):
    page.emulate_media(reduced_motion="reduce")
    next_button(page).click()
    running = "document.querySelectorAll('.steps-step')[{}].getAnimations().length"
    assert page.evaluate(running.format(1)) == 0
    page.emulate_media(reduced_motion="no-preference")
    assert (
        page.evaluate(
            f"() => {{ document.querySelector('.steps-next').click(); return {running.format(2)} }}"
        )
        == 1
    )
