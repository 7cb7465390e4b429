"""Arcs: a line for each weight that can be seen, and all weights in words."""

import re
from xml.etree import ElementTree

import pytest
import torch

from glassformer.views import arcs
from glassformer.views.arcs import FAINTEST

TOKENS = ["[CLS]", "time", "<b>", "flies", "[SEP]"]


@pytest.fixture
def weights():
    return (3 * torch.randn(5, 5)).softmax(-1)


def read(view):
    """The markup as XML, which knows no attribute without a value and closes each tag."""
    html = view.html.replace(" data-search-exclude", "").replace(" checked", "")
    return ElementTree.fromstring(re.sub(r"(<input[^>]*)>", r"\1/>", html))


def test_each_weight_that_can_be_seen_is_one_line_as_wide_as_it_is_large(weights):
    lines = list(read(arcs({"one": weights}, TOKENS)).iter("path"))
    seen = [(i, w) for i, row in enumerate(weights.tolist()) for w in row if w >= FAINTEST]
    assert 5 <= len(seen) < 25
    assert [int(line.get("data-from")) for line in lines] == [i for i, _ in seen]
    widths = [float(line.get("stroke-width")) for line in lines]
    assert widths == [pytest.approx(1 + 8 * w, abs=0.051) for _, w in seen]


def test_lines_ahead_run_above_and_lines_back_below():
    weights = torch.zeros(3, 3)
    weights[0, 2] = weights[1, 1] = weights[2, 0] = 1.0
    ahead, itself, back = read(arcs({"one": weights}, ["a", "b", "c"])).iter("path")

    def ends(line):
        """Where a line begins, how far it swings up or down, and where it ends."""
        x, y, _, bend, _, _, end, _ = map(float, re.findall(r"-?\d+", line.get("d")))
        return x, bend - y, end

    (a, up, c), (_, loop, _), (z, down, d) = map(ends, (ahead, itself, back))
    assert a < c
    assert up < 0
    assert loop < 0
    assert z > d
    assert down > 0


def test_all_weights_stand_in_a_table_for_each_head_and_in_the_text(weights):
    view = arcs({"one": weights, "two": weights.T}, TOKENS)
    tables = list(read(view).iter("table"))
    assert [table.find("caption").text for table in tables] == ["one", "two"]
    for table, values in zip(tables, (weights, weights.T), strict=True):
        cells = [cell.text for cell in table.iter("td")]
        assert cells == [f"{w:.2f}" for row in values.tolist() for w in row]
    assert f"{weights[1, 3]:.2f}" in str(view)
    assert str(view).startswith("one\nfrom \\ to")


def test_a_word_says_where_its_weight_goes():
    weights = torch.tensor([[0.1, 0.7, 0.15, 0.05], *[[0.25] * 4] * 3])
    said = [g.get("data-says") for g in read(arcs({"one": weights}, TOKENS[:4])).iter("g")]
    assert said[0] == "[CLS] gives 0.70 to time, 0.15 to <b>, 0.10 to itself"


def test_several_heads_can_be_chosen_among_and_one_cannot(weights):
    several = read(arcs({"one": weights, "two": weights}, TOKENS))
    assert [option.get("value") for option in several.iter("input")] == ["0", "1"]
    assert len({option.get("name") for option in several.iter("input")}) == 1
    assert not list(read(arcs({"one": weights}, TOKENS)).iter("input"))


def test_what_cannot_be_drawn(weights, unhooked):
    with pytest.raises(ValueError, match="at least one head"):
        arcs({}, TOKENS)
    with pytest.raises(ValueError, match=r"one: weights of shape \(5, 5\) do not fit 4 words"):
        arcs({"one": weights}, TOKENS[:4])


# --- where it all stands


def numbers(text):
    return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", text)]


def near(value):
    """Within what is left out of a whole coordinate."""
    return pytest.approx(value, abs=0.51)


def lines(tokens, *pairs):
    """Where the line of each pair of words begins, bends and ends."""
    weights = torch.zeros(len(tokens), len(tokens))
    for pair in pairs:
        weights[pair] = 1.0
    figure = read(arcs({"one": weights}, tokens))
    found = {}
    for pair, line in zip(sorted(pairs), figure.iter("path"), strict=True):
        assert re.sub("[^A-Z]", "", line.get("d")) == "MC"
        found[pair] = numbers(line.get("d"))
    return found


def test_words_stand_in_one_line_with_room_between_them():
    """A letter takes 13, one of a sign of the tokenizer's 9; there is 26 between, 12 around."""
    tokens = ["[CLS]", "a", "word", "<s>", "日本"]
    figure = read(arcs({"one": torch.eye(5)}, tokens))
    widths = [5 * 9, 13, 4 * 13, 3 * 9, 4 * 13]
    lefts = [12 + sum(widths[:k]) + 26 * k for k in range(5)]
    wide = 12 + sum(widths) + 26 * 4 + 12
    svg = figure.find("svg")
    assert numbers(svg.get("viewBox")) == [0, 0, wide, 2 * 148]
    assert numbers(svg.get("style")) == [near(1.05 * wide)]
    groups = [g for g in figure.iter("g") if g.get("class") == "token"]
    assert [g.get("data-token") for g in groups] == [*"01234"]
    shares = [text for text in figure.iter("text") if text.get("class") == "share"]
    everything = zip(tokens, lefts, widths, groups, shares, strict=True)
    for token, left, width, (hit, word), share in everything:
        middle = left + width / 2
        assert (word.text, float(word.get("x")), word.get("y")) == (token, near(middle), "154")
        assert (float(share.get("x")), share.get("y"), share.text) == (near(middle), "172", None)
        # What can be pointed at: 11 beyond the word, so that 4 are between it and the next.
        assert float(hit.get("x")) == near(left - 11)
        assert float(hit.get("width")) == near(width + 22)
        assert [hit.get(name) for name in ("y", "height", "rx")] == ["122", "56", "6"]
    assert [g[1].get("class") for g in groups] == [
        *("word special", "word", "word", "word special", "word"),
    ]


def test_signs_of_the_tokenizer_are_small(subtests):
    for token, special in [
        ("[SEP]", True),
        ("</s>", True),
        ("[a", False),
        ("b>", False),
        ("a]b", False),
        ("", False),
    ]:
        with subtests.test(token=token, special=special):
            figure = read(arcs({"one": torch.eye(2)}, [token, "a"]))
            assert ("special" in next(g for g in figure.iter("g"))[1].get("class")) == special


def test_words_that_could_reach_their_neighbours_are_made_to_fit(subtests):
    for token, fitted in [("a" * 9, False), ("a" * 10, True), ("é", True), ("日本", True)]:
        with subtests.test(token=token, fitted=fitted):
            figure = read(arcs({"one": torch.eye(2)}, [token, "a"]))
            word = next(figure.iter("g"))[1]
            letters = 4 if token == "日本" else len(token)
            assert word.get("textLength") == (str(13 * letters) if fitted else None)
            assert word.get("lengthAdjust") == ("spacingAndGlyphs" if fitted else None)


def test_a_long_word_is_cut_and_has_a_tooltip():
    figure = read(arcs({"one": torch.eye(2)}, ["a" * 15, "a" * 14]))
    first, second = (g[1] for g in figure.iter("g") if g.get("class") == "token")
    assert (first.text, first.find("title").text) == ("a" * 13 + "…", "a" * 15)
    assert second.text == "a" * 14
    assert second.find("title") is None


def test_lines_join_the_words_and_the_farther_these_are_the_higher_they_run():
    """Above 22 over the middle and below 30 under it; they begin 4 beside where others end."""
    tokens = [*"abcdef"]
    places = [12 + 6.5 + 39 * k for k in range(6)]
    pairs = [(0, k) for k in range(1, 6)] + [(k, 0) for k in range(1, 6)] + [(1, 3), (4, 2)]
    for (i, j), (x, y, u, bend, v, other, end, foot) in lines(tokens, *pairs).items():
        ahead = j > i
        assert (x, end) == (near(places[i] + (4 if ahead else -4)), near(places[j]))
        assert (u, v) == (x, end)  # it leaves and comes in upright
        assert y == foot == 148 + (-22 if ahead else 30)
        rise = 1.25 * min(30 + 20 * abs(i - j), 148 - 34)
        assert bend == other == near(y + (-rise if ahead else rise))
        # A curve with both bends at one height swings three quarters as far.
        assert 0 < y + 0.75 * (bend - y) < 2 * 148


def test_what_a_word_gives_to_itself_is_a_loop_above_it():
    [(x, y, u, bend, v, other, end, foot)] = lines(["a", "b"], (1, 1)).values()
    middle = 12 + 6.5 + 39
    assert (x, end) == (u, v) == (near(middle - 8), near(middle + 8))
    assert y == foot == 148 - 22
    assert bend == other == y - 30


def test_a_line_is_as_strong_as_its_weight_and_the_weakest_are_left_out():
    """From 0.12 to 0.9; what is below 0.02 is not drawn."""
    weights = torch.zeros(6, 6).double()
    weights[0] = torch.tensor([0.5, 0.25, 0.03, 0.02, 0.015, 0.0], dtype=torch.float64)
    weights[1, 0] = 1.0
    drawn = [line.get("style") for line in read(arcs({"one": weights}, "abcdef")).iter("path")]
    assert drawn == [
        f"--o:{strong};opacity:{strong}" for strong in ("0.51", "0.32", "0.14", "0.14", "0.90")
    ]


def test_each_word_has_its_weights_at_hand(weights):
    groups = [g for g in read(arcs({"one": weights}, TOKENS)).iter("g") if g.get("data-shares")]
    for group, row in zip(groups, weights.tolist(), strict=True):
        assert group.get("data-shares").split() == [f"{w:.2f}" for w in row]


def test_the_three_strongest_weights_are_said():
    weights = torch.tensor([[0.4, 0.1, 0.3, 0.15, 0.05]] * 5)
    said = [g.get("data-says") for g in read(arcs({"one": weights}, "abcde")).iter("g")]
    assert said[3] == "d gives 0.40 to a, 0.30 to c, 0.15 to itself"


def test_the_text_has_a_line_for_each_word_below_its_head(weights):
    text = str(arcs({"one": weights, "two": weights.T}, TOKENS))
    for block, values in zip(text.split("\n\n"), (weights, weights.T), strict=True):
        _, header, *rows = block.splitlines()
        assert header.split() == ["from", "\\", "to", *TOKENS]
        wanted = [[t, *(f"{w:.2f}" for w in r)] for t, r in zip(TOKENS, values, strict=True)]
        assert [row.split() for row in rows] == wanted


def test_of_several_heads_the_first_is_shown_and_each_has_its_picture(weights):
    view = arcs({"one": weights, "two": weights, "three": weights}, TOKENS)
    assert re.findall(r'value="(\d)" checked', view.html) == ["0"]
    assert [svg.get("data-head") for svg in read(view).iter("svg")] == ["0", "1", "2"]
    rule = r':has\(input\[value="(\d)"\]:checked\) svg\[data-head="(\d)"\]\{display:block\}'
    assert re.findall(rule, view.html) == [("0", "0"), ("1", "1"), ("2", "2")]
    names = [label[0].tail for label in read(view).iter("label")]
    assert names == ["one", "two", "three"]


def test_pictures_of_other_words_or_heads_are_chosen_apart(weights):
    """Two choices on one page of one name would be one."""

    def group(names, tokens):
        view = arcs(dict.fromkeys(names, weights), tokens)
        [name] = {option.get("name") for option in read(view).iter("input")}
        return name

    assert group("ab", TOKENS) != group("ac", TOKENS) != group("ac", TOKENS[::-1])
