"""What strips draw and say, held against numbers worked out here."""

import re
from xml.etree import ElementTree

import pytest
import torch

from glassformer.views import strips

WORDS = ["[CLS]", "time", "</script>"]


def strokes(html):
    """Row, column and opacity of every coloured cell, negative ones below zero, one panel each."""
    panels = []
    for group in re.findall(r'<g class="strip".*?</g>', html):
        cells = {}
        for sign, opacity, d in re.findall(
            r'<path class="([pn])" stroke-opacity="([\d.]+)" d="(.*?)"', group
        ):
            for start, row, length in re.findall(r"M(\d+) (\d+)h(\d+)", d):
                for column in range(int(start), int(start) + int(length)):
                    assert (int(row), column) not in cells
                    cells[int(row), column] = float(opacity) * (-1 if sign == "n" else 1)
        panels.append(cells)
    return panels


def test_each_number_has_its_cell_and_its_colour():
    tensor = torch.linspace(-1, 1, 33).reshape(3, 11)
    [cells] = strokes(strips({"x": tensor}, WORDS).html)
    end = tensor.abs().flatten().sort().values[round(0.98 * 32)]
    drawn = torch.zeros(3, 11)
    for place, value in cells.items():
        drawn[place] = value
    torch.testing.assert_close(drawn, (tensor / end).clamp(-1, 1), atol=1 / 48 + 0.006, rtol=0)


def test_all_tensors_share_one_scale():
    small, large = strokes(
        strips({"small": torch.full((3, 5), 0.5), "large": torch.full((3, 5), -2.0)}, WORDS).html
    )
    assert set(small.values()) == {0.25}
    assert set(large.values()) == {-1.0}


def test_one_great_number_hides_no_other():
    tensor = torch.ones(3, 41)
    tensor[1, 7] = 1000.0
    view = strips({"x": tensor}, WORDS)
    [cells] = strokes(view.html)
    assert set(cells.values()) == {1.0}
    assert "some beyond the scale" in view.html
    assert "beyond" not in strips({"x": torch.ones(3, 41)}, WORDS).html


def test_only_the_first_numbers_are_drawn_and_the_length_counts_all():
    view = strips({"x": torch.tensor([[3.0, 0.0, 4.0]] * 3)}, WORDS, most=2)
    [cells] = strokes(view.html)
    assert {column for _, column in cells} == {0}
    assert "the first 2 of 3 numbers" in view.html
    assert ">5.0<" in view.html
    assert "the first" not in strips({"x": torch.ones(3, 2)}, WORDS, most=2).html
    assert "the first" in strips({"x": torch.ones(3, 2)}, WORDS, most=1).html


def test_strips_as_text_and_as_a_table_tell_the_same():
    tensors = {"query": torch.tensor([[0.6, 0.8]]), "key": torch.tensor([[-5.0, 12.0]])}
    view = strips(tensors, ["日本"], caption="Two vectors")
    assert str(view) == (
        "Two vectors\n"
        "     vector  length  number 0  number 1\n"
        "query: 日本    1.00      0.60      0.80\n"
        "  key: 日本   13.00     -5.00     12.00"
    )
    for cell in ("query: 日本", "13.00", "-5.00"):
        assert f">{cell}</t" in view.html


def test_words_and_names_are_text_never_markup():
    html = strips({"<b>": torch.ones(3, 2)}, WORDS, caption="<i>").html
    assert "</script>" not in html
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.count("&lt;b&gt;") == 1 + 3  # over the cells, and in each row of the table


def test_what_is_not_finite_has_no_colour():
    [cells] = strokes(strips({"x": torch.tensor([[1.0, torch.inf, torch.nan]])}, ["a"]).html)
    assert cells == {(0, 0): 1.0}


def test_gradients_are_not_touched():
    tensor = torch.ones(1, 3, requires_grad=True)
    strips({"x": tensor * 2}, ["a"])
    assert tensor.grad is None


def test_what_cannot_be_drawn_is_refused(subtests):
    rows = [
        ({}, 3, "at least one tensor, but got none"),
        ({"x": torch.ones(2, 3)}, 3, r"'x' of shape \(2, 3\) must be .* the 3 words"),
        ({"x": torch.ones(1, 3, 5)}, 3, r"'x' of shape \(1, 3, 5\) must be \(rows, width\)"),
        ({"x": torch.ones(3, 0)}, 3, r"'x' of shape \(3, 0\)"),
        ({"x": torch.ones(3, 5), "y": torch.ones(3, 7)}, 3, r"same shape, but .*\(3, 5\).*3, 7"),
        ({"x": torch.ones(3, 5)}, 0, r"most \(0\) must be at least 1"),
    ]
    for tensors, most, message in rows:
        with subtests.test(message), pytest.raises(ValueError, match=message):
            strips(tensors, WORDS, most=most)


def test_of_a_tensor_that_is_nearly_all_zeros_the_rest_is_seen():
    tensor = torch.zeros(3, 47)
    tensor[2, 5] = -0.5
    assert strokes(strips({"x": tensor}, WORDS).html) == [{(2, 5): -1.0}]
    assert strokes(strips({"x": torch.zeros(3, 5)}, WORDS).html) == [{}]


# --- where it all stands


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


def near(value):
    """Within what is left out of a coordinate with one decimal."""
    return pytest.approx(value, abs=0.06)


def texts(html):
    """Class, place and anchor of each text, by what it says."""
    found = {}
    svg = ElementTree.fromstring(re.search(r"<svg.*?</svg>", html)[0])
    for text in svg.iter("text"):
        place = float(text.get("x")), float(text.get("y"))
        found.setdefault(text.text, []).append((text.get("class"), *place, text.get("text-anchor")))
    return found


def test_strips_are_laid_out_by_hand():
    """A cell is 7 by 15; a panel has 20 above its rows and 8 below; `time` is 4 letters of 7.4."""
    tensors = {"query": torch.full((3, 5), 2.0), "key": torch.full((3, 5), -1.0)}
    html = strips(tensors, ["time", "an", "a"]).html
    left, right, high = 4 * 7.4 + 9, 4 * 7.4 + 9 + 5 * 7, 3 * 15 + 28
    bottom = 6 + 2 * high
    assert numbers(re.search('viewBox="([^"]*)"', html)[1]) == [
        0,
        0,
        round(left + 5 * 7.4 + 6 + 9 * 16 + 6 + 4 * 7.4),  # `−2.00`, nine squares, `2.00`
        bottom + 40,
    ]
    found = texts(html)
    for k, (name, length) in enumerate((("query", f"{20**0.5:.1f}"), ("key", f"{5**0.5:.1f}"))):
        top = 6 + high * k
        assert found[name] == [("name", near(left), top + 12, None)]
        rows = [top + 20 + 7.5 + 4.5 + 15 * i for i in range(3)]
        for word, y in zip(("time", "an", "a"), rows, strict=True):
            assert found[word][k] == ("word", near(left - 7), y, "end")
        assert found[length] == [("word", near(right + 44), y, "end") for y in rows]
    assert found["length"] == [("axis", near(right + 44), 18, "end")]
    assert found["5 numbers"] == [("axis", near(left), bottom + 33, None)]
    assert found["−2.00"] == [("axis", near(left), bottom + 4 + 8.5, None)]
    groups = re.findall(r'class="strip" transform="(.*?)"', html)
    lines = re.findall(r'class="g" d="(.*?)"', html)
    for k, (group, line) in enumerate(zip(groups, lines, strict=False)):
        top = 26 + high * k
        # A stroke is as wide as a row is high and runs along its middle.
        assert numbers(group) == [near(left), near(top + 7.5), 7, 15]
        across, (x, y, *corners) = line[: line.rindex("M")], numbers(line[line.rindex("M") :])
        assert numbers(across) == [near(n) for i in range(4) for n in (left, top + 15 * i, right)]
        assert (x, y, corners) == (near(left), near(top), [near(n) for n in (top + 45, right, top)])
        assert re.sub("[^A-Z]", "", line) == "MH" * 4 + "MVHV"


def test_strips_shrink_to_a_phone_and_grow_by_a_fifth(subtests):
    for count, narrowest in [(5, None), (48, 300)]:
        with subtests.test(count=count, narrowest=narrowest):
            html = strips({"x": torch.ones(1, count)}, ["time"]).html
            legend = 7.4 + 6 + 5 * 16 + 6 + 4 * 7.4  # `0`, five squares, `1.00`
            wide = 4 * 7.4 + 9 + max(7 * count + 48, legend)
            assert [int(n) for n in re.findall(r"m..-width:(\d+)px", html)] == [
                round(1.2 * wide),
                narrowest or round(wide),
            ]


def test_forty_eight_numbers_are_drawn_unless_told_otherwise():
    [cells] = strokes(strips({"x": torch.ones(1, 53)}, ["a"]).html)
    assert sorted(cells) == [(0, column) for column in range(48)]


def test_colours_have_twenty_four_steps():
    tensor = torch.cat([torch.arange(1, 25) / 24, torch.ones(20)])
    [cells] = strokes(strips({"x": tensor[None]}, ["a"], most=44).html)
    assert [cells[0, k] for k in range(24)] == [round((k + 1) / 24, 2) for k in range(24)]
    faint = torch.tensor([[0.4 / 24, 0.6 / 24, 1.4 / 24, 1.6 / 24, *[1.0] * 20]])
    [cells] = strokes(strips({"x": faint}, ["a"]).html)
    assert [cells.get((0, k)) for k in range(5)] == [None, 0.04, 0.04, 0.08, 1.0]


def test_the_table_has_the_first_three_numbers_of_each_vector():
    tensor = torch.tensor([[3.0, -4.0, 12.0, 84.0]])
    assert re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", strips({"x": tensor}, ["a"]).html) == [
        *("vector", "length", "number 0", "number 1", "number 2"),
        *("x: a", "85.00", "3.00", "-4.00", "12.00"),
    ]


def test_a_table_without_a_caption_names_its_tensors():
    tensors = {"query": torch.ones(1, 2), "key": torch.ones(1, 2)}
    assert "<caption>query, key</caption>" in strips(tensors, ["a"]).html
    assert "<caption>Two</caption>" in strips(tensors, ["a"], caption="Two").html


def test_two_in_a_hundred_numbers_may_lie_beyond_the_scale():
    """Of 101, those that are 2 places or fewer from the largest; zeros do not count."""
    tensor = torch.cat([torch.ones(98), torch.tensor([2.0, 3.0, 4.0]), torch.zeros(50)])
    html = strips({"x": tensor[None]}, ["a"], most=151).html
    assert "≥ 2.00" in texts(html)
    assert "some beyond the scale" in html
    two = strips({"x": torch.tensor([[1.0, 3.0, -torch.inf]])}, ["a"]).html
    assert "3.00" in texts(two)
