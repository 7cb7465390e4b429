"""A flow shows the calls that were made, in their order, on what they took, and nothing else."""

import re
from dataclasses import replace
from itertools import combinations, pairwise, product
from xml.etree import ElementTree

import pytest
import torch
from drawings import contrast, near, numbers, svgs, widths
from torch import nn

from glassformer.layers.multihead import MultiHeadAttention
from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder, TransformerEncoderLayer
from glassformer.models.transformer import Transformer
from glassformer.views import beside, flow
from glassformer.views.axis_words import Axes
from glassformer.views.drawing import STYLE
from glassformer.views.flow import DEEPEST, draw, lines
from glassformer.views.palette import DARK, LIGHT
from glassformer.views.plan import lay_out, notes
from glassformer.views.trace import Node, trace
from glassformer.views.view import View

SEQ, TGT, HEADS, D_MODEL, D_FF = 5, 3, 2, 14, 11
SMALL = {
    "vocab_size": 23,
    "d_model": D_MODEL,
    "num_heads": HEADS,
    "num_layers": 3,
    "d_ff": D_FF,
    "max_positions": 7,
}


def config(**changes):
    return TransformerConfig(**{**SMALL, **changes})


@pytest.fixture
def hidden():
    return torch.randn(1, SEQ, D_MODEL)


@pytest.fixture
def translator():
    return Transformer(config(decoder=config(cross_attention=True)))


@pytest.fixture
def ids():
    return torch.randint(23, (1, SEQ)), torch.randint(23, (1, TGT))


def test_heads_and_shapes(hidden):
    nodes = trace(MultiHeadAttention(D_MODEL, HEADS), (hidden,), 1, Axes(None)).inside
    assert [(n.label, n.shape) for n in nodes] == [
        ("query", (1, SEQ, D_MODEL)),
        *((f"{p}_proj", (1, SEQ, D_MODEL)) for p in "qkv"),
        ("scaled dot-product attention", (1, HEADS, SEQ, D_MODEL // HEADS)),
        ("out_proj", (1, SEQ, D_MODEL)),
    ]
    assert nodes[4].sources == (1, 2, 3)
    assert [n.parameters for n in nodes] == [0, *[D_MODEL * D_MODEL + D_MODEL] * 3, 0, 210]


def test_equal_layers_are_one_and_unequal_ones_are_not():
    ids = torch.randint(23, (1, SEQ))
    encoder = TransformerEncoder(config())
    assert [n.times for n in trace(encoder, (ids,), 1, Axes(encoder)).inside] == [1, 1, 3]
    encoder.layers[1].feed_forward = nn.Linear(D_MODEL, D_MODEL)
    assert [n.times for n in trace(encoder, (ids,), 1, Axes(encoder)).inside] == [1, 1, 1, 1, 1]


def test_looking_deeper_finds_what_is_inside(translator, ids):
    flat = trace(translator, ids, 1, Axes(translator)).inside
    assert [n.label for n in flat] == ["src_ids", "tgt_ids", "encoder", "decoder", "lm_head"]
    assert not any(n.inside for n in flat)
    deep = trace(translator, ids, 3, Axes(translator)).inside
    layer = deep[3].inside[3]
    assert (layer.label, layer.times, layer.inside[1].label) == ("decoder.layers.0", 3, "memory")
    assert deep[3].inside[1].shape == (1, SEQ, D_MODEL)


def test_the_model_is_left_as_it_was(hidden):
    layer = TransformerEncoderLayer(config(dropout=0.5)).train()
    layer.feed_forward.eval()
    state = torch.get_rng_state()
    assert flow(layer, hidden).html.count('"line round"') == 2  # of its residuals
    assert layer.training
    assert not layer.feed_forward.training
    assert torch.equal(torch.get_rng_state(), state)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in layer.modules())


# --- where it all is

INPUT = Node("hidden", "input", (2, 3))


def node(label, kind, *sources, **more):
    return Node(label, kind, (2, 3), sources, **more)


def module(*sources):
    return node("module", "Norm", *sources)


def plus(*sources):
    return node("+", "", *sources)


def shown(nodes, **more):
    """A view of a model that has these nodes inside."""
    return View(draw(Node("", "Model", nodes[-1].shape, inside=tuple(nodes), **more)), "")


class Picture:
    """Where each part of a flow is on the page; frames are within frames."""

    def __init__(self, view):
        self.boxes, self.frames, self.inks, self.tips, self.words = [], [], [], [], []
        self._walk(svgs(view)[0], 0.0, 0.0)

    def _walk(self, element, x, y):
        for one in element:
            css = one.get("class", "").split()
            if one.tag == "g":
                dx, dy = numbers(one.get("transform"))
                self._walk(one, x + dx, y + dy)
            elif one.tag == "rect":
                left, top, wide, high = (float(one.get(k)) for k in ("x", "y", "width", "height"))
                place = (x + left, y + top, x + left + wide, y + top + high)
                if "ink" in css:
                    self.inks.append((place, float(one.get("fill-opacity"))))
                else:
                    (self.boxes if "box" in css else self.frames).append(place)
            elif one.tag == "circle":
                cx, cy, r = (float(one.get(k)) for k in ("cx", "cy", "r"))
                self.boxes.append((x + cx - r, y + cy - r, x + cx + r, y + cy + r))
            elif one.tag == "text":
                self.words.append(("".join(one.itertext()), x + float(one.get("x"))))
            elif "tip" in css:
                a, b, *_ = numbers(one.get("d"))
                self.tips.append((x + a, y + b))


def test_no_box_lies_on_another_and_each_arrow_ends_at_a_box(subtests):
    """Or below the last one, where the result comes out."""
    for depth, changes in product(
        [1, 2, 3, 4, 5], [{}, {"norm_first": True, "gated": True, "norm": "rms"}]
    ):
        with subtests.test(depth=depth, changes=changes):
            model = Transformer(config(**changes, decoder=config(**changes, cross_attention=True)))
            tokens = torch.randint(23, (1, SEQ)), torch.randint(23, (1, TGT))
            view = flow(model, *tokens, depth=depth)
            picture = Picture(view)
            for (a, b, c, d), (e, f, g, h) in combinations(picture.boxes, 2):
                assert c <= e or g <= a or d <= f or h <= b
            left, _, wide, high = numbers(svgs(view)[0].get("viewBox"))
            for a, b, c, d in picture.boxes + picture.frames:
                assert left <= a < c <= left + wide
                assert 0 <= b < d <= high
            ends = [
                (x, y)
                for x, y in picture.tips
                if not any(
                    (a - 1 <= x <= c + 1 and abs(y - b) < 0.2)
                    or (b <= y <= d and min(abs(x - a), abs(x - c)) < 0.2)
                    for a, b, c, d in picture.boxes + picture.frames
                )
            ]
            assert len(ends) == 1
            assert ends[0][1] > max(d for *_, d in picture.boxes)


def test_words_are_no_wider_than_their_boxes():
    """A letter is at most 7.2 wide in a title, and 6.2 below it."""
    long = node("module_with_a_long_name", "Norm", 0)
    noted = node("up", "LinearWithAVeryLongName", 1, parameters=20_000)
    picture = Picture(shown([INPUT, long, noted]))
    for place, title, below in zip(picture.boxes, *[iter(picture.words[2:6])] * 2, strict=True):
        wide = place[2] - place[0]
        assert len(title[0]) * 7.2 < wide
        assert len(below[0]) * 6.2 < wide


def test_a_title_stands_beside_the_line_into_its_frame(subtests):
    """On its left where there's room, else on its right."""
    for letters, side in [(5, "left"), (20, "right")]:
        with subtests.test(letters=letters):
            inside = (INPUT, node("box", "N" * 30, 0))
            frame = node("t" * letters, "M", 0, inside=inside)
            picture = Picture(shown([INPUT, frame]))
            [x] = [x for word, x in picture.words if word == "t" * letters]
            assert picture.frames[0][0] < x
            assert x + letters * 7.2 < 0 if side == "left" else x > 0


def test_boxes_in_a_row_are_apart_around_what_they_come_from():
    parts = [node(name, "Linear", 0) for name in ("query_projection", "k", "value_proj")]
    first, *row, last = lay_out([INPUT, *parts, node("attention", "", 1, 2, 3)]).boxes
    for one, other in pairwise(row):
        assert other.x - other.left - one.x - one.right == near(14)
    assert sum(box.x for box in row) == near(0)
    assert first.x == last.x == near(0)


def lanes(*nodes):
    """How far each residual runs beyond the widest box, in steps of 14."""
    plan = lay_out(nodes)
    widest = max(box.x + box.right for box in plan.boxes)
    assert plan.right == near(max(plan.lanes.values()))
    return {edge: round((lane - widest) / 14, 3) for edge, lane in plan.lanes.items()}


def test_residuals_share_a_lane_only_if_one_ends_before_the_other_begins():
    start, one = INPUT, module(0)
    assert lanes(start, one, module(1), plus(0, 2), module(3), plus(3, 4)) == {(0, 3): 1, (3, 5): 1}
    assert lanes(start, one, plus(0, 1), module(2), module(3), plus(2, 4)) == {(0, 2): 1, (2, 5): 1}
    assert lanes(start, one, module(1), plus(1, 2), plus(0, 3)) == {(1, 3): 1, (0, 4): 2}
    assert lanes(start, one, module(1), plus(0, 2), plus(0, 3)) == {(0, 3): 1, (0, 4): 2}
    nested = [start, one, module(1), module(2), plus(2, 3), plus(1, 4), plus(0, 5)]
    assert lanes(*nested) == {(2, 4): 1, (1, 5): 2, (0, 6): 3}
    assert not lay_out([start, one, module(1), plus(2)]).lanes
    assert not lay_out([start, module(0), module(0), module(2), plus(1, 3)]).lanes  # two branches


def test_it_shrinks_as_far_as_its_words_can_be_read_and_then_scrolls(subtests):
    for letters in (20, 40, 52, 60):
        with subtests.test(letters=letters):
            view = shown([INPUT, node("norm", "N" * letters, 0)])
            full, widest, narrowest = widths(view)
            assert widest == pytest.approx(full, abs=1)
            assert narrowest == pytest.approx(max(0.8 * full, min(full, 280)), abs=1)
            assert ("tabindex" in view.html) == (0.8 * full > 280)


def test_a_box_is_called_by_the_end_of_its_path_and_layers_by_that_of_their_list(subtests):
    rows = [
        ("encoder.norm", 1, "norm"),
        ("encoder.layers.0", 1, "layers.0"),
        ("encoder.layers.0", 3, "layers × 3"),
        ("0", 1, "0"),
    ]
    for label, times, name in rows:
        with subtests.test(label=label, times=times):
            picture = Picture(shown([INPUT, node(label, "Linear", 0, times=times)]))
            assert picture.words[2][0] == name


def test_the_shares_of_all_boxes_make_one(translator, ids, subtests):
    """Layers that are drawn once count as often as there are; the table that is shared, twice."""
    for depth in [1, 2, 3, 4]:
        with subtests.test(depth=depth):
            picture = Picture(flow(translator, *ids, depth=depth))
            shares = [(opacity / DEEPEST) ** (1 / 0.7) for _, opacity in picture.inks]
            count = sum(parameter.numel() for parameter in translator.parameters())
            assert sum(shares) == pytest.approx(1 + 23 * 14 / count, abs=0.003)


def test_small_words_can_be_read_on_the_bluest_box(subtests):
    for theme, paper, ink in [(LIGHT, 253, 0x1C), (DARK, 0x15, 0xE2)]:
        with subtests.test(paper=paper):
            blue = bytes.fromhex(re.search("--deep:#(......)", theme)[1])
            box = [DEEPEST * c + (1 - DEEPEST) * paper for c in blue]
            faded = float(re.search(r"\.small\{[^}]*opacity:([.\d]+)", STYLE)[1])
            assert contrast(box, [faded * ink + (1 - faded) * c for c in box]) >= 4.5


# --- marks, a lead, numbers, and names


def test_marked_boxes_are_outlined_and_have_their_words_beside_them(hidden):
    layer = TransformerEncoderLayer(config())
    view = flow(layer, hidden, marks={"attention": ["one", "a <b>"], "feed_forward": ["two"]})
    marked = re.findall(
        r'<g data-role="series-2"><rect class="line bold" x="([-.\d]+)".*?</g>'
        r'((?:<text [^>]*text-anchor:end">[^<]*</text>)+)',
        view.html,
    )
    assert [re.findall(">([^<]+)<", words) for _, words in marked] == [
        ["one", "a &lt;b&gt;"],
        ["two"],
    ]
    for left, words in marked:
        assert {*re.findall(r'<text x="([-.\d]+)"', words)} == {f"{float(left) - 8:.1f}"}
    assert str(view).splitlines()[-2:] == ["attention: one, a <b>", "feed_forward: two"]
    with pytest.raises(ValueError, match="no box to mark has the name 'atention'"):
        flow(layer, hidden, marks={"atention": ["one"]})


def test_a_lead_lowers_all_but_the_inputs_by_the_height_of_boxes(hidden):
    layer = TransformerEncoderLayer(config())
    heights = [
        [float(y) for y in re.findall(r'<rect class="box" [^>]*? y="([.\d]+)"', view.html)]
        for view in (flow(layer, hidden), flow(layer, hidden, lead=2))
    ]
    step = 27 + 15 + 26  # a box with one small line, and the gap below it
    assert len(heights[0]) == 4
    assert heights[1] == pytest.approx([y + 2 * step for y in heights[0]])
    inputs = [
        re.search(r'class="name" x="[-.\d]+" y="([.\d]+)"', v.html)
        for v in (flow(layer, hidden), flow(layer, hidden, lead=2))
    ]
    assert inputs[0][1] == inputs[1][1]


def test_numbers_of_each_result_in_place_of_shapes():
    def halved(x, y):
        return (x + y) / 2

    view = flow(halved, torch.tensor([1.0, -2.0]), torch.tensor([3.0, 0.234]), numbers=True)
    drawn = re.findall("<text[^>]*>([^<]+)</text>", view.html)
    for words in ("1, −2", "3, 0.23", "4, −1.77", "2, −0.88"):
        assert words in drawn
    assert str(view).splitlines()[1:] == [
        "  x: 1, −2",
        "  y: 3, 0.23",
        "  + of x and y: 4, −1.77",
        "  ÷ 2 of +: 2, −0.88",
    ]
    up = nn.Linear(2, 2)
    assert "bluer" not in flow(up, torch.ones(2), numbers=True).html
    assert "bluer" in flow(up, torch.ones(2)).html


def test_a_line_between_frames_has_the_name_and_the_shape_of_what_it_brings(translator, ids):
    source = ids[0]
    shape = f"{source.shape[0]} × {source.shape[1]} × 14"
    assert f">memory {shape}<" in flow(translator, *ids, depth=2).html


# --- in words


def test_the_picture_is_told_in_words(translator, ids):
    view = flow(translator, *ids, depth=3)
    figure = ElementTree.fromstring(view.html.replace(" data-search-exclude", ""))
    told = [item.text for item in figure.iter("li")]
    assert told == [line.strip() for line in str(view).splitlines()[1:]]
    assert "memory" in next(line for line in told if line.startswith("cross_attention of"))
    drawn = [text.text for text in figure.iter("text")]
    assert {"encoder", "decoder", "cross_attention", "lm_head"} <= set(drawn)


def test_as_text():
    up = nn.Sequential(nn.Linear(3, 5), nn.GELU())
    assert str(flow(up, torch.randn(2, 3))) == (
        "Sequential (20 parameters)\n"
        "  input: 2 × 3\n"
        "  0 of input (Linear, 20 parameters): 2 × 5\n"
        "  1 of 0 (GELU): 2 × 5"
    )


def test_steps_of_one_name_are_numbered_equal_layers_counted_and_insides_indented():
    layers = node("layers.0", "Layer", 0, parameters=5000, times=3)
    inside = (INPUT, node("up", "Linear", 0))
    once = node("layers.3", "Layer", 1, inside=inside)
    assert lines([INPUT, layers, once, plus(0, 2), plus(0, 3)])[1:] == [
        "  layers of hidden (Layer, 3 times, 5,000 parameters): 2 × 3",
        "  layers.3 of layers (Layer): 2 × 3",
        "    up of hidden (Linear): 2 × 3",
        "  + (1) of hidden and layers.3: 2 × 3",
        "  + (2) of hidden and + (1): 2 × 3",
    ]


def test_what_is_shared_says_so_in_words_and_in_the_picture():
    again = node("head", "Linear", 0, parameters=21, shared=True)
    assert lines([INPUT, again])[1:] == [
        "  head of hidden (Linear, 21 parameters that an earlier step also has): 2 × 3"
    ]
    assert notes(again, [INPUT, again]) == ["Linear · 21 shared"]
    assert notes(replace(again, shared=False), [INPUT])[0] == "Linear · 21"


def test_the_key_says_where_the_blue_counts_several_layers_together(
    hidden, translator, ids, subtests
):
    one, all_layers = "· bluer: more parameters<", "· bluer: more parameters, all layers together<"
    rows = [
        ("one layer", TransformerEncoderLayer(config()), (hidden,), 1, one),
        ("equal layers", TransformerEncoder(config()), ids[:1], 1, all_layers),
        ("equal layers inside", translator, ids, 2, all_layers),
    ]
    for name, model, given, depth, key in rows:
        with subtests.test(name):
            assert key in flow(model, *given, depth=depth).html


def test_beside(hidden):
    first, second = flow(nn.Linear(D_MODEL, 2), hidden), flow(nn.Linear(D_MODEL, 3), hidden)
    both = beside(first, second)
    assert first.html in both.html
    assert second.html in both.html
    assert str(both) == f"{first}\n\n{second}"
    assert both.html.count("flex:1 1 14rem") == 2
    assert beside(first, second, least=10).html.count("flex:1 1 10rem") == 2
