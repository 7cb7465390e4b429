"""Pictures of machines and memory: what they show is counted again here."""

import re

import pytest
import torch
from drawings import facts, near, numbers, svgs, texts
from torch.utils._python_dispatch import TorchDispatchMode

from glassformer.layers.online_softmax import online_attention
from glassformer.training.lora import LoRALinear
from glassformer.views import levels, low_rank, ring, traffic, workers


def rectangles(view, css):
    """The width and the height of each rectangle of a class."""
    found = (rect for svg in svgs(view) for rect in svg.iter("rect") if rect.get("class") == css)
    return [(float(rect.get("width")), float(rect.get("height"))) for rect in found]


# --- a ring


def ring_turns(held):
    """What each process holds after each turn: first added up, then copied."""
    size, turns = len(held), [[[*pieces] for pieces in held]]
    for turn in range(2 * (size - 1)):
        before = turns[-1]
        after = [[*pieces] for pieces in before]
        for r in range(size):
            k = (r - 1 - turn) % size
            after[r][k] = before[r - 1][k] + (before[r][k] if turn < size - 1 else 0)
        turns.append(after)
    return turns


def fills(view, size):
    """The share of each piece that is filled, a row for each turn."""
    shares = [
        round(float(rect.get("height")) / 28 * size)
        for svg in svgs(view)
        for rect in svg.iter("rect")
        if rect.get("class") == "tint" and not rect.get("style")
    ]
    return [shares[k : k + size * size] for k in range(0, len(shares), size * size)]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_piece_is_filled_by_as_many_as_its_number_counts(size):
    """Every process has ones, so a piece's number is how many processes are in it."""
    turns = ring_turns([[1] * size for _ in range(size)])
    view = ring(turns)
    assert fills(view, size) == [[n for pieces in held for n in pieces] for held in turns]
    assert fills(view, size)[-1] == [size] * size**2
    assert len(re.findall('data-step="', view.html)) == len(turns) == 2 * size - 1


def test_each_turn_sends_one_piece_from_each_process_and_tells_its_sums():
    view = ring(ring_turns([[1, 2, 3], [10, 20, 30], [100, 200, 300]]))
    assert view.html.count('class="tip"') == 4 * 3
    assert view.html.count("frame bold") == 4 * 3
    assert facts(view)[2] == ["turn 2", "1, 222, 303", "11, 20, 333", "111, 220, 300"]
    assert texts(view)[-10:] == [*["111", "222", "333"] * 3, "in the sum so far: 1 to 3 processes"]
    key = rectangles(view, "tint")[-3:]  # one, two, and three thirds full
    assert key == [near(16, 16 / 3), near(16, 32 / 3), near(16, 16)]
    said = re.findall(r"adds|keeps|\d of 3", str(view))
    assert said == ["adds", "adds", "1 of 3", "keeps", "2 of 3", "keeps", "3 of 3"]


# --- LoRA's matrices


@pytest.mark.parametrize(("inputs", "outputs", "rank"), [(23, 17, 5), (13, 29, 3), (576, 576, 8)])
def test_matrices_are_to_scale_and_counted(inputs, outputs, rank):
    view = low_rank(LoRALinear(torch.nn.Linear(inputs, outputs), rank, alpha=2))
    [weight, change] = [rectangles(view, css)[0] for css in ("frame", "frame dashed")]
    [a, b] = rectangles(view, "bar")
    scale = 132 / max(inputs, outputs)
    assert weight == change == near(scale * inputs, scale * outputs)
    assert a == near(scale * inputs, scale * rank)
    assert b == near(scale * rank, scale * outputs)
    numbers = [int(row[-1].replace(",", "")) for row in facts(view)]
    assert numbers == [outputs * inputs, rank * inputs, outputs * rank]
    share = rank * (inputs + outputs) / (inputs * outputs)
    assert f"{numbers[1] + numbers[2]:,} learned, {share:.1%} of W" in texts(view)


# --- levels


def slopes(view, role):
    """Where each weight's line begins and ends, from left to right."""
    found = re.findall(rf'class="line" data-role="{role}" d="M([\d.]+) 200.0L([\d.]+) ', view.html)
    return [tuple(map(float, pair)) for pair in found]


def test_each_weight_goes_to_its_nearest_level_with_and_without_the_outlier():
    view = levels(torch.tensor([1.0, 0.0, 15.0, 2.25, 3.0]), bits=2)  # levels 0, 5, 10, 15

    def place(value):
        return 12 + 332 * value / 5  # up to 5, where 3 goes with the outlier

    with_it = [(1, 0), (0, 0), (2.25, 0), (3, 5)]
    without = [(1, 1), (0, 0), (2.25, 2), (3, 3)]
    for role, pairs in (("series-2", with_it), ("series-1", without)):
        expected = [(place(a), place(b)) for a, b in pairs]
        assert slopes(view, role) == [near(*pair) for pair in expected], role
    assert [row[:3] for row in facts(view)] == [
        ["with the outlier", "2", f"{(1 + 2.25 + 2) / 4:.3g}"],
        ["without it", "4", f"{0.25 / 4:.3g}"],
    ]
    assert {"outlier, 15", "4 weights, 0 to 3", "3 times as wide"} <= set(texts(view))
    [wedge] = re.findall(r'class="tint" d="M(.*?)z"', view.html)  # 0 to 5, of 0 to 15
    corners = [float(x) for x in re.findall(r"[\d.]+", wedge)][::2]
    assert corners == near(12, 12 + 332 / 3, 344, 12)
    view = levels(torch.tensor([0.0, 1.0, 2.0, -30.0]), bits=3)
    marks = re.findall(r'class="line bold" data-role="([^"]*)" d="M([\d.]+)', view.html)
    whole = [float(x) for role, x in marks if role == "quiet"]
    assert whole == [near(12 + 332 * k / 7) for k in range(8)]
    assert sum(role == "series-1" for role, _ in marks) == 8
    assert "outlier, −30" in texts(view)


def test_zero_is_marked_where_it_is_on_a_line_and_weights_cover_no_level():
    view = levels(torch.tensor([-1.0, 1.0, 3.0, 7.0, 39.0]), bits=2)
    zeros = [float(t.get("x")) for t in svgs(view)[0].iter("text") if t.text == "0"]
    assert zeros == [near(12 + 332 * 1 / 40), near(12 + 332 * 1 / 13.33)]  # with its level, 12.33
    assert "0" not in texts(levels(torch.tensor([1.0, 2.0, 3.0, 9.0]), bits=2))
    dots = [float(c.get("cy")) for c in svgs(view)[0].iter("circle")]
    assert sorted({*dots}) == [49, 200]  # the levels of the first line begin at 55


# --- what each worker holds


def test_areas_are_to_scale_across_all_ways_and_workers():
    first, second = {"a": 7, "b": 2, "c": 4}, {"a": 1, "b": 0, "c": 5}
    view = workers({"one": [first, second], "other": [second]}, unit="kB")
    sizes = [7, 2, 4, 1, 0, 5, 1, 0, 5]
    legend, bars = rectangles(view, "bar")[:3], rectangles(view, "bar")[3:]
    assert legend == [(11, 11)] * 3
    assert bars == [near(286 * size / 13, 13) for size in sizes]
    starts = [float(x) for x in re.findall(r'class="bar"[^>]* x="([\d.]+)"', view.html)][3:]
    before = [0, 7, 9, 0, 1, 1, 0, 1, 1]
    assert starts == [near(18 + 286 * size / 13) for size in before]
    roles = re.findall(r'class="bar" data-role="series-(\d)"', view.html)
    assert "".join(roles) == "123" * 4
    assert facts(view)[1] == ["one, worker 2", "1", "0", "5"]
    assert [word for word in texts(view) if word.isdigit()] == [
        "1",
        "13",
        "2",
        "6",
        "6",
    ]  # alone, a worker needs no number


def test_if_all_workers_are_alone_their_sizes_are_beside_the_names():
    view = workers({"one": [{"a": 7, "b": 2}], "other": [{"a": 1, "b": 5}]})
    bars = rectangles(view, "bar")[2:]
    assert bars == [near(304 * size / 9, 13) for size in (7, 2, 1, 5)]
    assert [word for word in texts(view) if word.isdigit()] == ["2", "7", "9", "5", "1", "6"]


# --- traffic


def bands(view):
    """The width of each band and whether it points down, in order."""
    found = re.findall(
        r'class="bar" data-role="series-(\d)"[^>]* width="([\d.]+)"[^>]*/>'
        r'<path class="tip"[^>]*d="M[\d.]+ ([\d.]+)h[\d.]+L[\d.]+ ([\d.]+)z',
        view.html,
    )
    return [(float(wide), float(end) > float(neck), role == "1") for role, wide, neck, end in found]


def test_bands_are_to_scale_and_point_to_where_things_go():
    view = traffic({"stored": [("x", 30), ("y", -70)], "fused": [("x", 50)]}, unit="MB")
    scale = (356 - 3 * 20) / 100
    assert [wide for wide, _, _ in bands(view)] == [near(scale * n) for n in (30, 70, 50)]
    names = [
        numbers(t.get("x"))[0] for t in svgs(view)[0].iter("text") if t.text[:2] in ("x:", "y:")
    ]
    *bars, _, _ = [r for r in svgs(view)[0].iter("rect") if r.get("class") == "bar"]  # the legend
    middles = [float(bar.get("x")) + float(bar.get("width")) / 2 for bar in bars]
    assert names == near(*(middle + 4 for middle in middles))  # a turned word's baseline
    thin = traffic({"thin": [("x", 1), ("y", 70)]})
    [bar, *_] = [r for r in svgs(thin)[0].iter("rect") if r.get("class") == "bar"]
    [name] = [t for t in svgs(thin)[0].iter("text") if t.text == "x: 1"]
    assert float(name.get("x")) < float(bar.get("x"))
    assert [down for _, down, _ in bands(view)] == [True, False, True]
    assert all(down == read for _, down, read in bands(view))
    ends = [float(y) for y in re.findall(r'class="tip"[^>]*L[\d.]+ ([\d.]+)z', view.html)]
    assert ends == [142, 50, 186 + 142]  # at the fast memory, the slow one, and the fast one
    assert facts(view)[1] == ["stored", "y", "written", "70"]
    assert {"100 MB", "50 MB", "x: 30", "y: 70", "x: 50", "read ↓", "written ↑"} <= set(texts(view))


class Indexed(TorchDispatchMode):
    """Counts the elements taken out of each of some tensors, by rows that are picked."""

    def __init__(self, tensors):
        super().__init__()
        self.taken = {tensor.data_ptr(): 0 for tensor in tensors}

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        if func is torch.ops.aten.index.Tensor and args[0].data_ptr() in self.taken:
            self.taken[args[0].data_ptr()] += result.numel()
        return result


@pytest.mark.parametrize(("length", "block"), [(17, 5), (24, 8), (7, 11)])
def test_online_attention_reads_keys_and_values_once_for_each_block_of_queries(length, block):
    """What the book's formula for FlashAttention's traffic counts, 2nd for each block."""
    query, key, value = torch.randn(3, 1, length, 3)
    with Indexed([key, value]) as counted:
        online_attention(query, key, value, block_size=block)
    passes = -(-length // block)
    assert [*counted.taken.values()] == [passes * length * 3] * 2


# --- what cannot be drawn


def test_what_is_no_ring_no_block_and_no_work_is_refused(subtests):
    turns = ring_turns([[1, 2, 3], [10, 20, 30], [100, 200, 300]])
    to_the_left = [[*reversed(held)] for held in turns]
    three = "at least three weights, all finite"
    kinds, sizes = "1 to 4 kinds", "finite, at least 0, and not all 0"
    rows = [
        (ring, to_the_left, r"process \d had \d+ and its left neighbor \d+: \d+ is neither"),
        (ring, turns[:1], r"but got 1 turns of 3 processes with \[3\]"),
        (ring, [[[1]], [[1]]], r"2 to 4 processes .* of 1 processes"),
        (ring, [[[1, 2], [3, 4]], [[1, 2], [3]]], r"with \[1, 2\]"),
        (ring, [[[0, 2], [3, 4]]] * 2, "other than 0"),
        (levels, torch.tensor([1.0, 2.0]), three),
        (levels, torch.tensor([1.0, 2.0, torch.nan]), three),
        (levels, torch.tensor([[1.0, 2.0, 3.0]]), three),
        (levels, torch.tensor([1.0, 1.0, 5.0]), "all weights but 5 are the same: 1"),
        (workers, {}, f"each way needs workers with {kinds}"),
        (workers, {"one": [{"a": 1}], "other": []}, "each way needs workers"),
        (workers, {"one": [dict.fromkeys("abcde", 1)]}, kinds),
        (workers, {"one": [{"a": 1}, {"b": 1}]}, r"the kinds \['a'\], in this order"),
        (workers, {"one": [{"a": -1}, {"a": 2}]}, sizes),
        (workers, {"one": [{"a": 0}]}, sizes),
        (workers, {"one": [{"a": torch.nan}]}, sizes),
        (traffic, {}, "at least one move"),
        (traffic, {"a": [("x", 1)], "b": []}, "at least one move"),
        (traffic, {"a": [("x", 0)]}, "finite and not 0"),
        (traffic, {"a": [("x", torch.inf)]}, "finite and not 0"),
    ]
    for draw, given, message in rows:
        more = {"bits": 4} if draw is levels else {}
        with subtests.test(message), pytest.raises(ValueError, match=message):
            draw(given, **more)
