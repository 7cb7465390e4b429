"""What strips and growing vectors show: the cells, and what is said of them."""

import pytest
import torch
from drawings import Reader, facts, numbers, shades, svgs, texts, widths

from glassformer.layers.kv_cache import KVCache
from glassformer.models.config import TransformerConfig
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.views import growth, strips

WORDS = ["[CLS]", "time", "an"]
LETTERS = list("abcdefg")
ROW, CELL = 15, 7


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
    steps = [torch.full((1, 3), 0.5), torch.tensor([[0.5] * 3, [-2.0] * 3])]
    first, kept, new = panels(growth({"x": steps}, WORDS))
    assert [set(block.values()) for block in (first, kept, new)] == [{0.25}, {0.25}, {-1.0}]


def test_a_few_great_numbers_hide_no_other_and_zeros_do_not_count(subtests):
    """Two in a hundred may be beyond the scale; what isn't finite has no color."""
    great = torch.ones(3, 41)
    great[1, 7] = 1000.0
    nearly = torch.zeros(3, 47)
    nearly[2, 5] = -0.5
    last = torch.cat([torch.ones(44), torch.tensor([3.0]), torch.zeros(3)])[None]
    odd = torch.tensor([[1.0, torch.inf, torch.nan]])
    rows = [
        ("one great number", great, {1.0}, True),
        ("nearly all zeros", nearly, {-1.0}, False),
        ("one of 45", last, {1.0}, True),
        ("only zeros", torch.zeros(3, 5), set(), False),
        ("not finite", odd, {1.0}, True),
    ]
    for name, tensor, colors, beyond in rows:
        with subtests.test(name):
            view = strips({"x": tensor}, WORDS[: len(tensor)])
            assert {value for cells in panels(view) for value in cells.values()} == colors
            assert ("some beyond the scale" in view.html) == beyond


def test_of_a_long_vector_the_first_numbers_are_drawn_and_the_length_counts_all():
    tensor = torch.ones(1, 100)
    view = strips({"x": tensor}, ["a"])
    [cells] = panels(view)
    assert sorted(cells) == [(0, column) for column in range(48)]
    assert "the first 48 of 100 numbers" in texts(view)
    assert "10.0" in texts(view)
    assert "48 numbers" in texts(strips({"x": tensor[:, :48]}, ["a"]))
    assert {column for block in panels(growth({"x": [tensor]}, "a")) for _, column in block} == {
        *range(5)
    }


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


def test_a_table_without_a_caption_names_its_vectors():
    tensors = {"query": torch.ones(1, 2), "key": torch.ones(1, 2)}
    steps = {name: [tensor] for name, tensor in tensors.items()}
    for draw, given in ((strips, tensors), (growth, steps)):
        assert "<caption>query, key</caption>" in draw(given, ["a"]).html
        assert "<caption>Two</caption>" in draw(given, ["a"], caption="Two").html


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


# --- what grows


def steps_of(*lengths, width=11):
    whole = torch.randn(len(LETTERS), width)
    return [whole[:length] for length in lengths]


def frames(view):
    """Step, first row, and count of rows of each frame, by the places of the steps."""
    svg = svgs(view)[0]
    found = [r for r in svg.iter("rect") if r.get("class") == "fresh"]
    lefts = sorted({float(r.get("x")) for r in found})
    top = min(float(r.get("y")) for r in found)
    return [
        (
            lefts.index(float(r.get("x"))),
            round((float(r.get("y")) - top) / ROW),
            round(float(r.get("height")) / ROW),
        )
        for r in found
    ]


def test_what_is_new_or_has_changed_is_framed_and_what_was_there_is_pale():
    first, second, third = steps_of(2, 3, 7)
    view = growth({"keys": [first, second, third]}, LETTERS)
    assert frames(view) == [(0, 0, 2), (1, 2, 1), (2, 3, 4)]
    pale = [group for group in svgs(view)[0].iter("g") if group.get("class") == "kept"]
    assert [len({row for row, _ in shades(group)}) for group in pale] == [2, 3]
    changed = third.clone()
    changed[1] += 0.5
    again = growth({"keys": [first, second, changed]}, LETTERS)
    assert frames(again) == [(0, 0, 2), (1, 2, 1), (2, 1, 1), (2, 3, 4)]
    assert facts(again)[-1][1] == "b d e f g"


def test_a_change_of_a_hundred_thousandth_is_rounding(subtests):
    for change, kept in [(0.8e-5, 3), (1.5e-5, 2)]:
        with subtests.test(change=change):
            zeros = torch.zeros(3, 7)
            changed = zeros.clone()
            changed[1, 4] = change
            last = facts(growth({"x": [zeros, changed]}, "abc"))[-1]
            assert last[1:3] == ["nothing" if kept == 3 else "b", str(kept)]


def test_steps_that_shrink_keep_what_is_left():
    told = facts(growth({"keys": steps_of(5, 3)}, LETTERS))
    assert told[-1] == ["keys, step 2", "nothing", "3", "3 × 11"]


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
    view = growth({"keys": keys, "values": values}, list("abcdef"))
    expected = [("a b c", 0, 3), ("d", 3, 4), ("e f", 4, 6)]
    told = [
        [f"{name}, step {k}", new, str(kept), f"{length} × {22 // 2}"]
        for name in ("keys", "values")
        for k, (new, kept, length) in enumerate(expected, 1)
    ]
    assert facts(view) == told == Reader(view.html).rows[1:]
    sizes = [text for text in texts(view) if "×" in text]
    assert sizes == ["3 × 11", "4 × 11", "6 × 11"] * 2
    assert "the first 5 of 11 numbers of a vector" in texts(view)


def test_many_steps_make_a_wider_picture_that_keys_can_scroll(subtests):
    for count in [1, 5, 6, 7, 13]:
        with subtests.test(count=count):
            view = growth({"x": [torch.ones(1, 5)] * count}, ["time"])
            wide, widest, narrowest = widths(view)
            assert widest == pytest.approx(1.4 * wide, abs=1)
            assert narrowest == pytest.approx(max(0.8 * wide, min(280, wide)), abs=1)
            assert ('tabindex="0"' in view.html) == (0.8 * wide > 280)
            last = max(float(r.get("x")) for r in svgs(view)[0].iter("rect"))
            assert last + 5 * CELL <= wide
