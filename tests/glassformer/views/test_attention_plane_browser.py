"""The query of an attention in the plane, moved by keys and by a pointer."""

import pytest
import torch

from browser import visit
from glassformer.views import attention_plane

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("views-browser")]

KEY = torch.tensor([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0]])
VALUE = torch.tensor([[1.0, 1.0], [1.0, 3.0], [0.0, -1.0]])
WORDS = ["time", "flies", "fast"]


@pytest.fixture(scope="module")
def address(shelf):
    query = KEY.flip(1)
    return shelf.page(*(attention_plane(query, KEY, VALUE, WORDS, asks=k) for k in (0, 1)))


def told(figure, part):
    """What a part of the picture writes, as numbers."""
    texts = figure.locator(f"[data-part={part}] text").all_text_contents()
    return [float(text.replace("−", "-")) for text in texts]


def is_of(figure, query):
    """Whether scores and weights are those of a query, to the digits that are shown."""
    scores = KEY @ torch.tensor(query) / 2**0.5
    assert told(figure, "scores") == pytest.approx(scores.tolist(), abs=0.00501)
    assert told(figure, "weights") == pytest.approx(scores.softmax(0).tolist(), abs=0.00501)
    x, y = (scores.softmax(0) @ VALUE).tolist()
    given = figure.locator("[data-part=given]").text_content()
    assert given == f"output ({x:.2f}, {y:.2f})".replace("-", "−")


def test_the_script_begins_with_what_python_drew(browser, address):
    with visit(browser, address, javascript=False) as seen:
        still = seen.page.locator("svg").all_text_contents()
        assert not seen.page.locator("form").first.is_visible()
    with visit(browser, address) as seen:
        figures = seen.page.locator("figure")
        seen.page.wait_for_selector("figure.live >> nth=1")
        assert seen.page.locator("svg").all_text_contents() == still
        is_of(figures.nth(0), [0.0, 1.0])
        is_of(figures.nth(1), [2.0, 1.0])


def test_keys_move_one_query_and_a_screen_reader_hears_the_weights(browser, address):
    with visit(browser, address) as seen:
        first, second = seen.page.locator("figure").all()
        slider = first.locator("input[name=x]")
        slider.focus()
        for _ in range(7):
            seen.page.keyboard.press("ArrowLeft")
        is_of(first, [-0.7, 1.0])
        is_of(second, [2.0, 1.0])
        heard = slider.get_attribute("aria-valuetext")
        assert heard.startswith("−0.70; weights: time 0.12, flies 0.49, fast 0.39; output (")


def test_a_pointer_drags_the_query_and_lets_it_go(browser, address):
    with visit(browser, address) as seen:
        figure, mouse = seen.page.locator("figure").first, seen.page.mouse
        handle = figure.locator(".handle")
        handle.scroll_into_view_if_needed()
        box = handle.bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        origin = figure.locator("[data-part=query] .line").evaluate(
            "one => { const p = one.getPointAtLength(0).matrixTransform(one.getScreenCTM());"
            " return [p.x, p.y]; }"
        )
        unit = origin[1] - y  # the query is (0, 1)
        mouse.move(x, y)
        mouse.down()
        mouse.move(origin[0] + 1.3 * unit, origin[1] - 0.6 * unit)
        is_of(figure, [1.3, 0.6])
        assert handle.bounding_box()["x"] + box["width"] / 2 == pytest.approx(
            origin[0] + 1.3 * unit, abs=1
        )
        mouse.up()
        mouse.move(origin[0] + 1.5 * unit, origin[1] - 0.6 * unit)  # still on the handle
        is_of(figure, [1.3, 0.6])
