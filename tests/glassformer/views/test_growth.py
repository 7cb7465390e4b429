"""What `growth` draws and says of vectors that become more, held against numbers made here."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
import torch

from glassformer.layers.kv_cache import KVCache
from glassformer.models.config import TransformerConfig
from glassformer.models.task_models import TransformerForCausalLM
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
            steps.append([kept[0, 0].clone() for kept in layer.attention.tensors()])
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


def test_what_cannot_be_drawn_is_refused(subtests):
    rows = [
        ({}, 5, r"at least one step of each name, but got \{\}"),
        ({"keys": []}, 5, r"at least one step of each name, but got \{'keys': \[\]\}"),
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
        ({"keys": [torch.ones(2, 3), torch.ones(3, 5)]}, 5, r"same width.*\(2, 3\), \(3, 5\)"),
    ]
    for steps, most, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            growth(steps, WORDS, most=most)


# --- where it all stands


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


def near(value):
    """Within what is left out of a coordinate with one decimal."""
    return pytest.approx(value, abs=0.06)


def picture(view):
    return ElementTree.fromstring(re.search(r"<svg.*?</svg>", view.html)[0])


def texts(view):
    """Class, place and anchor of each text, by what it says."""
    found = {}
    for text in picture(view).iter("text"):
        place = near(float(text.get("x"))), near(float(text.get("y")))
        found.setdefault(text.text, []).append((text.get("class"), *place, text.get("text-anchor")))
    return found


def test_growth_is_laid_out_by_hand():
    """Above its rows each thing has 40, below them 22; steps are 12 apart."""
    _, steps = whole_and_steps()
    view = growth({"keys": steps, "values": steps}, WORDS, most=5)
    left, wide, high = 9 * 7.4 + 9, 5 * CELL, 7 * ROW + 62  # `</script>` has 9 letters
    bottom = 2 * high + 6
    found = texts(view)
    for k, name in enumerate(("keys", "values")):
        top = high * k + 40
        assert found[name] == [("name", left, top - 24, None)]
        for i, word in enumerate(WORDS):
            assert found[word][k] == ("word", left - 7, top + (i + 0.5) * ROW + 4.5, "end")
        for step, length in enumerate((2, 3, 7)):
            middle = left + (wide + 12) * step + wide / 2
            assert found[f"step {step + 1}"][k] == ("axis", middle, top - 6, "middle")
            size = ("axis", middle, top + ROW * length + 14, "middle")
            assert found[f"{length} × 11"][k] == size
    assert found["framed: new; faint: as in the step before"] == [("axis", left, bottom + 27, None)]
    assert found["the first 5 of 11 numbers of a vector"] == [("axis", left, bottom + 43, None)]
    scale = [text for text, places in found.items() if ("axis", left, bottom + 8.5, None) in places]
    assert len(scale) == 1
    assert numbers(picture(view).get("viewBox")) == [0, 0, round(left + 260), bottom + 50]


def test_cells_and_frames_of_a_step_cover_its_rows():
    _, steps = whole_and_steps()
    view = growth({"keys": steps, "values": steps}, WORDS, most=5)
    left, high = 9 * 7.4 + 9, 7 * ROW + 62
    # Of each step: which rows were kept, and which are new.
    runs = [(0, 0, 2, True), (1, 0, 2, False), (1, 2, 1, True), (2, 0, 3, False), (2, 3, 4, True)]
    wanted = [
        (left + (5 * CELL + 12) * step, high * k + 40 + ROW * row, count, new)
        for k in range(2)
        for step, row, count, new in runs
    ]
    groups = [g for g in picture(view) if g.tag == "g"]
    for group, (x, y, count, new) in zip(groups, wanted, strict=True):
        strip, lines, *frame = group
        assert group.get("class") == (None if new else "kept")
        assert numbers(strip.get("transform")) == [near(x), near(y + ROW / 2), CELL, ROW]
        drawn = {int(row) for p in strip for row in re.findall(r"M\d+ (\d+)h", p.get("d"))}
        assert drawn == set(range(count))
        assert len(re.findall("M[^MV]*H", lines.get("d"))) == count + 1
        sides = [[float(f.get(k)) for k in ("x", "y", "width", "height")] for f in frame]
        assert sides == ([[near(x), near(y), 5 * CELL, ROW * count]] if new else [])


def test_many_steps_make_a_wider_picture_that_keys_can_scroll(subtests):
    """At least the legend's 260; it shrinks to a 1.3th, a phone's column holds 300."""
    for count in [1, 5, 6, 7, 8, 13]:
        with subtests.test(count=count):
            view = growth({"x": [torch.ones(1, 5)] * count}, ["time"])
            left = 4 * 7.4 + 9
            wide = max(left + (5 * CELL + 12) * count, left + 260)
            assert numbers(picture(view).get("viewBox"))[2] == round(wide)
            sizes = [int(n) for n in re.findall(r"m..-width:(\d+)px", view.html)]
            assert sizes == [round(1.4 * wide), round(wide / 1.3)]
            assert ('tabindex="0"' in view.html) == (wide / 1.3 > 300)


def test_a_change_of_a_hundred_thousandth_is_rounding(subtests):
    for change, kept in [(0.8e-5, 3), (1.5e-5, 2)]:
        with subtests.test(change=change, kept=kept):
            zeros = torch.zeros(3, 7)
            changed = zeros.clone()
            changed[1, 4] = change
            told = str(growth({"x": [zeros, changed]}, ["a", "b", "c"])).splitlines()
            assert told[-1].split()[3:] == [
                "nothing" if kept == 3 else "b",
                str(kept),
                "3",
                "×",
                "7",
            ]


def test_five_numbers_are_drawn_unless_told_otherwise():
    _, steps = whole_and_steps()
    frames, _ = rectangles(growth({"keys": steps}, WORDS))
    assert {wide for _, _, wide, _ in frames} == {5 * CELL}


def test_steps_that_shrink_keep_what_is_left():
    whole, _ = whole_and_steps()
    told = str(growth({"keys": [whole[:5], whole[:3]]}, WORDS)).splitlines()
    assert told[-1].split() == ["keys,", "step", "2", "nothing", "3", "3", "×", "11"]


def test_a_table_without_a_caption_names_its_vectors():
    steps = {"keys": [torch.ones(1, 2)], "values": [torch.ones(1, 2)]}
    assert "<caption>keys, values</caption>" in growth(steps, ["a"]).html
    assert "<caption>A cache</caption>" in growth(steps, ["a"], caption="A cache").html
