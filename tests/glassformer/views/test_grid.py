"""What a heatmap draws and says, read back from its picture, its table, and its text."""

import math
import re
from itertools import product

import pytest
import torch
from drawings import Reader, contrast, near, numbers, shades, svgs, texts, widths

from glassformer.views import heatmap
from glassformer.views.palette import DARK, LIGHT

LETTER = 0.57 * 13  # about how wide one is
NUMBERED = torch.tensor([[0.5, 0.25, 0.25], [0.1, 0.0, 0.9]])
SENTENCE = ["cats", "sleep"]


class Picture:
    """The parts of a heatmap's picture."""

    def __init__(self, view):
        [svg] = svgs(view)
        self.svg, self.wide = svg, numbers(svg.get("viewBox"))[2]
        rects = list(svg.iter("rect"))
        self.legend = [rect for rect in rects if rect.find("title") is None]
        self.cells = [rect for rect in rects if rect.find("title") is not None]
        self.lines = svg.find("path[@class='line thin']").get("d")
        written = list(svg.iter("text"))
        self.low, self.high = [text for text in written if text.get("class") == "small"][2:]
        words = [text for text in written if text.get("class") == "word"]
        self.rows = [text for text in words if text.get("text-anchor") == "end"]
        self.columns = [text for text in words if text.get("text-anchor") != "end"]
        self.numbers = [text for text in written if text.get("class").startswith("number")]

    @property
    def frame(self):
        """Left, top, right, and bottom of the outermost lines."""
        x, y, *_ = numbers(self.lines)
        right, bottom = re.search(r"H([\d.]+)", self.lines), re.search(r"V([\d.]+)", self.lines)
        return x, y, float(right[1]), float(bottom[1])

    @property
    def cell(self):
        return float(self.cells[0].get("width"))

    @property
    def tilted(self):
        return {"rotate" in column.get("transform", "") for column in self.columns}


def place(element):
    return float(element.get("x")), float(element.get("y"))


def wide(columns, words=None, rows=1):
    """A matrix of so many columns, each number of which takes four letters."""
    return Picture(heatmap(torch.rand(rows, columns) + 1, range(rows), words or range(columns)))


def test_each_value_has_a_cell_with_its_color_its_number_and_its_words():
    view = heatmap(NUMBERED, SENTENCE, ["a", "b", "c"])
    picture = Picture(view)
    left, top, right, bottom = picture.frame
    across, down = (right - left) / 3, (bottom - top) / 2
    assert [float(cell.get("fill-opacity")) for cell in picture.cells] == [
        pytest.approx(value / 0.9, abs=6e-4) for value in NUMBERED.flatten().tolist()
    ]
    corners = [(left + j * across, top + i * down) for i in range(2) for j in range(3)]
    assert [place(cell) for cell in picture.cells] == [near(*corner) for corner in corners]
    assert [place(number) for number in picture.numbers] == [
        near(x + across / 2, y + down / 2 + 4) for x, y in corners
    ]
    assert [place(word)[0] for word in picture.columns] == [
        near(left + (j + 0.5) * across) for j in range(3)
    ]
    assert [place(word)[1] for word in picture.rows] == [
        near(top + (i + 0.5) * down + 4.5) for i in range(2)
    ]
    assert [cell.find("title").text for cell in picture.cells] == [
        *("cats → a: 0.50", "cats → b: 0.25", "cats → c: 0.25"),
        *("sleep → a: 0.10", "sleep → b: 0.00", "sleep → c: 0.90"),
    ]
    assert Reader(view.html).rows == [
        ["query \\ key", "a", "b", "c"],
        ["cats", "0.50", "0.25", "0.25"],
        ["sleep", "0.10", "0.00", "0.90"],
    ]


def test_as_text():
    weights = torch.tensor([[0.5, -12.25], [-math.inf, math.nan]])
    assert str(heatmap(weights, ["日本", "b"], ["key", "long"], caption="Scores")) == (
        "Scores\nquery \\ key  key   long\n       日本  0.5  -12.2\n          b   -∞    nan"
    )


def test_scores_have_two_hues_and_what_is_not_finite_is_blank():
    scores = torch.tensor([[8.0, -4.0, -math.inf], [math.nan, 0.0, 2.0]])
    view = heatmap(scores, "ab", "xyz")
    assert [(c.get("class"), float(c.get("fill-opacity"))) for c in Picture(view).cells] == [
        ("p", 1.0), ("n", 0.5), ("n", 0.0), ("p", 0.0), ("p", 0.0), ("p", 0.25),
    ]  # fmt: skip
    assert {"−4.00", "−∞", "nan", "−8.00", "8.00"} <= set(texts(view))


def test_the_legend_says_which_numbers_have_which_color(subtests):
    rows = [
        ([[-2.0, 1.0]], None, "−2.00", "2.00", 9),
        ([[0.0, 0.0]], None, "0", "0.00", 5),
        ([[-math.inf, 1.0]], None, "0", "1.00", 5),
        ([[0.5, 2.5]], 1, "0", "≥ 1.00", 5),
        ([[-2.5, 0.5]], 1, "≤ −1.00", "1.00", 9),
        ([[0.5, 2.5]], 3, "0", "3.00", 5),
        ([[-2.0, -1.0]], None, "−2.00", "0", 5),
        ([[-2.0, 0.0]], 4, "−4.00", "0", 5),
    ]
    for scores, end, low, high, steps in rows:
        with subtests.test(scores=scores, end=end):
            picture = Picture(heatmap(torch.tensor(scores), ["a"], ["b", "c"], end=end))
            assert (picture.low.text, picture.high.text) == (low, high)
            colors = [
                float(r.get("fill-opacity")) * (-1 if r.get("class") == "n" else 1)
                for r in picture.legend
            ]
            least = -4 if "−" in low else 0
            assert colors == [k / 4 for k in range(least, least + steps)]
            first, last = place(picture.legend[0])[0], place(picture.legend[-1])[0]
            assert place(picture.low)[0] + 6 * len(low) < first
            assert last + 16 < place(picture.high)[0] < picture.wide


def test_a_signed_scale_has_both_signs_whatever_the_values(subtests):
    for scores in ([[0.5, 1.0]], [[-0.5, -1.0]]):
        with subtests.test(scores=scores):
            view = heatmap(torch.tensor(scores), ["a"], ["b", "c"], signed=True)
            picture = Picture(view)
            assert (picture.low.text, picture.high.text) == ("−1.00", "1.00")
            assert len(picture.legend) == 9


def test_a_mask_is_drawn_and_gradients_are_left_alone():
    assert str(heatmap(torch.eye(2) > 0, "ab", "xy")).split() == [
        "query", "\\", "key", "x", "y", "a", "1", "0", "b", "0", "1",
    ]  # fmt: skip
    weights = torch.rand(2, 3, requires_grad=True)
    heatmap(weights, "ab", "xyz")
    assert weights.grad is None


def test_axes_have_names_in_the_middle():
    view = heatmap(torch.rand(2, 5), "ab", "vwxyz", axes=("target", "source"))
    left, top, right, bottom = Picture(view).frame
    across, up = [t for t in svgs(view)[0].iter("text") if t.get("class") == "small"][:2]
    assert (across.text, up.text) == ("source →", "← target")
    assert place(across)[0] == near((left + right) / 2)
    assert place(up)[1] == near((top + bottom) / 2)
    assert numbers(up.get("transform")) == [-90, *place(up)]
    assert "<caption>target rows, source columns</caption>" in view.html


def test_cells_have_numbers_where_these_fit_a_page_and_are_at_most_a_hundred(subtests):
    """A page is 660 wide; four letters take 37, or 26 if rows and columns have no words."""
    for rows, columns, numbered in [(1, 17, True), (1, 18, False), (10, 10, True), (7, 15, False)]:
        with subtests.test(rows=rows, columns=columns):
            picture = wide(columns, rows=rows)
            assert bool(picture.numbers) == numbered
            assert picture.cell == near(
                (37 if rows == 1 else 26) if columns < 18 else 660 / columns
            )
    assert wide(101).cell == 10.5  # too small for its word


def test_without_numbers_cells_are_small_and_the_table_still_has_the_numbers():
    weights = torch.tensor([[0.25, 0.75], [1.0, 0.0]])
    view = heatmap(weights, "ab", "xy", numbered=False)
    picture = Picture(view)
    assert not picture.numbers
    assert picture.cell == near(18)
    assert str(view) == str(heatmap(weights, "ab", "xy"))


def test_few_columns_are_as_wide_as_their_words_where_a_phone_has_room(subtests):
    for word, cell in [("x" * 10, 10 * LETTER + 8), ("x" * 13, 37.0)]:
        with subtests.test(word=word):
            picture = wide(3, [word] * 3)
            assert picture.cell == near(cell)
            assert picture.tilted == {cell == 37}


def test_words_of_columns_are_tilted_where_they_do_not_fit_side_by_side(subtests):
    for columns, letters in product(range(12, 56, 3), [1, 2, 3, 4]):
        with subtests.test(columns=columns, letters=letters):
            picture = wide(columns, ["w" * letters] * columns)
            assert picture.tilted == {letters * LETTER > picture.cell - 6}


def test_tilted_words_end_within_the_picture():
    picture = wide(13, ["x" * 10] * 13)
    assert picture.tilted == {True}
    reach = 10 * LETTER * math.sqrt(0.5)
    x, y = place(picture.columns[-1])
    assert y - reach > 13  # below the name of the axis
    assert x + reach < picture.wide


def test_words_are_at_least_fifteen_apart_and_no_more_are_left_out(subtests):
    for columns in [3, *range(30, 72, 5)]:
        with subtests.test(columns=columns):
            picture = wide(columns, rows=5)
            every = 1 if picture.cell >= 15 else 2
            assert (every - 1) * picture.cell < 15 <= every * picture.cell + 0.1
            assert [word.text for word in picture.columns] == [*map(str, range(0, columns, every))]
            assert [word.text for word in picture.rows] == [*map(str, range(0, 5, every))]


def test_only_words_that_are_too_long_are_cut_and_have_a_tooltip():
    """Fourteen columns are shown, and a cut never ends in a joiner."""
    words = ["a" * 14, "b" * 15, "c" * 12 + "\u200cddd", "日" * 8]
    picture = Picture(heatmap(torch.rand(1, 4), ["d" * 20], words))
    assert [word.text for word in picture.columns] == [
        *("a" * 14, "b" * 13 + "…", "c" * 12 + "…", "日" * 6 + "…"),
    ]
    titles = [word.find("title") for word in picture.columns + picture.rows]
    assert titles[0] is None
    assert [title.text for title in titles[1:]] == [*words[1:], "d" * 20]


def test_numbers_can_be_read_on_every_cell(subtests):
    for (theme, paper, ink), name in product(
        [(LIGHT, 255, 0), (DARK, 36, 255)], ["cell", "negative-cell"]
    ):
        with subtests.test(paper=paper, name=name):
            color = bytes.fromhex(re.search(f"--{name}:#(......)", theme)[1])
            for step in range(1001):
                cell = [(c * step + paper * (1000 - step)) / 1000 for c in color]
                assert contrast(cell, [ink] * 3) >= 4.5, step


def test_a_large_matrix_keeps_strengths_and_signs_and_is_told_by_its_largest():
    rows, columns = 37, 31  # more than 1024 cells
    scores = torch.rand(rows, columns)
    scores[5, 7], scores[2, 3], scores[11, 13] = 2.0, -1.0, 0.0
    view = heatmap(scores, range(rows), range(columns))
    [group] = svgs(view)[0].iter("g")
    drawn = torch.zeros(rows, columns)
    for cell, value in shades(group).items():
        drawn[cell] = value
    torch.testing.assert_close(drawn, scores / 2, rtol=0, atol=1 / 128 + 1e-3)
    x, y, cell, high = numbers(group.get("transform"))
    left, top, right, bottom = Picture(view).frame
    assert (x, y - high / 2) == near(left, top)
    assert (x + columns * cell, y + (rows - 0.5) * high) == near(right, bottom)
    assert len(view.html) < 40_000
    lines = [line.split() for line in str(view).splitlines()]
    assert lines[0] == ["query", "largest", "at", "key", "value"]
    assert lines[2] == ["5", "7", "2.00"]
    assert [line[0] for line in lines[1:]] == ["0", "5", "10", "15", "20", "25", "30", "35"]
    assert Reader(view.html).rows[2] == lines[2]


def test_a_thousand_cells_are_told_one_by_one():
    view = heatmap(torch.rand(32, 32), range(32), range(32))
    assert len(Picture(view).cells) == 32 * 32
    assert [len(row) for row in Reader(view.html).rows] == [33] * 33


def test_a_large_symmetric_matrix_is_told_by_distance():
    distances = (torch.arange(41)[:, None] - torch.arange(41)).abs()
    waves = (distances / 7).cos() + torch.eye(41)
    lines = [line.split() for line in str(heatmap(waves, range(41), range(41))).splitlines()]
    assert lines[0] == ["distance", "mean"]
    assert lines[1:3] == [["0", "2.00"], ["1", f"{math.cos(1 / 7):.2f}"]]
    assert [int(line[0]) for line in lines[1:]] == [*range(20), 20, 30, 40]
    waves[3, 5] += 0.1
    assert "largest at" in str(heatmap(waves, range(41), range(41)))


def test_it_shrinks_as_far_as_its_words_can_be_read_and_then_scrolls(subtests):
    """Words stay legible at 0.8 of their size; numbered axes fit a phone's column of 280."""
    for rows, columns in [(1, 3), (1, 9), (1, 10), (3, 41), (41, 41)]:
        with subtests.test(rows=rows, columns=columns):
            view = heatmap(torch.rand(rows, columns) + 1, range(rows), range(columns))
            full, widest, narrowest = widths(view)
            grown = rows == 3  # its cells are small, without numbers
            assert widest == pytest.approx(1.5 * full if grown else full, abs=1)
            share = 0.8 if rows < 41 else 0
            assert narrowest == pytest.approx(min(full, max(280, share * full)), abs=1)
            assert ('tabindex="0"' in view.html) == (narrowest > 280)


def test_hidden_cells_are_crossed_out_and_a_line_runs_around_outlined_ones():
    hidden, outlined = torch.zeros(2, 3).bool(), torch.zeros(2, 3).bool()
    hidden[0, 2], outlined[1, 1:] = True, True
    view = heatmap(NUMBERED, SENTENCE, ["a", "b", "c"], hidden=hidden, outlined=outlined)
    picture, cell = Picture(view), Picture(view).cell
    corners = [place(one) for one in picture.cells]
    assert [n.text for n in picture.numbers] == ["0.50", "0.25", "0.10", "0.00", "0.90"]
    assert picture.cells[2].find("title").text == "cats → c: hidden"
    assert float(picture.cells[2].get("fill-opacity")) == 0
    assert Reader(view.html).rows[1] == ["cats", "0.50", "0.25", "hidden"]
    [_, cross] = [p for p in picture.svg.iter("path") if p.get("class") == "line thin"][:2]
    x, y = corners[2]
    assert numbers(cross.get("d")) == near(x, y + cell, x + cell, y)
    [around] = [p for p in picture.svg.iter("path") if p.get("class") == "line bold"]
    (a, y), (b, _) = corners[4:]
    edges = [(a, y), (a, y + cell), (a, y), (b, y), (b, y + cell), (b + cell, y)]
    assert numbers(around.get("d")) == near(*(v for edge in edges for v in (*edge, cell)))
    assert re.findall("[hv]", around.get("d")) == [*"hhvhhv"]  # none between the two cells


def test_a_mask_of_another_shape_is_refused(subtests):
    for name in ("hidden", "outlined"):
        with subtests.test(name=name), pytest.raises(ValueError, match=rf"{name} has shape \(3,"):
            heatmap(NUMBERED, SENTENCE, "abc", **{name: torch.zeros(3, 2).bool()})


def test_numbered_axes_of_many_cells_lie_flat_fit_a_phone_and_grow(subtests):
    for rows, columns, cell in [(9, 30, 10.5), (6, 12, 26)]:
        with subtests.test(columns=columns):
            view = heatmap(torch.rand(rows, columns), range(rows), range(columns), end=1)
            picture = Picture(view)
            assert (picture.cell, picture.tilted) == (cell, {False})
            every = 1 if picture.numbers else 2
            assert [word.text for word in picture.rows] == [*map(str, range(0, rows, every))]
            full, widest, narrowest = widths(view)
            assert widest == pytest.approx(1.5 * full, abs=1)
            assert narrowest < 288


def test_rows_without_a_name_leave_no_room_for_it():
    named, bare = (heatmap(torch.ones(1, 2), ["a"], "xy", axes=(n, "key")) for n in ("row", ""))
    assert widths(named)[0] - widths(bare)[0] == near(20)
    assert "←" not in bare.html
