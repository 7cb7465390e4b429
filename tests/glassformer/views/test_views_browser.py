"""What a real browser draws, read back from the page and compared with the weights in Python."""

import json
import re

import pytest
import torch
from drawings import make_tape

from browser import visit
from glassformer.views import cross_view, head_view, heatmap, model_view, neuron_view
from tables import table

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("views-browser")]

LAYERS, HEADS, SEQ, HEAD_DIM = 2, 3, 7, 5
TOKENS = ["[CLS]", "</script>", "שלום", "🦆", "日本語", "Donaudampfschifffahrt", "[SEP]"]
WORDS = [f"word{i}" for i in range(13)]
TARGET = ["[START]", "This", "is", "an", "🦆"]
STEP = 1 / 510 + 1e-6  # half of one of 255 steps
SHADE = 4 / 64  # as a value whose cell is off by one of 64 shades

WINDOWS = table("width", [360, 1280])
THEMES = table("dark", [False, True])


def weights_of(tape):
    return [tape[f"layers.{i}.attention.weights"] for i in range(LAYERS)]


@pytest.fixture(scope="module")
def tapes():
    """Three different recordings, so that a view that shows another's numbers is found out."""
    torch.manual_seed(0)
    return [make_tape(SEQ, layers=LAYERS, head_dim=HEAD_DIM) for _ in range(3)]


@pytest.fixture(scope="module")
def views(tapes):
    """Every kind of view, some twice, no two with the same numbers, in no particular order."""
    first, second, third = map(weights_of, tapes)
    return {
        "neuron": neuron_view(tapes[0], TOKENS, layer=1, head=2),
        "head": head_view(second, TOKENS, heads=[1], layer=1, sentence_b_start=3),
        "heatmap": heatmap(first[0][0, 0], TOKENS, TOKENS, caption="A heatmap"),
        "model": model_view(third, TOKENS, sentence_b_start=3),
        "heads": head_view(first, TOKENS),
        "neuron2": neuron_view(tapes[1], TOKENS, sentence_b_start=3),
        "model2": model_view(second, TOKENS),
        "cross": cross_view(
            across(first),
            TARGET,
            TOKENS,
            decoder_attentions=of_target(third),
            encoder_attentions=second,
            layer=1,
        ),
    }


def of_target(weights):
    """Attention of the target's words to each other, made of a longer one's."""
    return [w[..., : len(TARGET), : len(TARGET)] for w in weights]


def across(weights):
    """Attention of the target's words to the source, made of a longer one's."""
    return [w[..., : len(TARGET), :] for w in weights]


HEAD = """<meta name="viewport" content="width=device-width,initial-scale=1"><style>
:root{color-scheme:light dark}
body{margin:0;padding:16px;font:16px/1.6 sans-serif;background:#fff;color:#212121}
main{max-width:690px;margin:auto}
@media (prefers-color-scheme:dark){body{background:#1e2129;color:#d0d2d8}}
body[data-md-color-scheme=default]{background:#fff;color:#212121}
body[data-md-color-scheme=slate]{background:#1e2129;color:#d0d2d8}
</style><body><main>"""


@pytest.fixture(scope="module")
def site(views, shelf):
    """Serves a page with all views, and one with a view far below the window."""

    def page(name, *parts):
        shelf.page(*parts, name=name, head=HEAD)

    page("all.html", *sections(shelf, views))
    far_down = '<div style="height:5000px">Prose.</div>'
    page("far.html", far_down, *sections(shelf, {"head": views["head"]}))
    page("empty.html", '<section id="head"></section>')
    big = [torch.full((1, 12, 13, 13), 1 / 13)] * 6
    large = {"head": head_view(big, WORDS, sentence_b_start=7)}
    large["model"] = model_view(big, WORDS, sentence_b_start=7)
    page("large.html", *sections(shelf, large))
    page("notebook.html", *(views[name]._repr_html_() for name in ("neuron", "head")))
    return shelf.address


def sections(shelf, views):
    return [
        f'<section id="{name}">{shelf.markup(view)}</section><p class="after">Prose.</p>'
        for name, view in views.items()
    ]


def drawn(page, name):
    """Scrolls to a view and waits until it has been drawn."""
    view = page.locator(f"#{name} glassformer-view")
    view.scroll_into_view_if_needed()
    page.wait_for_selector(f"#{name} glassformer-view[data-state=drawn]", timeout=20_000)
    return view


def clean(seen):
    """No request left the host, nothing was complained about."""
    assert seen.foreign == []
    assert seen.complaints == []


# What a reader sees of the paths below an element: the color, opacity and places of each part.
# Lines of one look are one path, and so are cells. As text, which comes back much sooner.
PARTS = """(el, where) => JSON.stringify(
  [...el.shadowRoot.querySelectorAll(`${where} path`)].flatMap(path => {
    const style = getComputedStyle(path);
    if (style.visibility !== 'visible') return [];
    const paint = style.fill === 'none' ? 'stroke' : 'fill';
    const [color, opacity] = [style[paint], +style[`${paint}Opacity`]];
    const parts = path.getAttribute('d').match(/M[^M]+/g).map(part => part.match(/-?[\\d.]+/g));
    return parts.map(part => [color, opacity, part.map(Number)]);
  }))"""
COLORS = ["rgb(31, 119, 180)", "rgb(255, 127, 14)", "rgb(44, 160, 44)"]  # of d3, in its order


def drawn_parts(view, where):
    return json.loads(view.evaluate(PARTS, where))


def head_lines(view):
    """Every line of a head view that is seen: its head, query, key and opacity."""
    return [
        (COLORS.index(color), (y1 - 30) / 22.5 - 0.5, (y2 - 30) / 22.5 - 0.5, opacity)
        for color, opacity, (_, y1, _, y2) in drawn_parts(view, "#attention")
    ]


def neuron_lines(view):
    """Every line of a neuron view without its queries and keys."""
    return [
        (0, (y1 - 42) / 26 - 0.5, (y2 - 42) / 26 - 0.5, opacity)
        for _, opacity, (_, y1, _, y2) in drawn_parts(view, "#collapsed [data-marks]")
    ]


def model_lines(view):
    """Every small picture, by layer and head: its lines as a matrix of their opacities.

    They are drawn in shades; a shade is that of the root of the weight, to a 64th. A line is an
    outline, from the upper left corner to the right, and as high as its fifth number says.
    """
    frames = view.locator("rect.attn_background").evaluate_all(
        "rects => rects.map(r => ['x', 'y', 'width', 'height'].map(a => +r.getAttribute(a)))"
    )
    parts = drawn_parts(view, "svg > [data-marks]")
    box = 7 * 12 / HEADS
    return {
        (round((y - 38) / high), round((x - 38) / wide)): matrix(
            [
                (0, (y1 - first) / box, (y2 - first) / box, opacity**0.5)
                for color, opacity, (x1, y1, _, y2, thick, *_) in parts
                for first in [y + 5 + box / 2 - thick / 2]
                if x < x1 < x + wide and y < y1 + thick / 2 < y + high
            ],
            *(1, SEQ, SEQ),
        )[0]
        for x, y, wide, high in frames
    }


def matrix(lines, heads, queries, keys):
    """Lines as a tensor (heads, queries, keys); what has no line is zero."""
    seen = torch.zeros(heads, queries, keys)
    for head, query, key, opacity in lines:
        place = round(head), round(query), round(key)
        assert abs(query - place[1]) + abs(key - place[2]) < 1e-3
        seen[place] = opacity
    return seen


def same(seen, weights, divisor=1):
    torch.testing.assert_close(seen, weights / divisor, rtol=0, atol=STEP / divisor)


@WINDOWS
@THEMES
def test_every_view_draws_its_own_weights(site, browser, tapes, width, dark):
    first, second, third = map(weights_of, tapes)
    with visit(browser, f"{site}all.html", width=width, dark=dark) as seen:
        page = seen.page
        # From the last to the first: the order of drawing is not that of the page.
        model2 = model_lines(drawn(page, "model2"))
        neuron2 = neuron_lines(drawn(page, "neuron2"))
        heads = head_lines(drawn(page, "heads"))
        model = model_lines(drawn(page, "model"))
        head = head_lines(drawn(page, "head"))
        neuron = neuron_lines(drawn(page, "neuron"))
        overflow = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        added = page.evaluate(
            "['d3', '$', 'jQuery', 'require', 'define', 'bertviz_params'].filter(n => n in window)"
        )
        ids = page.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        clean(seen)
    assert added == []  # the page itself is left alone
    assert len(ids) == len(set(ids))
    same(matrix(neuron, 1, SEQ, SEQ)[0], first[1][0, 2])
    same(matrix(neuron2, 1, SEQ, SEQ)[0], second[0][0, 0])
    same(matrix(heads, HEADS, SEQ, SEQ), first[0][0], divisor=HEADS)
    one = matrix(head, HEADS, SEQ, SEQ)
    same(one[1], second[1][0, 1])
    assert not one[[0, 2]].any()
    for thumbnails, weights in ((model, third), (model2, second)):
        assert sorted(thumbnails) == [(i, h) for i in range(LAYERS) for h in range(HEADS)]
        for (layer, place), roots in thumbnails.items():
            shades = (64 * weights[layer][0, place].mul(255).round().div(255).sqrt()).round() / 64
            torch.testing.assert_close(roots, shades, rtol=0, atol=1e-6)
    assert overflow <= 0
    names = [url.rpartition("/")[2] for url in seen.requests]
    assert len(names) == len(set(names)), "each script is asked for once"


def test_the_cross_view_draws_all_three_attentions(site, browser, tapes):
    first, second, third = map(weights_of, tapes)
    wanted = {"3": across(first), "1": of_target(third), "2": second}
    texts = {"3": (TARGET, TOKENS), "1": (TARGET, TARGET), "2": (TOKENS, TOKENS)}
    with visit(browser, f"{site}all.html") as seen:
        view = drawn(seen.page, "cross")
        filters = view.locator("#filter option").evaluate_all("os => os.map(o => o.value)")
        for choice in filters:  # the first as it stands
            if choice != filters[0]:
                view.locator("#filter").select_option(choice)
            weights, (left, right) = wanted[choice][1][0], texts[choice]
            lines = head_lines(view)
            same(matrix(lines, HEADS, len(left), len(right)), weights, divisor=HEADS)
            shown = [view.locator(f"#{side} text").count() for side in ("left", "right")]
            assert shown == [len(left), len(right)]
        clean(seen)
    assert filters == ["3", "1", "2"]


# The contrast, by WCAG's formula, of each head's number with the square that it stands in.
CONTRASTS = """el => [...el.shadowRoot.querySelectorAll("[aria-checked=true]")].map(box => {
  const light = color => color.match(/[\\d.]+/g).slice(0, 3).map(n => n / 255)
    .map(c => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0.05);
  const pair = [box, box.nextElementSibling].map(each => light(getComputedStyle(each).fill));
  return Math.max(...pair) / Math.min(...pair);
})"""


@WINDOWS
@THEMES
@table("switch", ["system", "material"])
def test_words_can_be_read(site, browser, width, dark, switch):
    """Words and lines stand out, by the system's theme or by Material's against the system's."""
    system = dark if switch == "system" else not dark
    with visit(browser, f"{site}all.html", width=width, dark=system) as seen:
        page = seen.page
        if switch == "material":
            scheme = "slate" if dark else "default"
            page.evaluate(f"document.body.dataset.mdColorScheme = '{scheme}'")
        paper = 33 if dark else 255
        for name in ("neuron", "head", "model", "heads", "neuron2"):
            texts = drawn(page, name).evaluate(
                """el => [...el.shadowRoot.querySelectorAll('svg text:not(.head-number)')]
                .map(t => getComputedStyle(t).fill)"""
            )
            assert len(texts) >= 2 * SEQ or name == "model"
            assert all(far(colour, paper) for colour in texts)
        contrasts = page.locator("#heads glassformer-view").evaluate(CONTRASTS)
        assert len(contrasts) == HEADS
        assert min(contrasts) >= 4.5
        for name in ("neuron", "neuron2"):
            lines = page.locator(f"#{name} #collapsed [data-marks] path")
            stroke = lines.first.evaluate("line => getComputedStyle(line).stroke")
            assert stroke == ("rgb(74, 130, 230)" if dark else "rgb(31, 79, 181)")
        cell = page.locator("#heatmap rect.p").first.evaluate("r => getComputedStyle(r).fill")
        assert cell == ("rgb(59, 109, 204)" if dark else "rgb(91, 134, 229)")
        clean(seen)


def far(colour, paper):
    """Whether a colour is far from the paper's grey."""
    return all(abs(int(c) - paper) > 140 for c in re.findall(r"\d+", colour)[:3])


def test_sentences_heads_and_layers_are_chosen(site, browser, tapes):
    second = weights_of(tapes[1])
    with visit(browser, f"{site}all.html") as seen:
        view = drawn(seen.page, "head")
        assert view.locator("#filter option").all_text_contents() == [
            "All",
            "Sentence A → Sentence A",
            "Sentence B → Sentence B",
            "Sentence A → Sentence B",
            "Sentence B → Sentence A",
        ]
        a, b = slice(0, 3), slice(3, SEQ)
        for value, rows, columns in (("1", a, a), ("2", b, b), ("3", a, b), ("4", b, a)):
            view.locator("#filter").select_option(value)
            part = second[1][0, 1, rows, columns]
            same(matrix(head_lines(view), HEADS, *part.shape)[1], part)
        view.locator("#filter").select_option("0")
        view.locator("#layer").select_option("0")
        same(matrix(head_lines(view), HEADS, SEQ, SEQ)[1], second[0][0, 1])
        view.locator("[role=checkbox]").nth(2).click()
        two = matrix(head_lines(view), HEADS, SEQ, SEQ)
        same(two[1:], second[0][0, 1:], divisor=2)
        assert not two[0].any()
        checked = view.locator("[role=checkbox]").evaluate_all(
            "boxes => boxes.map(box => box.getAttribute('aria-checked'))"
        )
        assert checked == ["false", "true", "true"]

        seen.page.mouse.move(2, 2)  # away from words, whose lines it would show alone
        neuron = drawn(seen.page, "neuron2")
        neuron.locator("#layer").select_option("1")
        neuron.locator("#att_head").select_option("2")
        neuron.locator("#filter").select_option("ab")
        same(matrix(neuron_lines(neuron), 1, 3, 4)[0], second[1][0, 2, :3, 3:])
        clean(seen)


# Colors of what is positive and negative, in light pages; cells of a vector are 40 apart, words 26.
SIGNS = {"rgb(31, 79, 181)": 1, "rgb(176, 68, 11)": -1}


def cells(view, name, left, columns=HEAD_DIM):
    """What the cells of queries, keys or products show: tanh of a fourth of each value."""
    seen = torch.zeros(SEQ, columns)
    for color, opacity, (x, y, width, *_) in drawn_parts(view, f"#expanded #{name}"):
        if color in SIGNS and width <= 40:  # not the border of a row
            seen[round((y - 42) / 26), round((x - left) / 40)] = SIGNS[color] * opacity
    return seen


def detail(view):
    """Vectors by their rows on the screen, and the sums and highlights of the chosen query."""
    return {
        "query": cells(view, "queries", 145),
        "key": cells(view, "keys", 382.5),
        "product": cells(view, "product", 607.5),
        "dot": cells(view, "dotproducts", 833.5, 1)[:, 0],
        "weight": torch.tensor(
            view.locator("#expanded #rightText .highlight").evaluate_all(
                "rects => rects.map(rect => +rect.style.opacity)"
            ),
            dtype=torch.float32,
        ),
        "shown": view.locator("#expanded").get_attribute("visibility"),
    }


@table("name, tape, layer, head", [("neuron", 0, 1, 2), ("neuron2", 1, 0, 0)])
def test_neuron_detail_shows_queries_and_keys(site, browser, tapes, name, tape, layer, head):
    query, key = (tapes[tape][f"layers.{layer}.attention.{n}"][0, head] for n in ("query", "key"))
    weights = tapes[tape][f"layers.{layer}.attention.weights"][0, head]
    with visit(browser, f"{site}all.html") as seen:
        for other in ("neuron", "neuron2"):
            drawn(seen.page, other)
        view = drawn(seen.page, name)
        button = view.get_by_role("button", name="queries and keys")
        button.click()
        assert button.get_attribute("aria-pressed") == "true"
        view.locator("#expanded #leftText text").nth(4).click()
        seen.page.mouse.move(2, 2)  # what was chosen stays
        found = detail(view)
        untouched = detail(
            seen.page.locator(f"#{'neuron2' if name == 'neuron' else 'neuron'} glassformer-view")
        )
        button.click()
        collapsed = view.locator("#collapsed").get_attribute("visibility")
        clean(seen)
    assert found["shown"] == "visible"
    assert untouched["shown"] == collapsed.replace("visible", "hidden") == "hidden"
    assert not any(untouched[what].any() for what in ("query", "key", "product", "dot"))
    half_q, half_k = (0.51 * v.abs().max().item() / 127 + 1e-3 for v in (query, key))
    off = half_q * key.abs().max().item() + half_k * query.abs().max().item() + half_q * half_k
    products, sums = query[4] * key, key @ query[4] / HEAD_DIM**0.5
    for what, values, error in (
        ("query", query, half_q + SHADE),
        ("key", key, half_k + SHADE),
        ("product", products, off + SHADE),
        ("dot", sums, HEAD_DIM**0.5 * off),
    ):
        torch.testing.assert_close(found[what], (values / 4).tanh(), rtol=0, atol=error / 4)
    same(found["weight"], weights[4])


def test_a_chosen_query_is_shown_of_another_head_and_layer_too(site, browser, tapes):
    """What is hidden is drawn when it is opened, and what is open when another is chosen."""
    with visit(browser, f"{site}all.html") as seen:
        view = drawn(seen.page, "neuron")
        button = view.get_by_role("button", name="queries and keys")
        view.locator("#att_head").select_option("0")
        for layer in (1, 0):
            view.locator("#layer").select_option(str(layer))
            if layer == 1:
                button.click()
            key = tapes[0][f"layers.{layer}.attention.key"][0, 0]
            error = (0.51 * key.abs().max().item() / 127 + 1e-3 + SHADE) / 4
            torch.testing.assert_close(detail(view)["key"], (key / 4).tanh(), rtol=0, atol=error)
        clean(seen)


def test_pointing_and_keys(site, browser):
    """A word's lines show while it is pointed at, and stay once it is clicked or has the focus."""

    def shown(view):
        return {round(query) for _, query, _, _ in head_lines(view)}

    with visit(browser, f"{site}all.html") as seen:
        page, view = seen.page, drawn(seen.page, "heads")
        words = view.locator("#left text")
        everything = shown(view)
        assert everything == set(range(SEQ))
        words.nth(2).hover()
        assert shown(view) == {2}
        page.mouse.move(2, 2)
        assert shown(view) == everything
        words.nth(3).click()
        page.mouse.move(2, 2)
        assert shown(view) == {3}
        words.nth(5).hover()
        assert shown(view) == {3}
        page.keyboard.press("ArrowDown")
        assert shown(view) == {4}
        page.keyboard.press("Escape")
        assert shown(view) == everything

        box = view.locator("[role=checkbox]").first
        box.focus()
        page.keyboard.press("Space")
        assert box.get_attribute("aria-checked") == "false"
        page.keyboard.press("Shift+Enter")
        assert box.get_attribute("aria-checked") == "true"
        assert view.locator("[aria-checked=true]").count() == 1

        model = drawn(page, "model")
        model.locator("[data-thumbnail='1']").focus()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        assert "Layer 1, Head 1" in model.locator(".detail").all_text_contents()
        clean(seen)


# Two frames are drawn, so that whoever watches for what comes into sight has looked.
TWO_FRAMES = """() => new Promise(done =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""


def test_far_views_wait_and_nothing_moves(site, browser):
    with visit(browser, f"{site}far.html", width=360) as seen:
        page = seen.page
        page.wait_for_function("!!customElements.get('glassformer-view')")
        page.evaluate(TWO_FRAMES)
        assert not any("d3" in url for url in seen.requests)
        before = page.locator(".after").bounding_box()["y"]
        drawn(page, "head")
        scrolled = page.evaluate("scrollY")
        assert any("d3" in url for url in seen.requests)
        assert page.locator(".after").bounding_box()["y"] + scrolled == pytest.approx(before, abs=1)
        clean(seen)


def test_views_put_in_later(site, browser, views, tapes):
    """As pages that replace their content do: through innerHTML, twice, the script loaded once."""
    markup = views["head"]._repr_page_()[0].replace("asset://", "")
    put = "([where, html]) => { document.querySelector(where).innerHTML = html; }"
    with visit(browser, f"{site}empty.html") as seen:
        page = seen.page
        page.add_script_tag(type="module", url=f"{site}glassformer-views.js")
        for _ in range(2):
            page.evaluate(put, ["#head", markup])
            lines = head_lines(drawn(page, "head"))
            same(matrix(lines, HEADS, SEQ, SEQ)[1], weights_of(tapes[1])[1][0, 1])
        assert sum("d3.min.js" in url for url in seen.requests) == 1
        clean(seen)


def test_the_table_is_open_where_no_picture_is_drawn(site, browser):
    """Without scripts, and on paper where the view is too far away to have been drawn."""
    with visit(browser, f"{site}all.html", javascript=False) as seen:
        for name in ("head", "model", "neuron", "cross"):
            view = seen.page.locator(f"#{name} glassformer-view")
            assert view.locator("table").is_visible()
            assert view.locator("#vis path").first.is_visible()  # the still picture
            assert not view.locator(".hint").is_visible()
        assert seen.page.locator("#heatmap svg").is_visible()
        clean(seen)
    with visit(browser, f"{site}far.html") as seen:
        page = seen.page
        page.wait_for_function("!!customElements.get('glassformer-view')")
        assert not page.locator("#head table").is_visible()
        page.emulate_media(media="print")
        assert page.locator("#head table").is_visible()
        page.emulate_media(media="screen")
        drawn(page, "head")
        page.emulate_media(media="print")
        assert not page.locator("#head table").is_visible()
        assert page.locator("#head #vis > svg").is_visible()


@table("width", [360, 390])
def test_on_a_phone_a_finger_finds_each_head_and_its_panel_is_in_sight(site, browser, width):
    with visit(browser, f"{site}large.html", width=width, touch=True) as seen:
        boxes = drawn(seen.page, "head").locator("[role=checkbox]").all()
        assert len(boxes) == 12
        assert all(min(box.bounding_box()[k] for k in ("width", "height")) >= 24 for box in boxes)
        view = drawn(seen.page, "model")
        for place in (0, 11, 60, 71):
            view.locator(f"[data-thumbnail='{place}']").tap()
            panel = view.locator("rect.detail").bounding_box()
            assert panel["x"] >= 0
            assert panel["x"] + panel["width"] <= width
            view.locator(f"[data-thumbnail='{place}']").focus()
            seen.page.keyboard.press("Enter")  # closes it
        clean(seen)


@table("touch", [False, True])
def test_hints_fit_the_hand(site, browser, touch):
    with visit(browser, f"{site}all.html", touch=touch) as seen:
        if touch:  # as Chromium says it where there is no mouse
            seen.page.context.new_cdp_session(seen.page).send(
                "Emulation.setEmulatedMedia", {"features": [{"name": "hover", "value": "none"}]}
            )
        for name in ("head", "model", "neuron", "cross"):
            hint = drawn(seen.page, name).locator(".hint").inner_text()
            assert ("Tap" in hint) is touch
            assert ("Point" in hint or "Click" in hint) is not touch
            assert not set("{}|") & set(hint)


@table("seq", [1, 128])
def test_one_word_and_many_are_drawn(browser, shelf, seq):
    tokens = [f"w{i}" for i in range(seq)]
    equal = [torch.full((1, HEADS, seq, seq), 1 / seq)]
    unusual = {
        "head": head_view(equal, tokens),
        "model": model_view(equal, tokens),
        "neuron": neuron_view(make_tape(seq), tokens),
        "cross": cross_view(
            equal, tokens, tokens, decoder_attentions=equal, encoder_attentions=equal
        ),
    }
    address = shelf.page(*sections(shelf, unusual), head=HEAD)
    with visit(browser, address, width=360) as seen:
        for kind in unusual:
            view = drawn(seen.page, kind)
            if kind != "model":
                assert view.locator("#vis [data-token]").count() >= seq
        lines = head_lines(seen.page.locator("#head glassformer-view"))
        same(matrix(lines, HEADS, seq, seq), equal[0][0], divisor=HEADS)
        assert seen.page.evaluate("document.documentElement.scrollWidth - innerWidth") <= 0
        clean(seen)


def test_notebook_frames_need_no_network(site, browser, tapes):
    with visit(browser, f"{site}notebook.html") as seen:
        frames = [frame for frame in seen.page.frames if frame != seen.page.main_frame]
        assert len(frames) == 2
        for frame in frames:
            frame.wait_for_selector("glassformer-view[data-state=drawn]")
        lines = neuron_lines(frames[0].locator("glassformer-view"))
        same(matrix(lines, 1, SEQ, SEQ)[0], weights_of(tapes[0])[1][0, 2])
        assert [url for url in seen.requests if not url.startswith("data:")] == [
            f"{site}notebook.html"
        ]
        clean(seen)


def test_a_missing_script_is_said_in_the_page(site, browser):
    with visit(browser, f"{site}empty.html") as seen:
        page = seen.page
        page.route("**/d3.min.js", lambda route: route.fulfill(status=404))
        page.goto(f"{site}all.html")
        page.locator("#head").scroll_into_view_if_needed()
        page.wait_for_selector("#head glassformer-view[data-state=failed]")
        hint = page.locator("#head .hint").text_content()
        assert re.fullmatch(r"This view could not be drawn \(.*d3\.min\.js: 404\)\.", hint)
