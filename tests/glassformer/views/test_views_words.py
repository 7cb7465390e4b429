"""Words that are long, or run from right to left, or are drawn of several signs, in a browser."""

import shutil
from pathlib import Path

import pytest
import torch
from torch import nn

from browser import launched, served, visit
from glassformer.views import (
    arcs,
    flow,
    head_view,
    heatmap,
    model_view,
    neuron_view,
    strips,
)
from tables import table

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("views-browser")]

FAMILY = "👩\u200d👩\u200d👧\u200d👦"
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
TOKENS = ["[CLS]", LONG, "שלום", "مرحبا", FAMILY, "🇮🇱", "नमस्ते", "x" * 80, "日本語" * 5, "[SEP]"]
ASSETS = Path(__file__).parents[3] / "docs/assets/fonts"
FONTS = {
    "Book": "source-serif-4-latin-400-normal.woff2",
    "Sans": "source-sans-3-latin-wght-normal.woff2",
}
LAYERS, HEADS, SEQ, HEAD_DIM = 2, 3, len(TOKENS), 5

# Boxes of all words that can be seen, of what stands beside them, and of the picture.
BOXES = """(view, [words, others]) => {
  const root = view.shadowRoot ?? view;
  const box = e => {
    const b = e.getBoundingClientRect();
    return [b.left, b.top, b.right, b.bottom];
  };
  const seen = what => [...root.querySelectorAll(what)]
    .filter(e => e.checkVisibility({ visibilityProperty: true }));
  return {
    words: seen(words).map(box),
    others: seen(others).map(box),
    frame: box(root.querySelector('svg')),
    texts: seen(words).map(e => e.firstChild.data),
  };
}"""


def make_tape():
    torch.manual_seed(0)
    made = {}
    for i in range(LAYERS):
        query, key = torch.randn(2, 1, HEADS, SEQ, HEAD_DIM)
        made[f"layers.{i}.attention.query"] = query
        made[f"layers.{i}.attention.key"] = key
        made[f"layers.{i}.attention.weights"] = (query @ key.mT).softmax(-1)
    return made


class Named(nn.Module):
    """Linear maps in a row that are called what the tokens are."""

    def __init__(self):
        super().__init__()
        self.parts = nn.ModuleDict({token: nn.Linear(HEAD_DIM, HEAD_DIM) for token in TOKENS})

    def forward(self, hidden):
        for part in self.parts.values():
            hidden = part(hidden)
        return hidden


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("words")
    tape = make_tape()
    weights = [tape[f"layers.{i}.attention.weights"] for i in range(LAYERS)]
    views = {
        "head": head_view(weights, TOKENS),
        "neuron": neuron_view(tape, TOKENS),
        "model": model_view(weights, TOKENS),
        "heatmap": heatmap(weights[0][0, 0], TOKENS, TOKENS),
        "strips": strips({"query": tape["layers.0.attention.query"][0, 0]}, TOKENS),
        "arcs": arcs({"head": weights[0][0, 0]}, TOKENS, caption="A head"),
        "flow": flow(Named(), torch.randn(1, HEAD_DIM), caption="A run"),
    }
    page = '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
    page += 'content="width=device-width,initial-scale=1"><style>'
    page += ":root{--serif:Book,serif}body{font-family:Sans}"
    for name, font in FONTS.items():
        page += f"@font-face{{font-family:{name};src:url({font})}}"
        shutil.copy(ASSETS / font, folder)
    page += "</style><body>"
    for name, view in views.items():
        markup = view._repr_html_()
        if hasattr(view, "_repr_page_"):
            markup, files = view._repr_page_()
            for file, path in files.items():
                shutil.copy(path, folder / file)
        page += f'<section id="{name}">{markup.replace("asset://", "")}</section>'
    (folder / "index.html").write_text(page, encoding="utf-8")
    with served(folder) as address:
        yield address


WINDOWS = table("width", [320, 1280])


@pytest.fixture(scope="module")
def pages(site):
    """The page in a narrow window and in a wide one, with all its views drawn."""
    with (
        launched() as browser,
        visit(browser, site, width=320) as narrow,
        visit(browser, site, width=1280) as wide,
    ):
        pages = {320: narrow.page, 1280: wide.page}
        for page in pages.values():
            for name in ("head", "neuron", "model"):
                page.locator(f"#{name} glassformer-view").scroll_into_view_if_needed()
                page.wait_for_selector(f"#{name} glassformer-view[data-state=drawn]")
            page.evaluate("document.fonts.ready")
        yield pages


def apart(one, other):
    """Whether two boxes share nothing.

    A letter may hang over by a pixel, and a tenth of a line above and below its letters is white.
    """
    white = 0.1 * (one[3] - one[1] + other[3] - other[1])
    return (
        one[2] <= other[0] + 1
        or other[2] <= one[0] + 1
        or one[3] <= other[1] + white
        or other[3] <= one[1] + white
    )


def legible(page, where, words, others, count):
    found = page.locator(where).evaluate(BOXES, [words, others])
    boxes, frame = found["words"], found["frame"]
    assert len(boxes) == count
    assert found["others"]
    for i, box in enumerate(boxes):
        assert frame[0] - 1 <= box[0] < box[2] <= frame[2] + 1, found["texts"][i]
        for other in boxes[i + 1 :] + found["others"]:
            assert apart(box, other), found["texts"][i]
    return found["texts"]


@WINDOWS
def test_words_of_the_head_view_are_apart(pages, width):
    page = pages[width]
    texts = legible(
        page, "#head glassformer-view", "#left text, #right text", "#attention", 2 * SEQ
    )
    assert texts[:SEQ] == texts[SEQ:]
    assert [text for text in texts[:SEQ] if "…" not in text] == [
        t for t in TOKENS if t not in (LONG, "x" * 80, "日本語" * 5)
    ]
    whole = page.locator("#head #left title").all_text_contents()
    assert whole == [LONG, "x" * 80, "日本語" * 5]


@WINDOWS
def test_words_of_the_neuron_view_are_apart(pages, width):
    page = pages[width]
    legible(
        page,
        "#neuron glassformer-view",
        "#collapsed text.token",
        "#collapsed [data-marks], #collapsed .plus-sign",
        2 * SEQ,
    )


@WINDOWS
def test_words_of_the_model_view_are_apart(pages, width):
    page = pages[width]
    page.locator("#model [data-thumbnail='0']").click()
    legible(page, "#model glassformer-view", "text.token", ".detail[data-marks]", 2 * SEQ)


@WINDOWS
def test_rows_of_a_heatmap_are_apart(pages, width):
    """Its columns' words are tilted, so that their boxes say nothing."""
    page = pages[width]
    legible(page, "#heatmap", ".word[text-anchor=end]", "rect", SEQ)


@WINDOWS
def test_rows_of_strips_are_apart(pages, width):
    page = pages[width]
    legible(page, "#strips", ".word[text-anchor=end]", ".p, .n", 2 * SEQ)  # and their lengths


@WINDOWS
def test_words_that_arcs_join_are_apart(pages, width):
    page = pages[width]
    texts = legible(page, "#arcs", ".word", "figcaption", SEQ)
    assert [text for text in texts if "…" not in text] == [
        t for t in TOKENS if t not in (LONG, "x" * 80, "日本語" * 5)
    ]


@WINDOWS
def test_modules_of_a_flow_are_apart_and_have_their_names(pages, width):
    page = pages[width]
    texts = legible(page, "#flow", "text:not(.small)", "figcaption", 1 + SEQ)
    assert [text.removeprefix("parts.") for text in texts] == ["hidden", *TOKENS]


@WINDOWS
def test_no_view_sticks_out_of_the_page(pages, width):
    """Where one is wider than the window, it scrolls by itself."""
    page = pages[width]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for name in ("heatmap", "strips", "arcs", "flow"):
        assert page.locator(f"#{name}").evaluate(
            "view => view.getBoundingClientRect().right <= innerWidth"
        ), name


def test_in_a_sentence_no_word_turns_what_stands_beside_it():
    """Else, of two words from right to left, the second would be read as the first."""
    apart = "\u2068שלום\u2069 → \u2068مرحبا\u2069: 0.25"
    pair = ["שלום", "مرحبا"]
    assert apart in heatmap(torch.full((2, 2), 0.25), pair, pair).html
    said = arcs({"head": torch.tensor([[0.25, 0.75]] * 2)}, pair).html
    assert "\u2068שלום\u2069 gives 0.75 to \u2068مرحبا\u2069, 0.25 to itself" in said
    assert "\u2068" not in heatmap(torch.ones(1, 1), ["time"], ["日本語"]).html
