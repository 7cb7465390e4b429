"""Words that are long, or run from right to left, or are drawn of several signs, in a browser."""

import shutil
from pathlib import Path

import pytest
import torch
from drawings import make_tape
from torch import nn

from browser import visit
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
LAYERS, SEQ, HEAD_DIM = 2, len(TOKENS), 5

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
def site(shelf):
    torch.manual_seed(0)
    tape = make_tape(SEQ, layers=LAYERS, head_dim=HEAD_DIM)
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
    head = '<meta name="viewport" content="width=device-width,initial-scale=1"><style>'
    head += ":root{--serif:Book,serif}body{font-family:Sans}"
    for name, font in FONTS.items():
        head += f"@font-face{{font-family:{name};src:url({font})}}"
        shutil.copy(ASSETS / font, shelf.folder)
    parts = [f'<section id="{n}">{shelf.markup(view)}</section>' for n, view in views.items()]
    return shelf.page(*parts, head=f"{head}</style>")


WINDOWS = table("width", [320, 1280])


@pytest.fixture(scope="module")
def pages(site, browser):
    """The page in a narrow window and in a wide one, with all its views drawn."""
    with (
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


CUT = (LONG, "x" * 80, "日本語" * 5)
WHERE = {  # words, what stands beside them, and how many words there are
    "head": ("#left text, #right text", "#attention", 2 * SEQ),
    "neuron": ("#collapsed text.token", "#collapsed [data-marks], #collapsed .plus-sign", 2 * SEQ),
    "model": ("text.token", ".detail[data-marks]", 2 * SEQ),
    "heatmap": (".word[text-anchor=end]", "rect", SEQ),  # those of columns are tilted
    "strips": (".word[text-anchor=end]", ".p, .n", 2 * SEQ),  # and their lengths
    "arcs": (".word", "figcaption", SEQ),
    "flow": ("text:not(.small)", "figcaption", 1 + SEQ),
}


@WINDOWS
@table("name", WHERE)
def test_words_are_apart_and_whole_or_cut(pages, width, name):
    page = pages[width]
    view = f"#{name} glassformer-view" if name in ("head", "neuron", "model") else f"#{name}"
    if name == "model":
        page.locator("#model [data-thumbnail='0']").click()
    texts = legible(page, view, *WHERE[name])
    if name in ("head", "arcs"):
        assert [text for text in texts[:SEQ] if "…" not in text] == [
            t for t in TOKENS if t not in CUT
        ]
    if name == "head":
        assert texts[:SEQ] == texts[SEQ:]
        assert page.locator("#head #left title").all_text_contents() == [*CUT]
    if name == "flow":
        assert [text.removeprefix("parts.") for text in texts] == ["hidden", *TOKENS]
    if name == "model":
        page.locator("#model [data-thumbnail='0']").click()


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
