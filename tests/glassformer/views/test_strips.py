"""What strips show: the cells, and what is said of them."""

import re

import pytest
import torch
from drawings import Reader, numbers, shades, svgs, texts, widths

from glassformer.views import strips

WORDS = ["[CLS]", "time", "an"]
ROW, CELL = 15, 5.5


def panels(view):
    """The strength of each cell, by row and column: a dictionary for each block of cells."""
    found = svgs(view)[0].iter("g")
    return [shades(group) for group in found if "scale" in group.get("transform", "")]


def test_each_number_has_its_cell_and_its_color():
    """The scale ends below the few largest; a color is one of 24."""
    tensor = torch.linspace(-1, 1, 33).reshape(3, 11)
    [cells] = panels(strips({"x": tensor}, WORDS))
    end = tensor.abs().flatten().sort().values[round(0.98 * 32)]
    drawn = torch.zeros(3, 11)
    for place, value in cells.items():
        drawn[place] = value
    torch.testing.assert_close(drawn, (tensor / end).clamp(-1, 1), atol=1 / 48 + 0.001, rtol=0)


def test_all_tensors_share_one_scale():
    tensors = {"small": torch.full((3, 5), 0.5), "large": torch.full((3, 5), -2.0)}
    small, large = panels(strips(tensors, WORDS))
    assert set(small.values()) == {0.25}
    assert set(large.values()) == {-1.0}


def test_a_few_great_numbers_hide_no_other_and_zeros_do_not_count(subtests):
    """Two in a hundred may be beyond the scale; what isn't finite has no color."""
    great = torch.ones(3, 41)
    great[1, 7] = 1000.0
    nearly = torch.zeros(3, 47)
    nearly[2, 5] = -0.5
    last = torch.cat([torch.ones(44), torch.tensor([3.0]), torch.zeros(3)])[None]
    odd = torch.tensor([[1.0, torch.inf, torch.nan]])
    rows = [
        ("one great number", great, {1.0}, "dot: number 7, over 10 × the scale"),
        ("nearly all zeros", nearly, {-1.0}, ""),
        ("one of 45", last, {1.0}, "some beyond the scale"),
        ("only zeros", torch.zeros(3, 5), set(), ""),
        ("not finite", odd, {1.0}, "dot: number 1, over 10 × the scale"),
    ]
    notes = {note for *_, note in rows if note}
    for name, tensor, colors, note in rows:
        with subtests.test(name):
            view = strips({"x": tensor}, WORDS[: len(tensor)])
            assert {value for cells in panels(view) for value in cells.values()} == colors
            assert [said for said in notes if said in view.html] == [note] * bool(note)


def test_of_a_long_vector_the_first_numbers_are_drawn_and_the_length_counts_all():
    tensor = torch.ones(1, 100)
    view = strips({"x": tensor}, ["a"])
    [cells] = panels(view)
    assert sorted(cells) == [(0, column) for column in range(48)]
    assert "first 48 of 100 numbers" in texts(view)
    assert "10.0" in texts(view)
    assert "48 numbers" in texts(strips({"x": tensor[:, :48]}, ["a"]))


def test_only_numbers_over_ten_times_the_end_of_the_scale_have_a_dot():
    tensor = torch.ones(2, 47)
    tensor[1, 5], tensor[1, 11] = -10.5, 9.5
    [dots] = re.findall(r'class="far" d="([^"]+)"', strips({"x": tensor}, ["a", "b"]).html)
    assert dots.count("M") == 1
    tensor[0, 7], tensor[1, 11] = 11, 1
    assert "dot: over 10 × the scale" in texts(strips({"x": tensor}, ["a", "b"]))  # two columns
    tensor[0, 7] = 1
    assert 'class="far"' not in strips({"x": tensor.clamp(min=-9)}, ["a", "b"]).html


def test_drawing_can_start_at_a_later_number():
    tensor = torch.zeros(1, 61)
    tensor[0, [7, 19, 53]] = torch.tensor([12.0, 3.0, -4.0])
    view = strips({"x": tensor}, ["a"], first=19)
    [cells] = panels(view)
    assert sorted(cells) == [(0, 0), (0, 34)]
    assert {"numbers 19 to 60 of 61", "13.0"} <= set(texts(view))
    assert "number 19  number 20" in str(view)


def test_strips_as_text_and_as_a_table_tell_the_same():
    tensors = {"query": torch.tensor([[0.6, 0.8]]), "key": torch.tensor([[-5.0, 12.0]])}
    view = strips(tensors, ["日本"], caption="Two vectors")
    assert str(view) == (
        "Two vectors\n"
        "     vector  length  number 0  number 1\n"
        "query: 日本    1.00      0.60      0.80\n"
        "  key: 日本   13.00     -5.00     12.00"
    )
    assert [" ".join(row) for row in Reader(view.html).rows] == [
        " ".join(line.split()) for line in str(view).splitlines()[1:]
    ]
    assert "<caption>Two vectors</caption>" in view.html
    assert "<caption>query, key</caption>" in strips(tensors, ["a"]).html


def test_rows_words_and_lengths_are_level():
    tensors = {"query": torch.full((3, 5), 2.0), "key": torch.full((3, 5), -1.0)}
    [svg] = svgs(strips(tensors, WORDS))
    words = [text for text in svg.iter("text") if text.get("class") == "word"]
    heights = {name: [float(t.get("y")) for t in words if t.text == name] for name in WORDS}
    lengths = [float(t.get("y")) for t in words if t.text in ("4.5", "2.2")]  # of √20 and √5
    groups = [g for g in svg.iter("g") if g.get("transform")]
    for k, group in enumerate(groups):
        x, y, wide, high = numbers(group.get("transform"))
        assert (wide, high) == (CELL, ROW)
        assert x > max(float(text.get("x")) for text in words if text.text in WORDS)
        for row, name in enumerate(WORDS):
            middle = y + ROW * row  # a stroke runs along the middle of its row
            assert heights[name][k] == lengths[3 * k + row] == pytest.approx(middle + 4.5, abs=0.1)


def test_strips_shrink_to_a_phone_and_grow_by_a_fifth():
    wide, widest, narrowest = widths(strips({"x": torch.ones(1, 48)}, ["time"]))
    assert widest == pytest.approx(1.2 * wide, abs=1)
    assert narrowest == 280
    wide, _, narrowest = widths(strips({"x": torch.ones(1, 5)}, ["time"]))
    assert narrowest == pytest.approx(wide, abs=1)
