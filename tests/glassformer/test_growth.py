"""What `growth` draws and says of vectors that become more, held against numbers made here."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
import torch

from glassformer.cache import KVCache
from glassformer.config import TransformerConfig
from glassformer.heads import TransformerForCausalLM
from glassformer.views import growth

WORDS = ["[CLS]", "time", "</script>", "flies", "like", "an", "arrow"]
ROW, CELL = 15, 7


def whole_and_steps(lengths=(2, 3, 7), width=11):
    whole = torch.randn(len(WORDS), width)
    return whole, [whole[:length] for length in lengths]


def rectangles(view):
    """Left, row, width and count of rows of each frame; which rows and columns are pale."""
    svg = ElementTree.fromstring(re.search(r"<svg.*</svg>", view.html)[0])
    frames = [
        tuple(float(rect.get(side)) for side in ("x", "y", "width", "height"))
        for rect in svg.iter("rect")
        if rect.get("class") == "fresh"
    ]
    pale = [g for g in svg.iter("g") if g.get("class") == "kept"]
    return frames, pale


def test_what_is_new_is_framed_and_what_was_there_is_pale():
    _, steps = whole_and_steps()
    frames, pale = rectangles(growth({"keys": steps}, WORDS, most=5))
    top = frames[0][1]
    assert [(round((y - top) / ROW), round(high / ROW)) for _, y, _, high in frames] == [
        (0, 2),
        (2, 1),
        (3, 4),
    ]
    assert {wide for *_, wide, _ in frames} == {5 * CELL}
    lefts = [x for x, *_ in frames]
    assert lefts == sorted(set(lefts))
    assert all(b - a > 5 * CELL for a, b in pairwise(lefts))
    assert len(pale) == 2  # the first step has nothing to keep


def test_a_row_that_became_another_is_framed_again():
    _, (first, second, third) = whole_and_steps()
    third = third.clone()
    third[1] += 0.5
    view = growth({"keys": [first, second, third]}, WORDS)
    frames, _ = rectangles(view)
    assert [round(high / ROW) for *_, high in frames] == [2, 1, 1, 4]
    assert "keys, step 3  time flies like an arrow" in " ".join(str(view).split("\n")).replace(
        "</script>", ""
    )


def test_rounding_is_no_change():
    _, (first, second, third) = whole_and_steps()
    same = growth({"keys": [first, second + 1e-7, third]}, WORDS)
    assert rectangles(same)[0] == rectangles(growth({"keys": [first, second, third]}, WORDS))[0]


def test_it_tells_in_text_and_in_a_table_what_a_cache_did():
    torch.manual_seed(0)
    config = TransformerConfig(
        vocab_size=13, d_model=22, num_heads=2, num_layers=1, d_ff=17, max_positions=19
    )
    model, cache, steps = TransformerForCausalLM(config).eval(), KVCache(), []
    with torch.no_grad():
        for new in ([1, 5, 2], [7], [3, 4]):
            model(torch.tensor([new]), cache=cache)
            [layer] = cache
            steps.append([kept[0, 0].clone() for kept in layer.attention.kept()])
    keys, values = zip(*steps, strict=True)
    view = growth({"keys": keys, "values": values}, list("abcdef"), caption="A cache")
    told = [[*map(str.strip, re.split(r"  +", line.strip()))] for line in str(view).split("\n")]
    assert told[0] == ["A cache"]
    assert told[1] == ["vectors", "new", "rows kept", "size"]
    expected = [("a b c", 0, 3), ("d", 3, 4), ("e f", 4, 6)]
    for name, lines in (("keys", told[2:5]), ("values", told[5:])):
        assert lines == [
            [f"{name}, step {k}", new, str(kept), f"{length} × {22 // 2}"]
            for k, (new, kept, length) in enumerate(expected, 1)
        ]
    table = re.search(r"<table.*</table>", view.html)[0]
    cells = re.findall(r">([^<>]+)</t[hd]>", table)
    assert cells == [cell for line in told[1:] for cell in line]


def test_the_sizes_stand_below_the_steps():
    _, steps = whole_and_steps()
    svg = re.search(r"<svg.*</svg>", growth({"keys": steps}, WORDS).html)[0]
    texts = re.findall(r">([^<>]+)</text>", svg)
    assert [t for t in texts if "×" in t] == ["2 × 11", "3 × 11", "7 × 11"]
    assert "the first 5 of 11 numbers of a vector" in texts
    assert "all 11 numbers of a vector" in growth({"keys": steps}, WORDS, most=13).html


def test_one_scale_for_all_steps():
    steps = [torch.full((1, 3), 0.5), torch.tensor([[0.5] * 3, [-2.0] * 3])]
    strokes = re.findall(
        r'class="([pn])" stroke-opacity="([\d.]+)"', growth({"x": steps}, ["a", "b"]).html
    )
    assert strokes == [("p", "0.25"), ("p", "0.25"), ("n", "1.00")]


def test_words_and_names_are_text_never_markup():
    _, steps = whole_and_steps()
    html = growth({"<b>": steps}, WORDS, caption="<i>").html
    assert not re.search(r"</script>|<b>|<i>", html)


@pytest.mark.parametrize(
    ("steps", "most", "message"),
    [
        ({}, 5, r"at least one step of one thing, but got \{\}"),
        ({"keys": []}, 5, r"at least one step of one thing, but got \{'keys': \[\]\}"),
        ({"keys": [torch.ones(2, 3)]}, 0, r"most \(0\) must be at least 1"),
        ({"keys": [torch.ones(3)]}, 5, r"'keys' of shape \(3,\) must be \(rows, width\)"),
        ({"keys": [torch.ones(11, 3)]}, 5, r"shape \(11, 3\) .* each of the 7 words"),
        ({"keys": [torch.ones(2, 0)]}, 5, r"'keys' of shape \(2, 0\)"),
        ({"keys": [torch.ones(0, 3)]}, 5, r"'keys' of shape \(0, 3\)"),
        (
            {"keys": [torch.ones(2, 3)], "values": [torch.ones(2, 3)] * 2},
            5,
            r"numbers of steps differ: \{'keys': 1, 'values': 2\}",
        ),
        ({"keys": [torch.ones(2, 3), torch.ones(3, 5)]}, 5, r"one width.*\(2, 3\), \(3, 5\)"),
    ],
)
def test_what_cannot_be_drawn_is_refused(steps, most, message):
    with pytest.raises(ValueError, match=message):
        growth(steps, WORDS, most=most)
