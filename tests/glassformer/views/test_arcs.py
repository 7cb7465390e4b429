"""Arcs: a line for each weight that can be seen, and all weights in words."""

import re
from itertools import pairwise

import pytest
import torch
from drawings import Reader, numbers, svgs

from glassformer.views import arcs, beside

TOKENS = ["[CLS]", "time", "<b>", "flies", "[SEP]"]
MIDDLE, LOWER = 148 - 22, 148 + 35  # where lines above and below the words begin and end


@pytest.fixture
def weights():
    return (3 * torch.randn(5, 5)).softmax(-1)


def parts(view, css):
    """The elements of the pictures of a view that have a class."""
    return [one for svg in svgs(view) for one in svg.iter() if css in one.get("class", "").split()]


def middles(view):
    return [float(word.get("x")) for word in parts(view, "word")]


def test_each_weight_that_can_be_seen_is_a_line_as_wide_and_as_strong_as_it_is_large():
    """What is below 0.02 is not drawn."""
    weights = torch.zeros(6, 6).double()
    weights[0] = torch.tensor([0.5, 0.25, 0.03, 0.02, 0.015, 0.0], dtype=torch.float64)
    weights[1, 0] = 1.0
    lines = parts(arcs({"one": weights}, "abcdef"), "arc")
    seen = [(0, 0.5), (0, 0.25), (0, 0.03), (0, 0.02), (1, 1.0)]
    assert [int(line.get("data-from")) for line in lines] == [row for row, _ in seen]
    assert [float(line.get("stroke-width")) for line in lines] == [
        pytest.approx(1 + 8 * weight, abs=0.051) for _, weight in seen
    ]
    strong = [float(re.search(r"opacity:([\d.]+)", line.get("style"))[1]) for line in lines]
    assert strong == [pytest.approx(0.12 + 0.78 * weight, abs=0.006) for _, weight in seen]


def test_only_the_lines_of_the_word_that_asks_are_strong():
    weights = torch.full((3, 3), 1 / 3)
    view = arcs({"one": weights}, "abc", asks=1)
    for line in parts(view, "arc"):
        opacity = re.search(r"[^-]opacity:(.*)", line.get("style"))[1]
        assert opacity == ("0.38" if line.get("data-from") == "1" else "var(--rest)")
    assert '<button type="button" data-asks="1">' in view.html
    assert "data-asks" not in arcs({"one": weights}, "abc").html


def test_the_word_that_asks_is_marked_and_its_weights_are_written_before_any_script_runs():
    weights = torch.tensor([[0.2, 0.3, 0.5], [0.69, 0.3, 0.01], [1.0, 0.0, 0.0]])
    view = arcs({"one": weights}, "abc", asks=1)
    assert [word[1].text for word in parts(view, "asks")] == ["b"]
    assert [share.text for share in parts(view, "on")] == ["0.69", "0.30", "0.01"]
    says = re.search('class="says"[^>]*>(.*?)</p>', view.html)[1]
    assert re.sub("[\u2066-\u2069]", "", says).startswith("b gives 0.69 to a, 0.30 to itself")
    assert not parts(arcs({"one": weights}, "abc"), "asks")


def test_pictures_beside_each_other_keep_their_script():
    one = arcs({"one": torch.eye(2)}, "ab")
    html, files = beside(one, one)._repr_page_()
    assert list(files) == ["glassformer-arcs.js"]
    assert html.count("asset://glassformer-arcs.js") == 1


def test_lines_join_words_ahead_above_them_and_words_back_below_them():
    """The farther apart the words are, the higher a line runs, up to the picture's edge."""
    places = middles(arcs({"one": torch.eye(6)}, "abcdef"))
    heights = {}
    for i in range(6):
        for j in range(6):
            weights = torch.zeros(6, 6)
            weights[i, j] = 1.0
            [line] = parts(arcs({"one": weights}, "abcdef"), "arc")
            x, y, u, bend, v, other, end, foot = numbers(line.get("d"))
            assert (u, v, bend, y) == (x, end, other, foot)  # it leaves and comes in upright
            assert x == pytest.approx(places[i], abs=8.6)
            assert end == pytest.approx(places[j], abs=8.6)
            assert y == (MIDDLE if j >= i else LOWER)
            assert (bend < y) == (j >= i)
            assert 0 < y + 0.75 * (bend - y) < 2 * 148  # a curve swings three quarters as far
            heights.setdefault(abs(i - j), set()).add(abs(bend - y))
            assert (x < end) == (j >= i)  # a loop, too, leads from left to right
    rises = [heights[apart] for apart in range(6)]
    assert all(max(a) <= min(b) + 1.5 for a, b in pairwise(rises))


def test_words_stand_in_one_line_with_room_to_point_at_each():
    tokens = ["[CLS]", "a", "word", "<s>", "日本"]
    view = arcs({"one": torch.eye(5)}, tokens)
    hits = [(float(r.get("x")), float(r.get("width"))) for r in parts(view, "hit")]
    assert [word.text for word in parts(view, "word")] == tokens
    for (left, wide), middle in zip(hits, middles(view), strict=True):
        assert left + wide / 2 == pytest.approx(middle, abs=1.1)
    assert all(left + wide < after for (left, wide), (after, _) in pairwise(hits))
    assert numbers(svgs(view)[0].get("viewBox"))[2] >= sum(hits[-1]) - 4
    assert [text.text for text in parts(view, "share")] == [None] * 5  # filled in by the script
    special = [word.text for word in parts(view, "special")]
    assert special == ["[CLS]", "<s>"]
    for word in ("[a", "b>", "a]b", ""):
        assert not parts(arcs({"one": torch.eye(2)}, [word, "a"]), "special"), word


def test_words_that_could_reach_their_neighbors_are_made_to_fit(subtests):
    for token, wide in [("a" * 9, None), ("a" * 10, 130), ("é", 13), ("日本", 52)]:
        with subtests.test(token=token):
            word = parts(arcs({"one": torch.eye(2)}, [token, "a"]), "word")[0]
            assert word.get("textLength") == (wide and str(wide))
    first, second = parts(arcs({"one": torch.eye(2)}, ["a" * 15, "a" * 14]), "word")
    assert (first.text, first.find("title").text) == ("a" * 13 + "…", "a" * 15)
    assert (second.text, second.find("title")) == ("a" * 14, None)


def test_a_word_says_where_most_of_its_weight_goes_and_has_all_of_it_at_hand(weights):
    some = torch.tensor([[0.1, 0.7, 0.15, 0.05], *[[0.25] * 4] * 3])
    said = parts(arcs({"one": some}, TOKENS[:4]), "token")[0].get("data-says")
    assert said == "[CLS] gives 0.70 to time, 0.15 to <b>, 0.10 to itself"
    for token, row in zip(
        parts(arcs({"one": weights}, TOKENS), "token"), weights.tolist(), strict=True
    ):
        assert token.get("data-shares").split() == [f"{w:.2f}" for w in row]


def test_all_weights_stand_in_a_table_for_each_head_and_in_the_text(weights):
    view = arcs({"one": weights, "two": weights.T}, TOKENS)
    rows = []
    for values in (weights, weights.T):
        rows.append(["from \\ to", *TOKENS])
        rows += [[t, *(f"{w:.2f}" for w in r)] for t, r in zip(TOKENS, values, strict=True)]
    assert Reader(view.html).rows == rows
    assert re.findall("<caption>(.*?)</caption>", view.html) == ["one", "two"]
    told = [line.split() for line in str(view).splitlines() if line not in ("one", "two", "")]
    assert told == [" ".join(row).split() for row in rows]


def test_of_several_heads_the_first_is_shown_and_each_has_its_picture(weights):
    view = arcs({"one": weights, "two": weights, "three": weights}, TOKENS)
    assert re.findall(r'value="(\d)" checked', view.html) == ["0"]
    assert re.findall(r'value="\d"[^>]*>(\w+)</label>', view.html) == ["one", "two", "three"]
    assert [svg.get("data-head") for svg in svgs(view)] == ["0", "1", "2"]
    rule = r':has\(input\[value="(\d)"\]:checked\) svg\[data-head="(\d)"\]\{display:block\}'
    assert re.findall(rule, view.html) == [("0", "0"), ("1", "1"), ("2", "2")]
    assert "<input" not in arcs({"one": weights}, TOKENS).html


def test_pictures_of_other_words_or_heads_are_chosen_apart(weights):
    """Two choices on one page of one name would be one."""

    def group(names, tokens):
        [name] = set(
            re.findall(
                'type="radio" name="(.*?)"', arcs(dict.fromkeys(names, weights), tokens).html
            )
        )
        return name

    assert group("ab", TOKENS) != group("ac", TOKENS) != group("ac", TOKENS[::-1])
