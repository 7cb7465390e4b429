"""Two positions on dials, moved one by one and together, by keys and by a pointer."""

import math

import pytest

from browser import visit
from glassformer.layers.positions import SinusoidalPositions
from glassformer.views import position_dials

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("views-browser")]

PLACES, PAIRS = 23, 3


@pytest.fixture(scope="module")
def address(shelf):
    table = SinusoidalPositions(PLACES, 2 * PAIRS).table
    return shelf.page(*(position_dials(table, at=at) for at in ((3, 10), (0, 1))))


def told(distance):
    """What the picture writes for two positions that are so far apart."""
    score = sum(math.cos(distance * 10000 ** (-pair / PAIRS)) for pair in range(PAIRS))
    return f"distance {distance}, score {score:.2f}"


def shown(figure):
    return figure.locator("[data-part=told]").text_content()


def press(page, slider, key, times):
    slider.focus()
    for _ in range(times):
        page.keyboard.press(key)


def hand(figure, k):
    return figure.locator(f"[data-part=hand{k}] > g").first.get_attribute("transform")


def center(one):
    box = one.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def test_the_script_begins_with_what_python_drew(browser, address):
    with visit(browser, address, javascript=False) as seen:
        still = seen.page.locator("svg").all_text_contents()
        assert not seen.page.locator("form").first.is_visible()
    with visit(browser, address) as seen:
        seen.page.wait_for_selector("figure.live >> nth=1")
        assert seen.page.locator("svg").all_text_contents() == still


def test_moving_both_turns_all_hands_but_leaves_the_score(browser, address):
    with visit(browser, address) as seen:
        figure, other = seen.page.locator("figure").all()
        both, first = figure.locator("input[name=both]"), figure.locator("input[name=at0]")
        turned = hand(figure, 0), hand(figure, 1)
        press(seen.page, both, "ArrowRight", 5)
        assert hand(figure, 0) != turned[0]
        assert hand(figure, 1) != turned[1]
        assert shown(figure) == told(7)
        assert both.get_attribute("aria-valuetext") == f"8 and 15; {told(7)}"
        press(seen.page, both, "End", 1)
        assert figure.locator("input[name=at1]").input_value() == str(PLACES - 1)
        assert shown(figure) == told(7)
        press(seen.page, first, "ArrowLeft", 4)
        assert shown(figure) == told(11)
        assert shown(other) == told(1)


def test_a_pointer_drags_one_position_or_the_line_between_them(browser, address):
    with visit(browser, address) as seen:
        figure, mouse = seen.page.locator("figure").first, seen.page.mouse
        first, second = (figure.locator(f"[data-moves=at{k}]") for k in (0, 1))
        first.scroll_into_view_if_needed()
        (x0, y), (x1, _) = center(first), center(second)
        step = (x1 - x0) / 7
        mouse.move(x1, y)
        mouse.down()
        mouse.move(x1 + 6 * step, y)
        mouse.up()
        assert shown(figure) == told(13)
        middle = (x0 + x1) / 2
        mouse.move(middle, y)
        mouse.down()
        mouse.move(middle + 4.2 * step, y)
        mouse.up()
        assert shown(figure) == told(13)
        assert center(first)[0] == pytest.approx(x0 + 4 * step, abs=1)
        assert center(second)[0] == pytest.approx(x1 + 10 * step, abs=1)
        x0, x1 = center(first)[0], center(second)[0]
        mouse.move((x0 + x1) / 2, y)
        mouse.down()
        mouse.move((x0 + x1) / 2 + 40 * step, y)  # beyond the last position
        mouse.up()
        assert shown(figure) == told(13)
        assert figure.locator("input[name=at1]").input_value() == str(PLACES - 1)
