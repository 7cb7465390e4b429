"""Pictures in steps, in a browser: whole until a reader steps through them, and as they ask."""

import pytest

from browser import visit
from glassformer.views.drawing import picture, text
from glassformer.views.steps import step, stepped

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("views-browser")]

SENTENCES = ["First a.", "Then b.", "At last c."]
SEEN = """() => [...document.querySelectorAll('svg text')]
  .filter(one => getComputedStyle(one).visibility === 'visible' &&
                 getComputedStyle(one.parentNode).opacity > 0.5)
  .map(one => one.textContent).join('')"""


@pytest.fixture(scope="module")
def address(shelf):
    parts = [step(k, text(20 * k, 20, letter)) for k, letter in enumerate("abc", 1)]
    view = stepped(
        picture(parts, 300, 40), SENTENCES, ["what"], [["a"], ["b"], ["c"]], name="Three letters"
    )
    return shelf.page(view)


def told(page):
    """The sentences that can be seen."""
    return [one.text_content() for one in page.locator("ol > li").all() if one.is_visible()]


def is_still(page):
    page.wait_for_function("document.getAnimations().every(one => one.playState !== 'running')")


def test_next_shows_a_step_and_its_sentence_and_ends_with_the_whole(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        after = [("abc", SENTENCES)]
        for _ in range(4):
            page.locator(".next").click()
            is_still(page)
            after.append((page.evaluate(SEEN), told(page)))
        assert after[1:4] == [("a", SENTENCES[:1]), ("ab", SENTENCES[1:2]), ("abc", SENTENCES[2:])]
        assert after[4] == after[0]


def test_keys_step_on_and_back_from_any_button(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        page.locator(".next").focus()
        for key, place in [
            ("ArrowRight", "Step 1 of 3"),
            ("ArrowRight", "Step 2 of 3"),
            ("ArrowLeft", "Step 1 of 3"),
            ("ArrowLeft", "3 steps"),
            ("ArrowLeft", "3 steps"),
        ]:
            page.keyboard.press(key)
            assert page.locator(".bar > span").first.text_content() == place


def test_play_stops_with_the_last_step_or_when_another_is_asked_for(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        page.clock.install()
        page.reload()
        page.locator(".play").click()
        said = [page.locator(".told").text_content()]
        for _ in range(4):
            page.clock.run_for(2600)
            said.append(page.locator(".told").text_content())
        assert said == [*SENTENCES, SENTENCES[-1], SENTENCES[-1]]
        assert page.locator(".play").get_attribute("aria-label") == "Play the steps"
        page.reload()
        page.locator(".play").click()
        page.locator(".back").click()
        page.clock.run_for(30_000)
        assert page.locator(".bar > span").first.text_content() == "3 steps"


def test_who_prefers_less_motion_gets_no_play_and_no_transition(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        assert page.locator(".play").is_visible()
        page.emulate_media(reduced_motion="reduce")
        assert not page.locator(".play").is_visible()
        page.locator(".next").click()
        assert page.evaluate("document.getAnimations().length") == 0
        assert page.evaluate(SEEN) == "a"


def test_without_scripts_and_on_paper_all_of_it_is_there(browser, address):
    with visit(browser, address, javascript=False) as seen:
        assert seen.page.evaluate(SEEN) == "abc"
        assert told(seen.page) == SENTENCES
        assert seen.page.locator("button").count() == 0
    with visit(browser, address) as seen:
        page = seen.page
        page.locator(".next").click()
        page.emulate_media(media="print")
        is_still(page)
        assert page.evaluate(SEEN) == "abc"
        assert told(page) == SENTENCES
        assert not page.locator(".bar").is_visible()
