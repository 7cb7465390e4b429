"""What strips draw and say, held against numbers worked out here."""

import re

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


@pytest.mark.parametrize(
    ("tensors", "most", "message"),
    [
        ({}, 3, "there is none"),
        ({"x": torch.ones(2, 3)}, 3, r"'x' of shape \(2, 3\) must be .* the 3 words"),
        ({"x": torch.ones(1, 3, 5)}, 3, r"'x' of shape \(1, 3, 5\) must be \(rows, width\)"),
        ({"x": torch.ones(3, 0)}, 3, r"'x' of shape \(3, 0\)"),
        ({"x": torch.ones(3, 5), "y": torch.ones(3, 7)}, 3, r"one shape, but .*\(3, 5\).*\(3, 7\)"),
        ({"x": torch.ones(3, 5)}, 0, r"most \(0\) must be at least 1"),
    ],
)
def test_what_cannot_be_drawn_is_refused(tensors, most, message):
    with pytest.raises(ValueError, match=message):
        strips(tensors, WORDS, most=most)


def test_of_a_tensor_that_is_nearly_all_zeros_the_rest_is_seen():
    tensor = torch.zeros(3, 47)
    tensor[2, 5] = -0.5
    assert strokes(strips({"x": tensor}, WORDS).html) == [{(2, 5): -1.0}]
    assert strokes(strips({"x": torch.zeros(3, 5)}, WORDS).html) == [{}]
