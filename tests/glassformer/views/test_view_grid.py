"""Where a heatmap draws what: read back from its picture."""

import math
import re
from itertools import pairwise, product
from xml.etree import ElementTree

import pytest
import torch
from drawings import stroked

from glassformer.views import heatmap

LETTER = 7.4  # about how wide one is, at 13 pixels
NUMBERED = [[0.5, 0.25, 0.25], [0.1, 0.0, 0.9]]


class Picture:
    """The parts of a heatmap's SVG."""

    def __init__(self, view):
        svg = ElementTree.fromstring(re.search(r"<svg.*</svg>", view.html)[0])
        self.svg = svg
        zero, nought, self.wide, self.high = (float(n) for n in svg.get("viewBox").split())
        assert zero == nought == 0
        rects = list(svg.iter("rect"))
        self.legend = [rect for rect in rects if rect.find("title") is None]
        self.cells = [rect for rect in rects if rect.find("title") is not None]
        self.lines = svg.find("path[@class='g']").get("d")
        texts = list(svg.iter("text"))
        self.columns_name, self.rows_name, self.low, self.high_end = (
            text for text in texts if text.get("class") == "axis"
        )
        words = [text for text in texts if text.get("class") == "word"]
        self.rows = [text for text in words if text.get("text-anchor") == "end"]
        self.columns = [text for text in words if text.get("text-anchor") != "end"]
        self.numbers = [text for text in texts if text.get("class").startswith("number")]

    @property
    def frame(self):
        """Left, top, right and bottom of the outermost lines."""
        x, y, *_ = numbers(self.lines)
        right = re.search(r"H([\d.]+)", self.lines)[1]
        bottom = re.search(r"V([\d.]+)", self.lines)[1]
        return x, y, float(right), float(bottom)

    @property
    def cell(self):
        return float(self.cells[0].get("width"))

    @property
    def tilted(self):
        return ["rotate" in column.get("transform", "") for column in self.columns]


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


def place(element):
    return float(element.get("x")), float(element.get("y"))


def near(*values):
    """Within what is left out of a coordinate with one decimal."""
    return pytest.approx(values if len(values) > 1 else values[0], abs=0.11)


def dense(columns, words=None, rows=1):
    """A matrix of so many columns, each number of which takes four letters."""
    return Picture(heatmap(torch.rand(rows, columns) + 1, range(rows), words or range(columns)))


def test_a_small_heatmap_is_laid_out_by_hand():
    """Cells as wide as four letters of 7 and 9 more; the longest word, `sleep`, is 37 wide."""
    picture = Picture(heatmap(torch.tensor(NUMBERED), ["cats", "sleep"], ["a", "b", "c"]))
    left, top, cell = 20 + 5 * LETTER + 8, 22 + 20, 4 * 7 + 9
    right, bottom = left + 3 * cell, top + 2 * cell
    legend = LETTER + 6 + 5 * 16 + 6 + 4 * LETTER  # `0`, five squares, `1.00`
    assert (picture.wide, picture.high) == (round(left + legend), bottom + 14 + 26)
    assert [place(rect) for rect in picture.cells] == [
        near(left + j * cell, top + i * cell) for i in range(2) for j in range(3)
    ]
    assert {(rect.get("width"), rect.get("height")) for rect in picture.cells} == {("37.0", "37.0")}
    assert picture.frame == near(left, top, right, bottom)
    assert [place(word) for word in picture.rows] == [
        near(left - 7, top + (i + 0.5) * cell + 4.5) for i in range(2)
    ]
    assert [place(word) for word in picture.columns] == [
        near(left + (j + 0.5) * cell, top - 9) for j in range(3)
    ]
    assert {word.get("text-anchor") for word in picture.columns} == {"middle"}
    assert [place(number) for number in picture.numbers] == [
        near(left + (j + 0.5) * cell, top + (i + 0.5) * cell + 4)
        for i in range(2)
        for j in range(3)
    ]
    assert place(picture.columns_name) == near((left + right) / 2, 13)
    assert place(picture.rows_name) == near(12, (top + bottom) / 2)


def test_lines_run_around_and_between_all_cells():
    picture = Picture(heatmap(torch.tensor(NUMBERED), "ab", "xyz"))
    left, top, right, bottom = picture.frame
    across = [numbers(line) for line in re.findall(r"M[\d. ]+H[\d.]+", picture.lines)]
    down = [numbers(line) for line in re.findall(r"M[\d. ]+V[\d.]+", picture.lines)]
    assert across == [near(left, top + i * 37, right) for i in range(3)]
    assert down == [near(left + j * 37, top, bottom) for j in range(4)]
    assert len(re.findall("[MHVz]", picture.lines)) == 2 * (3 + 4)


def test_the_legend_stands_below_the_cells_and_grows_to_the_largest_number():
    picture = Picture(heatmap(torch.tensor([[-2.0, 1.0]]), ["a"], ["b", "c"]))
    left, _, _, bottom = picture.frame
    x, y = left + 5 * LETTER + 6, bottom + 14  # behind `−2.00`
    assert [place(rect) for rect in picture.legend] == [near(x + 16 * k, y) for k in range(9)]
    assert [(rect.get("class"), float(rect.get("fill-opacity"))) for rect in picture.legend] == [
        *(("n", 1.0), ("n", 0.75), ("n", 0.5), ("n", 0.25), ("p", 0.0)),
        *(("p", 0.25), ("p", 0.5), ("p", 0.75), ("p", 1.0)),
    ]
    assert {(rect.get("width"), rect.get("height")) for rect in picture.legend} == {("16", "9")}
    assert place(picture.low) == near(left, y + 8.5)
    assert place(picture.high_end) == near(x + 9 * 16 + 6, y + 8.5)
    assert (picture.low.text, picture.high_end.text) == ("−2.00", "2.00")
    outline = [path.get("d") for path in picture.svg.iter("path")][-1]
    assert numbers(outline) == near(x, y, x + 9 * 16, 9, x)
    assert re.sub("[^A-Za-z]", "", outline) == "MHvHz"


def test_what_is_not_finite_is_not_in_the_legend(subtests):
    for scores, low, high in [
        ([-math.inf, 1.0], "0", "1.00"),
        ([-math.inf, -math.inf], "0", "0.00"),
    ]:
        with subtests.test(scores=scores, low=low, high=high):
            picture = Picture(heatmap(torch.tensor([scores]), ["a"], ["b", "c"]))
            assert (picture.low.text, picture.high_end.text) == (low, high)
            assert len(picture.legend) == 5


def test_numbers_stand_in_cells_that_fit_a_page_and_lines_between_cells_of_some_size(subtests):
    """A page is 660 wide, a number takes 37; lines stand between cells of more than 24."""
    for count, numbered in [(14, True), (17, True), (18, False), (27, False), (28, False)]:
        with subtests.test(count=count, numbered=numbered):
            picture = dense(count)
            assert bool(picture.numbers) == numbered
            assert picture.cell == near(37 if numbered else 660 / count)
            lines = len(re.findall("M", picture.lines))
            assert lines == (2 + count + 1 if picture.cell > 24 else 1)
            if lines == 1:
                left, top, right, bottom = picture.frame
                assert (right - left, bottom - top) == near(660, 660 / count)


def test_a_number_may_fill_the_page_and_needs_no_more_than_its_letters():
    """Five letters take 44, and 15 times that is a page; three would take 30, and have 34."""
    picture = Picture(heatmap(torch.full((1, 15), -1.0), ["a"], range(15)))
    assert len(picture.numbers) == 15
    assert picture.cell == 44
    assert Picture(heatmap(torch.full((1, 15), 100.0), ["a"], range(15))).cell == 34


def test_few_columns_are_as_wide_as_their_words_where_a_phone_has_room(subtests):
    """Three words of ten letters fit in 300 pixels, of thirteen do not."""
    for word, cell in [("x" * 10, 10 * LETTER + 8), ("x" * 13, 37.0)]:
        with subtests.test(word=word, cell=cell):
            picture = dense(3, [word] * 3)
            assert picture.cell == near(cell)
            assert set(picture.tilted) == {cell == 37}


def test_words_of_columns_lie_side_by_side_with_six_between_or_are_tilted(subtests):
    for count, letters in product(range(12, 61, 3), [1, 2, 3, 4]):
        with subtests.test(count=count, letters=letters):
            for columns in range(count, count + 3):
                picture = dense(columns, ["w" * letters] * columns)
                room = 660 / columns if columns > 17 else 37
                if columns <= 55:  # then cells have their least size
                    assert set(picture.tilted) == {letters * LETTER > room - 6}


def test_words_are_at_least_fifteen_apart_and_no_more_are_left_out(subtests):
    for count in [3, *range(30, 72, 3)]:
        with subtests.test(count=count):
            for columns in range(count, count + 3):
                rows = 5
                picture = dense(columns, rows=rows)
                every = 1 if picture.cell >= 15 else 2
                cell = 660 / columns if 17 < columns <= 55 else picture.cell
                assert (every - 1) * cell < 15 <= every * cell + 0.01
                assert [word.text for word in picture.columns] == [
                    *map(str, range(0, columns, every))
                ]
                assert [word.text for word in picture.rows] == [*map(str, range(0, rows, every))]
                left, top, *_ = picture.frame
                for k, word in enumerate(picture.columns):
                    assert float(word.get("x")) == near(left + (k * every + 0.5) * cell)
                for k, word in enumerate(picture.rows):
                    assert float(word.get("y")) == near(top + (k * every + 0.5) * cell + 4.5)


def test_tilted_words_end_within_the_picture(subtests):
    """At 45 degrees: 26 below the upper edge, where the axis has its name; 8 from the right."""
    for last, margin in [("x" * 10, None), ("x", 8)]:
        with subtests.test(last=last, margin=margin):
            picture = dense(13, ["x" * 10] * 12 + [last])
            assert all(picture.tilted)
            left, top, right, _ = picture.frame
            reach = 10 * LETTER * math.sqrt(0.5)
            for j, word in enumerate(picture.columns):
                x, y = place(word)
                assert (x, y) == near(left + (j + 0.5) * 37, top - 8)
                assert numbers(word.get("transform")) == [-45, x, y]
                assert word.get("text-anchor") == "start"
            assert y - reach == pytest.approx(26, abs=0.6)
            end = right if margin else x + reach
            assert picture.wide - end == pytest.approx(8, abs=0.7)


def test_only_words_that_are_too_long_are_cut_and_have_a_tooltip():
    """Fourteen signs are shown; a cut never ends in a joiner."""
    words = ["a" * 14, "b" * 15, "c" * 12 + "\u200cdd"]
    picture = Picture(heatmap(torch.rand(1, 3), ["d" * 20], words))
    assert [word.text for word in picture.columns] == ["a" * 14, "b" * 13 + "…", "c" * 12 + "…"]
    titles = [word.find("title") for word in picture.columns + picture.rows]
    assert titles[0] is None
    assert [title.text for title in titles[1:]] == [*words[1:], "d" * 20]


def test_each_cell_says_its_words_and_its_number():
    picture = Picture(heatmap(torch.tensor(NUMBERED), ["cats", "sleep"], "abc"))
    assert [rect.find("title").text for rect in picture.cells] == [
        *("cats → a: 0.50", "cats → b: 0.25", "cats → c: 0.25"),
        *("sleep → a: 0.10", "sleep → b: 0.00", "sleep → c: 0.90"),
    ]


def test_numbers_are_white_on_strong_cells_alone():
    strengths = [0.0, 0.5, 0.75, 0.76, 0.77, 1.0]
    picture = Picture(heatmap(torch.tensor([[*strengths]]).double(), ["a"], range(6)))
    assert [number.get("class") for number in picture.numbers] == ["number"] * 4 + ["number on"] * 2


def test_a_thousand_cells_are_told_one_by_one_and_more_are_not(subtests):
    for rows, columns in [(32, 32), (25, 41)]:
        with subtests.test(rows=rows, columns=columns):
            view = heatmap(torch.rand(rows, columns), range(rows), range(columns))
            every = rows * columns <= 1024
            cells = [
                rect
                for rect in re.findall("<rect.*?</rect>|<rect[^>]*/>", view.html)
                if "→" in rect
            ]
            assert len(cells) == (rows * columns if every else 0)
            told = rows if every else -(-rows // 5)  # the rows with a number beside them
            assert view.html.count("<td>") == (rows * columns if every else 2 * told)
            assert len(str(view).splitlines()) == told + 1
            assert ("largest at" in str(view)) != every


def test_the_cells_of_a_large_matrix_fill_its_frame():
    rows, columns = 37, 31
    picture = Picture(heatmap(torch.ones(rows, columns), range(rows), range(columns)))
    left, top, right, bottom = picture.frame
    [group] = picture.svg.iter("g")
    x, y, cell = numbers(group.get("transform"))
    y -= cell / 2  # the middle of the first row
    assert (x, y) == near(left, top)
    assert (x + columns * cell, y + rows * cell) == near(right, bottom)
    [path] = group
    assert (path.get("class"), float(path.get("stroke-opacity"))) == ("p", 1)
    squares = stroked(path.get("d"))
    assert len(set(squares)) == len(squares) == rows * columns
    assert max(squares) == (columns - 1, rows - 1)


def test_the_cells_of_a_large_matrix_have_its_signs():
    scores = torch.ones(37, 31)
    scores[2, 3], scores[5, 7], scores[11, 13] = -1.0, 0.0, 0.25
    picture = Picture(heatmap(scores, range(37), range(31)))
    [group] = picture.svg.iter("g")
    small = {p.get("class") + p.get("stroke-opacity"): stroked(p.get("d")) for p in group}
    assert small.pop("n1.000") == [(3, 2)]
    assert small.pop("p0.250") == [(13, 11)]
    assert [*small] == ["p1.000"]
    assert (7, 5) not in small["p1.000"]


def test_a_heatmap_that_stays_wider_than_a_phone_can_be_reached_by_keys(subtests):
    """It shrinks to 0.8 of its size, so that its words and numbers can be read."""
    for count in [3, 10, 11, 17, 18]:
        with subtests.test(count=count):
            view = heatmap(torch.rand(1, count) + 1, ["a"], range(count))
            whole = 28 + LETTER + min(37 * count, 660) + 8
            assert ('tabindex="0"' in view.html) == (0.8 * whole > 300)


def test_a_small_heatmap_is_not_stretched():
    narrow = heatmap(torch.rand(1, 3), ["a"], range(3))
    widths = [int(n) for n in re.findall(r"m..-width:(\d+)px", narrow.html)]
    whole = 28 + LETTER + LETTER + 6 + 5 * 16 + 6 + 4 * LETTER  # the legend is wider than 3 cells
    assert widths == [round(whole), round(0.8 * whole)]


def test_a_table_without_a_caption_says_what_rows_and_columns_are():
    captions = re.findall("<caption>(.*?)</caption>", heatmap(torch.rand(1, 2), "a", "bc").html)
    assert captions == ["query rows, key columns"]


def test_rows_of_cells_touch():
    """So do columns: nothing of the page is seen between two cells."""
    cells = [place(rect) for rect in dense(29, rows=7).cells]
    for (x, y), (u, v) in pairwise(cells):
        if y == v:
            assert u - x == pytest.approx(660 / 29, abs=0.11)
        else:
            assert v - y == pytest.approx(660 / 29, abs=0.11)


def test_the_scale_says_where_larger_values_have_its_last_color(subtests):
    for end, shown in [(1, "≥ 1.00"), (3, "3.00"), (None, "2.50")]:
        with subtests.test(end=end, shown=shown):
            view = heatmap(torch.tensor([[0.5, 2.5]]), ["a"], ["b", "c"], end=end)
            assert re.findall(r'class="axis"[^>]*>([^<]+)</text>', view.html)[-1] == shown
