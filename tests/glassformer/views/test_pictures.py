"""Pictures of one idea each: what a reader sees in them is counted and computed again here."""

import math
import re
from itertools import product

import pytest
import torch
from drawings import facts, numbers, svgs, texts
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

from glassformer.inference.generation import generate
from glassformer.layers.masks import causal_mask
from glassformer.layers.positions import RotaryPositions
from glassformer.models.config import TransformerConfig
from glassformer.models.encoder import TransformerEncoder
from glassformer.models.task_models import TransformerForCausalLM
from glassformer.views import (
    beam_tree,
    by_hand,
    dials,
    embedding_map,
    heads_apart,
    lookup,
    merges,
    next_tokens,
    reading_order,
    residual_stream,
    shared_heads,
    teacher_forcing,
)
from glassformer.views.beams import search
from glassformer.views.embedding_map import labels, principal

WORDS = ["time", "flies", "like", "an", "arrow"]
SMALL = {"vocab_size": 23, "d_model": 24, "num_heads": 6, "num_layers": 3, "d_ff": 31}
IDS = torch.tensor([[3, 5, 7, 11]])

THREE = ["time", "flies", "fast"]
QUERY = torch.tensor([[1.0, 0.0], [1.0, 2.0], [0.0, 1.0]])
KEY = torch.tensor([[2.0, 0.5], [0.0, 1.0], [1.0, -1.0]])
VALUE = torch.tensor([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]])


# --- attention by hand


def panels(asks=1, **more):
    """What each step of the picture writes."""
    html = by_hand(QUERY, KEY, VALUE, THREE, asks=asks, **more).html
    steps = re.findall(r'<g data-step="(\d)">(.*?)(?=<g data-step|</svg>)', html, re.DOTALL)
    return {int(k): re.findall(r"<text[^>]*>([^<]*)</text>", part) for k, part in steps}


def pencil(asks):
    """Scores, weights and output, computed without torch."""
    query = QUERY[asks].tolist()
    dots = [sum(q * k for q, k in zip(query, row, strict=True)) for row in KEY.tolist()]
    powers = [math.exp(dot / math.sqrt(2)) for dot in dots]
    weights = [power / sum(powers) for power in powers]
    columns = zip(*VALUE.tolist(), strict=True)
    output = [sum(w * v for w, v in zip(weights, column, strict=True)) for column in columns]
    return dots, [dot / math.sqrt(2) for dot in dots], weights, output


def shown(value):
    return f"{value:.2f}".replace("-", "−")


def test_each_step_shows_what_a_pencil_finds(subtests):
    for asks in [0, 1, 2]:
        with subtests.test(asks=asks):
            dots, scores, weights, output = pencil(asks)
            steps = panels(asks)
            assert [word for word in steps[1] if word in ("query", "key", "value")] == [
                *("query", "key", "value")
            ]
            assert [f"= {dot:g}".replace("-", "−") for dot in dots] == [
                word for word in steps[2] if word.startswith("= ")
            ]
            assert [f"÷ √2 = {shown(score)}" for score in scores] == [
                word for word in steps[2] if word.startswith("÷")
            ]
            assert {shown(weight) for weight in weights} <= set(steps[3])
            assert [shown(value) for value in output] == steps[4][-2:]
            told = str(by_hand(QUERY, KEY, VALUE, THREE, asks=asks)).splitlines()
            assert [row.split()[5:7] for row in told[1:4]] == [
                [f"{score:.2f}", f"{weight:.2f}"]
                for score, weight in zip(scores, weights, strict=True)
            ]
            assert told[4].split()[-2:] == [f"{value:.2f}" for value in output]
            assert any(f"by the query of “{THREE[asks]}”" in line for line in told)


def test_queries_keys_and_values_keep_their_colors_through_the_steps():
    html = by_hand(QUERY, KEY, VALUE, THREE, asks=1).html
    roles = [
        set(re.findall('data-role="(query|key|value)"', part))
        for part in html.split("<g data-step")[1:]
    ]
    assert roles == [{"query", "key", "value"}, {"query", "key"}, set(), {"value"}]


def test_the_vectors_come_first_where_they_are_given():
    first = panels(vectors=torch.tensor([[3.0, 5.0], [7.0, 8.0], [9.0, 6.0]]))[1]
    names = ["vector", "query", "key", "value"]
    assert [word for word in first if word in names] == names
    cells = [
        word.lstrip("+").removesuffix(".00")
        for word in first[first.index("vector") : first.index("query")]
    ]
    assert cells == ["vector", "3", "5", "7", "8", "9", "6"]
    assert "vector" not in panels()[1]


# --- masks


def test_a_row_shows_the_words_that_may_be_read_and_hides_the_others():
    mask = torch.rand(5, 5) < 0.5
    html = reading_order(mask, WORDS).html
    rows = html.split("dashed: hidden")[0].split("reads:</text>")[1:]
    for row, may in zip(rows, mask.tolist(), strict=True):
        seen = [w for w in re.findall(r"<text[^>]*>(\w+)</text>", row) if w in WORDS]
        assert seen == [word for word, one in zip(WORDS, may, strict=True) if one]
        assert row.count("dashed") == may.count(False)
    view = reading_order(causal_mask(5), WORDS)
    assert facts(view) == [[WORDS[i], " ".join(WORDS[: i + 1])] for i in range(5)]
    assert view.html.count("frame bold") == 5  # its own word, the last
    assert facts(reading_order(torch.zeros(1, 1).bool(), ["a"])) == [["a", "nothing"]]
    lines = [reading_order(mask, WORDS, source=n).html.count('class="line"') for n in (0, 2)]
    assert lines == [0, 2]  # a source is set apart on two sides


# --- heads


def test_each_head_has_a_color_from_the_cut_to_the_merge_and_keeps_its_numbers():
    html = heads_apart(torch.randn(5, 12), WORDS, num_heads=3).html
    first, *between, last = html.split("<g data-step")[1:]
    for part in (first, between[0]):
        assert {"series-1", "series-2", "series-3"} == set(re.findall(r"series-\d", part))
    assert "head 2" in html
    assert "head 3" not in html
    assert re.findall('fill-opacity="([^"]*)"', first) == re.findall('fill-opacity="([^"]*)"', last)


# --- rotation


def test_equal_distances_have_equal_angles_and_products(subtests):
    for interleaved, pair in product([True, False], [0, 2]):
        with subtests.test(interleaved=interleaved, pair=pair):
            query, key = torch.tensor([1.0, 0.5]), torch.tensor([0.3, -0.8])
            rotary = RotaryPositions(16, interleaved=interleaved)
            view = dials(rotary, query, key, [(3, 5), (60, 62), (3, 4)], pair=pair)
            near, far, other = (row[-2:] for row in facts(view))
            assert near == far != other
            # Of two positions; a key ahead turns counterclockwise.
            turn = 2 * 10000 ** (-2 * pair / 16)
            angle = math.atan2(key[1], key[0]) - math.atan2(query[1], query[0]) + turn
            wanted = math.degrees(math.atan2(math.sin(angle), math.cos(angle)))
            assert near[0] == f"{wanted:.0f}°"
            expected = query.norm() * key.norm() * math.cos(angle)
            assert float(near[1]) == pytest.approx(expected.item(), abs=0.006)


def test_dials_say_how_far_apart_their_positions_and_their_hands_are():
    right, up = torch.tensor([1.0, 0.0]), torch.tensor([0.0, 2.0])
    places = [(3, 1), (2, 2), (0, 1)]
    shown = texts(dials(RotaryPositions(2), right, up, places))
    for place, turn in (("2 back", -2), ("same place", 0), ("1 ahead", 1)):
        assert f"{place}: {abs(90 + math.degrees(turn)):.0f}°" in shown  # one radian a position


def test_dials_name_their_positions_and_their_hands():
    view = dials(RotaryPositions(2), torch.ones(2), torch.ones(2), [(0, 7)])
    assert {"query at 0", "key at 7"} <= set(texts(view))
    assert set(re.findall('class="line bold" data-role="(.*?)"', view.html)) == {"query", "key"}


# --- shared keys and values


def test_each_query_leads_to_the_keys_it_reads():
    config = TransformerConfig(d_model=48, num_heads=6, num_kv_heads=2)
    all_own = TransformerConfig(num_kv_heads=12)
    assert facts(shared_heads({"all": all_own}))[0][-1] == f"{2 * 64 * 12:,}"
    view = shared_heads({"grouped": config})
    ends = re.findall(r'class="line" d="M[\d.]+ [\d.]+L([\d.]+)', view.html)
    assert len(ends) == 6
    assert [ends.count(end) for end in dict.fromkeys(ends)] == [3, 3]
    assert facts(view) == [["grouped", "6", "2", "3", str(2 * 2 * 8)]]
    own = TransformerConfig(d_model=48, num_heads=6)
    long, short = re.findall(
        r'class="bar"[^>]*? width="([\d.]+)"', shared_heads({"own": own, "two": config}).html
    )
    assert float(long) == pytest.approx(3 * float(short), abs=0.2)
    assert {"96 numbers", "32 numbers"} <= set(texts(shared_heads({"own": own, "two": config})))


# --- next tokens


def test_bars_are_as_long_as_the_probabilities_on_one_scale_for_all(subtests):
    """The longest, which may be that of all other tokens, is as long as there is room."""
    first = torch.tensor([0.1, 0.6, 0.3])
    spread, sure = torch.full((50,), 0.02), torch.tensor([0.6] + [0.4 / 49] * 49)
    rows = [
        ((first, first.flip(0)), True, "y 0.600, z 0.300, all others 0.100, y 0.600, z 0.100"),
        ((first, first.roll(1)), False, "y 0.600, z 0.300, all others 0.100, z 0.600, x 0.300"),
        ((spread, sure), True, "x 0.020, y 0.020, all others 0.960, x 0.600, y 0.008"),
    ]
    for (one, other), same_tokens, expected in rows:
        with subtests.test(expected):
            names = [*"xyz", *range(47)]
            view = next_tokens(
                {"a": one, "b": other}, lambda k, names=names: str(names[k]), most=2,
                same_tokens=same_tokens,
            )  # fmt: skip
            told = facts(view)
            assert ", ".join(" ".join(row[1:]) for row in told[:5]) == expected
            bars = re.findall('data-role="(?:series-1|quiet)"[^>]*width="([^"]*)"', view.html)
            chances = [float(row[2]) for row in told]
            assert [float(wide) / 230 for wide in bars] == pytest.approx(
                [chance / max(chances) for chance in chances], abs=0.01
            )


def test_a_watched_token_is_drawn_in_every_group_in_its_own_color():
    first = torch.tensor([0.5, 0.3, 0.15, 0.05])
    both = {"a": first, "b": first.flip(0)}
    view = next_tokens(both, "wxyz".__getitem__, most=1, same_tokens=False, watch=3)
    told = [" ".join(row) for row in facts(view)]
    assert told == [
        *("a w 0.500", "a z 0.050", "a all others 0.450"),
        *("b z 0.500", "b all others 0.500"),
    ]
    roles = re.findall('class="bar" data-role="([^"]*)"', view.html)
    assert roles == ["series-1", "series-2", "quiet", "series-2", "quiet"]


# --- beams


def writer():
    torch.manual_seed(0)
    sizes = SMALL | {"num_token_types": 0, "norm_first": True, "initializer_range": 0.4}
    return TransformerForCausalLM(TransformerConfig(**sizes)).eval().requires_grad_(False)


def test_the_best_path_is_what_beam_search_writes(subtests):
    model = writer()

    def predict(rows):
        return model(rows)[:, -1].log_softmax(-1)

    for num_beams in [1, 2, 3, 4]:
        with subtests.test(num_beams=num_beams):
            view = beam_tree(predict, IDS[0], str, num_beams=num_beams, steps=4)
            best = [int(row[2]) for row in facts(view) if row[-1] == "kept, on the winning path"]
            written = generate(model, IDS, max_new_tokens=4, num_beams=num_beams)
            assert best == written[0, 4:].tolist()


def test_kept_are_the_best_of_all_candidates_and_dropped_ones_are_dashed():
    model = writer()
    steps = search(lambda rows: model(rows)[:, -1].log_softmax(-1), IDS[0], num_beams=3, steps=3)
    for branches in steps:
        worst = min(branch.score for branch in branches if branch.kept)
        assert sum(branch.kept for branch in branches) == 3
        assert all(branch.score <= worst for branch in branches if not branch.kept)
    view = beam_tree(lambda rows: model(rows)[:, -1].log_softmax(-1), IDS[0], str, num_beams=3)
    dropped = sum(not branch.kept for branches in steps for branch in branches)
    assert view.html.count('"frame dashed"') == dropped == 12


def test_each_row_names_the_beginning_that_it_continues():
    model = writer()
    rows = facts(beam_tree(lambda ids: model(ids)[:, -1].log_softmax(-1), IDS[0], str, num_beams=3))
    assert {tuple(row[:2]) for row in rows if row[0] == "1"} == {("1", "start")}
    for step in (2, 3):
        before = {
            f"{row[1]} {row[2]}".removeprefix("start ")
            for row in rows
            if row[0] == str(step - 1) and row[-1].startswith("kept")
        }
        now = [row[1] for row in rows if row[0] == str(step)]
        assert {*now} == before
        assert [*map(now.count, dict.fromkeys(now))] == [3, 3, 3]


# --- training and writing


def test_training_is_one_pass_and_writing_one_a_word():
    view = teacher_forcing(["[START]", "a", "b"], ["a", "b", "[END]"])
    assert {"Training: the true words, in one pass", "Writing: its own words, in 3 passes"} <= set(
        texts(view)
    )
    rows = facts(view)
    assert rows[:3] == [
        ["training, place 1", "[START]", "a"],
        ["training, place 2", "[START] a", "b"],
        ["training, place 3", "[START] a b", "[END]"],
    ]
    assert len(re.findall(r'class="line base" data-role="quiet"', view.html)) == 0 + 1 + 2
    assert [row[1] for row in rows[3:]] == ["[START]", "[START] a", "[START] a b"]


# --- the stream


def test_the_stream_is_as_long_as_its_vectors(subtests):
    for norm_first in [True, False]:
        with subtests.test(norm_first=norm_first):
            torch.manual_seed(0)
            model = TransformerEncoder(TransformerConfig(**SMALL, norm_first=norm_first)).eval()
            view = residual_stream(model, IDS)
            rows = facts(view)
            unit = 44 / max(float(length) for row in rows for length in row[1:])
            shapes = [p for p in svgs(view)[0].iter("path") if p.get("class") == "bar"]
            for water, shaft, row in zip(shapes[::2], shapes[1::2], rows, strict=True):
                (left, _, right, *_), way = (numbers(p.get("d")) for p in (water, shaft))
                sizes = right - left, 2 * (way[5] - way[1])  # the stream's, and its arrow's
                wanted = unit * float(row[1]), max(1.0, unit * float(row[2]))
                assert sizes == pytest.approx(wanted, abs=0.35)
            assert [row[0] for row in rows] == [
                f"{name} {k}" for k in range(3) for name in ("attention", "feed-forward")
            ]
            with torch.no_grad():
                hidden = model.embeddings(IDS)
                for k, layer in enumerate(model.layers):
                    read = layer.attention_norm(hidden) if norm_first else hidden
                    added = layer.attention(read)
                    wanted = hidden.norm(dim=-1).mean(), added.norm(dim=-1).mean()
                    assert [float(x) for x in rows[2 * k][1:3]] == [
                        pytest.approx(x.item(), abs=0.006) for x in wanted
                    ]
                    hidden = layer(hidden)
                    assert float(rows[2 * k + 1][3]) == pytest.approx(
                        hidden.norm(dim=-1).mean().item(), abs=0.006
                    )


# --- looking up


def test_the_largest_weight_has_the_thickest_line():
    weights = torch.tensor([0.1, 0.7, 0.2])
    view = lookup(weights, ["das", "Haus", "<b>"], "house")
    widths = [float(w) for w in re.findall(r"stroke-width:([\d.]+);stroke-opacity", view.html)]
    assert widths[::2] == widths[1::2]  # to the key, and from the value
    assert sorted(widths[::2]) == [widths[0], widths[4], widths[2]]
    assert facts(view) == [["das", "0.10"], ["Haus", "0.70"], ["<b>", "0.20"]]
    assert set(re.findall('data-role="(query|key|value)"', view.html)) == {"query", "key", "value"}


def test_the_average_of_the_values_is_written_at_the_output():
    weights, values = torch.tensor([0.25, 0.75]), torch.tensor([[2.0, -4.0], [0.0, 1.0]])
    view = lookup(weights, ["das", "Haus"], "house", values=values)
    assert "(0.50, −0.25)" in texts(view)
    assert facts(view)[-1] == ["average of the values", "0.50, −0.25"]
    with pytest.raises(ValueError, match=r"values \(3, 2\) must have a row for each of"):
        lookup(weights, ["das", "Haus"], "house", values=torch.ones(3, 2))


# --- merges


def bpe(size):
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    text = "embed embedding embeddings bedding wedding ending lending bend banana"
    made.train_from_iterator([text], trainers.BpeTrainer(vocab_size=size, show_progress=False))
    return made


def test_the_last_row_is_what_the_tokenizer_says(subtests):
    for size, word in product(
        [14, 18, 22, 40], ["embeddings", "banana", "ending", "a", "nanananana", "bebebed"]
    ):
        with subtests.test(size=size, word=word):
            tokenizer = bpe(size)
            rows = facts(merges(word, tokenizer))
            assert rows[0] in (["letters", "", " ".join(word)], ["letters", " ".join(word)])
            assert rows[-1][-1].split() == tokenizer.encode(word).tokens


def test_each_row_names_its_rule_and_what_the_rule_joins():
    made = Tokenizer(models.BPE({"a": 0, "b": 1, "ab": 2, "aab": 3}, [("a", "b"), ("a", "ab")]))
    shown = texts(merges("aab", made))
    letters = shown.index("letters")
    assert shown[letters : letters + 4] == ["letters", "a", "a", "b"]
    assert shown[letters + 4 : letters + 8] == ["rule 1", "a + b", "a", "ab"]
    assert shown[letters + 8 :] == ["rule 2", "a + ab", "aab"]


# --- a map


def test_the_map_keeps_as_much_variance_as_two_directions_can():
    vectors = torch.randn(9, 5, dtype=torch.float64)
    points, shares = principal(vectors)
    values = torch.linalg.eigvalsh(torch.cov(vectors.T)).flip(0)
    assert points.var(dim=0).allclose(values[:2])
    assert shares.allclose(values[:2] / values.sum())


def test_words_of_one_group_have_one_color_and_the_axes_say_what_they_show():
    groups = {"a": {"x": torch.tensor([0.0, 0.0]), "y": torch.tensor([4.0, 0.0])}}
    view = embedding_map(groups | {"b": {"<z>": torch.tensor([0.0, 1.0])}})
    assert re.findall(r'data-role="(series-\d)"><circle', view.html) == ["series-1"] * 2 + [
        "series-2"
    ]
    _, shares = principal(torch.tensor([[0.0, 0.0], [4.0, 0.0], [0.0, 1.0]]))
    assert f"first: {shares[0]:.0%} of the variance" in texts(view)
    assert "<z>" not in view.html


def test_equal_vectors_are_one_place():
    view = embedding_map({"a": dict.fromkeys("xyz", torch.ones(4))})
    assert len(set(re.findall('<circle class="dot" cx="(.*?)" cy="(.*?)"', view.html))) == 1
    assert "first: 0% of the variance" in texts(view)


def test_a_line_leads_to_the_nearest_word_of_the_full_space():
    rows = {"x": [9.0, 0, 0], "y": [9.0, 1, 0], "z": [0.0, 0, 1], "w": [0.1, 0, 9]}
    view = embedding_map({"a": {word: torch.tensor(row) for word, row in rows.items()}})
    ends = re.findall(r'class="line base" d="M(.*?) (.*?)L(.*?) (.*?)"', view.html)[:4]
    places = re.findall('<circle class="dot" cx="(.*?)" cy="(.*?)"', view.html)
    assert [places.index(end[2:]) for end in ends] == [1, 0, 3, 2]
    assert "nearest neighbor by all 3 numbers" in texts(view)


def test_a_word_is_beside_its_point_if_others_are_above_and_below():
    names, places = ["up", "mid", "low"], [(200.0, 100.0), (200.0, 112.0), (200.0, 124.0)]
    up, mid, low = labels(names, places)
    assert (up, low) == ((200.0, 93.0), (200.0, 139.0))
    assert mid[0] - 0.57 * 12.5 * 3 / 2 == pytest.approx(207.0)  # its left end, right of the point
    assert mid[1] == 116.0
