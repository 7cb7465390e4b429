"""The zoom through the whole transformer, by click, keys and wheel, and the picture without it."""

from pathlib import Path

import pytest
import torch

from browser import visit
from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.views import head_activations, whole
from tables import table

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("views-browser")]

SCRIPT = Path(__file__).parents[3] / "docs/assets/js/whole.js"
NAMES = ["Model", "Layer", "Attention", "Head", "Score", "Product"]


@pytest.fixture(scope="module")
def address(shelf):
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=23, d_model=24, num_heads=6, num_layers=5, d_ff=31, initializer_range=0.5
    )
    ids, tokens = torch.tensor([[3, 5, 7, 11]]), list("abcd")
    models = {"Encoder": TransformerEncoder(config), "Decoder": TransformerForCausalLM(config)}
    view = whole(
        {name: head_activations(model.eval(), ids, tokens=tokens) for name, model in models.items()}
    )
    return shelf.page(view, f"<script>{SCRIPT.read_text(encoding='utf-8')}</script>")


def shown(page):
    """The numbers of the levels that can be seen."""
    names = page.locator(".level .name b").all()
    return [int(name.text_content()) for name in names if name.is_visible()]


def test_without_scripts_all_levels_of_a_kind_are_seen_and_another_kind_can_be_chosen(
    browser, address
):
    with visit(browser, address, javascript=False) as seen:
        assert shown(seen.page) == [1, 2, 3, 4, 5, 6]
        assert "5 layers" in seen.page.locator('.kind[data-kind="0"] svg').first.text_content()
        seen.page.get_by_role("radio", name="Decoder").check()
        assert shown(seen.page) == [1, 2, 3, 4, 5, 6]
        assert "Next token" in seen.page.locator(".kind:visible svg").first.text_content()
    with visit(browser, address) as seen:
        seen.page.emulate_media(media="print")
        assert shown(seen.page) == [1, 2, 3, 4, 5, 6]
        assert not seen.page.locator(".zoom").is_visible()


def test_a_frame_opens_the_next_level_and_keys_go_on_from_there(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        page.emulate_media(reduced_motion="reduce")
        assert shown(page) == [1]
        page.locator(".level.now:visible .door circle").click()
        assert shown(page) == [2]
        page.keyboard.press("ArrowRight")
        page.keyboard.press("+")
        assert shown(page) == [4]
        page.keyboard.press("End")
        assert shown(page) == [6]
        page.keyboard.press("ArrowRight")
        assert shown(page) == [6]
        page.keyboard.press("Home")
        page.keyboard.press("-")
        assert shown(page) == [1]
        assert not seen.complaints


def test_buttons_name_the_levels_and_say_where_one_is(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        places = page.locator(".zoom ol button")
        assert [place.locator("span").text_content() for place in places.all()] == NAMES
        places.nth(3).click()
        assert shown(page) == [4]
        assert places.nth(3).get_attribute("aria-current") == "step"
        page.get_by_role("radio", name="Decoder").check()  # another kind, at the same level
        assert shown(page) == [4]
        assert "a mask hides the later words" in page.locator(".says:visible").text_content()
        page.get_by_role("radio", name="Encoder").check()
        page.get_by_role("button", name="Farther").click()
        assert shown(page) == [3]
        assert page.locator("[aria-live]").text_content() == "3 of 6: The attention of this layer"


def test_the_wheel_scrolls_the_page_until_the_picture_was_clicked(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        page.emulate_media(reduced_motion="reduce")
        svg = page.locator(".level.now:visible svg").bounding_box()
        page.mouse.move(svg["x"] + 20, svg["y"] + 20)
        page.evaluate("addEventListener('wheel', () => { window.turned = true; })")
        page.mouse.wheel(0, -100)
        page.wait_for_function("window.turned")
        assert shown(page) == [1]
        page.mouse.click(svg["x"] + 20, svg["y"] + 20)
        page.mouse.wheel(0, -100)
        page.wait_for_function("document.querySelector('.level.now .name b').textContent === '2'")


def test_a_zoom_leaves_nothing_behind(browser, address):
    with visit(browser, address) as seen:
        seen.page.get_by_role("button", name="Closer", exact=False).first.click()
        seen.page.wait_for_function("!document.querySelector('.ghost')")
        assert shown(seen.page) == [2]


@table("width", [320, 390, 1280])
def test_nothing_is_wider_than_the_window(browser, address, width):
    with visit(browser, address, width=width) as seen:
        for place in range(6):
            seen.page.locator(".zoom ol button").nth(place).click()
            wide = seen.page.evaluate("document.documentElement.scrollWidth - innerWidth")
            assert wide <= 0, f"level {place + 1}"


def test_boxes_inside_the_frame_lead_to_their_chapters(browser, address):
    with visit(browser, address) as seen:
        page = seen.page
        page.emulate_media(reduced_motion="reduce")
        for level in (1, 2):
            box = page.locator(
                '.level.now:visible a[href="../encoder/attention/"] .box'
            ).bounding_box()
            hit = page.evaluate(
                "([x, y]) => document.elementFromPoint(x, y).closest('a').getAttribute('href')",
                [box["x"] + box["width"] / 2, box["y"] + box["height"] / 4],
            )
            assert hit == "../encoder/attention/", f"level {level}"
            page.locator(".level.now:visible .door circle").click()
