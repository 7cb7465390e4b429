"""bertviz's viewers: their sizes, their choices, and what they send, held against numbers."""

import base64
import json
import math
import re
import zlib
from itertools import product

import pytest
import torch

from glassformer.views import cross_view, head_view, model_view, neuron_view
from glassformer.views.packing import pack, vector_bytes, weight_bytes
from glassformer.views.viewers import least_drawn

HEADS, HEAD_DIM = 3, 7


def words(count):
    return [f"w{i}" for i in range(count)]


def weights(rows, columns=None, *, layers=1, heads=HEADS):
    columns = columns or rows
    return [torch.randn(1, heads, rows, columns).softmax(-1) for _ in range(layers)]


def tape(seq, *, layers=1, heads=HEADS):
    made = {}
    for i in range(layers):
        query, key = torch.randn(2, 1, heads, seq, HEAD_DIM)
        made[f"layers.{i}.attention.query"] = query
        made[f"layers.{i}.attention.key"] = key
        made[f"layers.{i}.attention.weights"] = (query @ key.mT).softmax(-1)
    return made


def cross(target, source, *, heads=HEADS, shown=None, layer=0):
    layers = 2
    return cross_view(
        weights(target, source, layers=layers, heads=heads),
        words(target),
        words(source),
        decoder_attentions=weights(target, layers=layers, heads=heads),
        encoder_attentions=weights(source, layers=layers, heads=heads),
        heads=shown,
        layer=layer,
    )


def unpacked(view):
    """Header and bytes, read back with Python's own modules."""
    raw = zlib.decompress(base64.b64decode(re.search('data-packed="([^"]*)"', view.html)[1]))
    size = int.from_bytes(raw[:4], "little")
    return json.loads(raw[4 : 4 + size]), raw[4 + size :]


def size(view):
    return tuple(int(n) for n in re.search(r"--shape:(\d+)/(\d+)", view.html).groups())


# --- sizes


def test_the_head_view_has_room_for_its_columns_and_squares(subtests):
    rows = [
        (3, 5, 336, 146),  # two columns of 110, lines of 115, and 1; 5·22.5 + 34 = 146.5
        (13, 7, 336, 192),  # 327 is less; 7·22.5 + 34 = 191.5
        (17, 2, 427, 79),  # squares of 25 and 2
    ]
    for heads, seq, wide, high in rows:
        with subtests.test(heads=heads, seq=seq, wide=wide, high=high):
            assert size(head_view(weights(seq, heads=heads), words(seq))) == (wide, high)
            assert size(cross(seq, seq - 1, heads=heads)) == (wide, high)
            assert size(cross(seq - 1, seq, heads=heads)) == (wide, high)


def test_the_model_view_has_room_for_its_small_pictures_and_for_the_large_one():
    """A small one is a twelfth of the width; 7 a word, 10 between, 38 above; 18 a word at large."""
    assert size(model_view(weights(5, layers=7, heads=3), words(5))) == (970, 7 * (140 + 10) + 38)
    assert size(model_view(weights(11, layers=1, heads=12), words(11))) == (970, 11 * 18 + 55)


def test_the_neuron_view_has_a_row_of_26_for_each_word():
    assert size(neuron_view(tape(5), words(5))) == (420, 5 * 26 + 14)


def test_a_wide_picture_shrinks_to_two_thirds_and_a_narrow_one_to_any_window(subtests):
    """427 is narrow enough, 452 is not."""
    for heads, narrowest in [(3, 0), (17, 0), (18, 307)]:
        with subtests.test(heads=heads, narrowest=narrowest):
            html = head_view(weights(2, heads=heads), words(2)).html
            wide = max(336, 25 * heads + 2)
            assert f"--width:{wide}px;--narrowest:{narrowest}px;" in html


# --- what is shown at first


def test_a_view_says_which_heads_it_shows(subtests):
    rows = [
        (None, None, "layer 1, 3 heads of 3"),
        ([2], [2], "layer 1, head 2"),
        ([2, 0], [0, 2], "layer 1, 2 heads of 3"),
        ([2, 2], [2], "layer 1, head 2"),
    ]
    for heads, shown, what in rows:
        with subtests.test(heads=heads, shown=shown, what=what):
            attentions = weights(5, layers=2)
            view = head_view(attentions, words(5), heads=heads, layer=1)
            assert unpacked(view)[0]["shown"] == shown
            assert str(view).startswith(f"Head view: {what};")
            assert f"strongest weights of {what};" in view.html


def test_a_cross_view_says_which_heads_it_shows(subtests):
    for chosen, shown, what in [
        (None, None, "layer 1, 3 heads of 3"),
        ([2], [2], "layer 1, head 2"),
    ]:
        with subtests.test(chosen=chosen, shown=shown, what=what):
            view = cross(3, 5, shown=chosen, layer=1)
            assert unpacked(view)[0]["shown"] == shown
            assert str(view).startswith(
                f"Cross view: the target's attention to the source, {what};"
            )


def test_the_strongest_weights_are_those_of_the_heads_that_are_shown():
    attentions = weights(5, layers=2)
    lines = str(head_view(attentions, words(5), heads=[2, 0], layer=1)).splitlines()[1:]
    assert {line[: len("layer 1 head 0")] for line in lines} <= {"layer 1 head 0", "layer 1 head 2"}
    best = attentions[1][0, [0, 2]].flatten().sort(descending=True).values[:12]
    assert [line.split()[-1] for line in lines] == [f"{w:.3f}" for w in best.tolist()]


def test_of_few_weights_all_are_told():
    assert len(str(head_view(weights(1, heads=2), ["a"])).splitlines()) == 1 + 2


def test_names_of_words_end_together():
    """Three wide letters take six columns."""
    lines = str(head_view([torch.eye(2)[None, None]], ["日本語", "a"])).splitlines()[1:]
    assert sorted(line.partition(": ")[2] for line in lines) == sorted(
        [
            "日本語 (0) → 日本語 (0)  1.000",
            "日本語 (0) → a (1)  0.000",
            "     a (1) → 日本語 (0)  0.000",
            "     a (1) → a (1)  1.000",
        ]
    )


def test_two_sentences_can_be_chosen_between_and_one_cannot(subtests):
    for split in [1, 4]:
        with subtests.test(split=split):

            def options(view):
                return re.findall('<option value="(.*?)">(.*?)</option>', view.html)

            named = [
                "All",
                *("Sentence A → Sentence A", "Sentence B → Sentence B"),
                *("Sentence A → Sentence B", "Sentence B → Sentence A"),
            ]
            start = {"sentence_b_start": split}
            for view, values in (
                (head_view(weights(5), words(5), **start), "01234"),
                (model_view(weights(5), words(5), **start), "01234"),
                (neuron_view(tape(5), words(5), **start), ("all", "aa", "bb", "ab", "ba")),
            ):
                assert options(view) == [*zip(values, named, strict=True)]
                assert unpacked(view)[0]["split"] == split
            assert options(cross(3, 5)) == [
                *(("3", "Target → Source"), ("1", "Target → Target"), ("2", "Source → Source")),
            ]
            for view in (head_view(weights(5), words(5)), model_view(weights(5), words(5))):
                assert options(view) == []


def test_each_view_has_its_choices():
    def choices(view):
        return re.findall('<select id="(.*?)">', view.html)

    start = {"sentence_b_start": 2}
    assert choices(head_view(weights(5), words(5), **start)) == ["layer", "filter"]
    assert choices(model_view(weights(5), words(5), **start)) == ["filter"]
    assert choices(neuron_view(tape(5), words(5), **start)) == ["layer", "att_head", "filter"]
    assert choices(cross(3, 5)) == ["layer", "filter"]


# --- what is sent


def test_attention_to_the_next_word_is_bidirectional(subtests):
    for place, found in [((0, 1), True), ((1, 0), False), ((1, 1), False)]:
        with subtests.test(place=place, found=found):
            made = tape(2)
            attention = torch.zeros(2, 2)
            attention[place] = 1.0
            made["layers.0.attention.weights"] = attention.expand(1, HEADS, 2, 2)
            assert unpacked(neuron_view(made, words(2)))[0]["bidirectional"] is found


def test_steps_of_vectors_have_six_digits():
    made = tape(2)
    header, _ = unpacked(neuron_view(made, words(2)))
    assert header["vector"] == HEAD_DIM
    for name, steps in zip(("query", "key"), header["steps"], strict=True):
        largest = made[f"layers.0.attention.{name}"][0].abs().amax(dim=(1, 2)) / 127
        assert steps == [pytest.approx(step, rel=5e-6) for step in largest.tolist()]
        assert all(len(f"{step:.12g}".lstrip("0.")) <= 6 for step in steps)


def test_a_vector_of_zeros_stays_one():
    steps, step = vector_bytes(torch.zeros(1, 2, 3, 5))
    assert not steps.any()
    assert (step > 0).all()
    assert (step < 1e-12).all()


def test_a_weight_is_rounded_to_the_next_byte(subtests):
    for weight, byte in [(0.0, 0), (0.4 / 255, 0), (0.6 / 255, 1), (254.4 / 255, 254), (1.0, 255)]:
        with subtests.test(weight=weight, byte=byte):
            assert weight_bytes(torch.tensor([weight])).tolist() == [byte]


def test_words_are_packed_as_they_are():
    """As UTF-8: escapes would take six signs for each of theirs."""
    raw = zlib.decompress(
        base64.b64decode(pack({"tokens": ["日本"]}, [torch.tensor([1, 2]).byte()]))
    )
    size = int.from_bytes(raw[:4], "little")
    assert raw[4 : 4 + size].decode() == '{"tokens":["日本"]}'
    assert raw[4 + size :] == b"\x01\x02"


def test_weights_may_be_off_by_a_ten_thousandth(subtests):
    for beyond in [0.9e-4, -0.9e-4, 1.2e-4, -1.2e-4]:
        with subtests.test(beyond=beyond):
            attention = torch.eye(3)[None, None].repeat(1, HEADS, 1, 1)
            attention[0, 1, 2, 0] = 1 + beyond if beyond > 0 else beyond
            if abs(beyond) < 1e-4:
                _, body = unpacked(head_view([attention], words(3)))
                assert body[9 + 6] == (255 if beyond > 0 else 0)
                assert ("1.000" if beyond > 0 else "0.000") in str(head_view([attention], words(3)))
            else:
                with pytest.raises(ValueError, match=r"attentions are between .*use heatmap"):
                    head_view([attention], words(3))


def test_a_hundred_and_fifty_thousand_lines_can_be_drawn(subtests):
    """A weight of a half is byte 128."""
    for count, least in [(150_000, 1), (150_001, 129)]:
        with subtests.test(count=count, least=least):
            assert least_drawn(torch.full((count,), 0.5)) == least


def test_where_all_weights_are_whole_those_are_drawn():
    assert least_drawn(torch.ones(150_001)) == 255


def test_only_where_lines_are_left_out_is_it_said():
    assert "not drawn" not in head_view(weights(5), words(5)).html
    many = [torch.full((1, 1, 388, 388), 2 / 255)]  # 150 544
    many[0][0, 0, 0, 0] = 1.0
    view = head_view(many, words(388))
    assert unpacked(view)[0]["least"] == 3
    assert f"Weights below {2.5 / 255:.1%} are not drawn." in view.html


def test_keys_that_heads_share_are_sent_for_each(unhooked):
    made = tape(2, heads=4)
    made["layers.0.attention.key"] = shared = torch.randn(1, 2, 2, HEAD_DIM)
    header, body = unpacked(neuron_view(made, words(2)))
    largest = (shared[0].abs().amax(dim=(1, 2)) / 127).tolist()
    assert header["steps"][1] == [pytest.approx(largest[i], rel=5e-6) for i in (0, 0, 1, 1)]
    keys = body[4 * 4 + 4 * 2 * HEAD_DIM :]
    one = 2 * HEAD_DIM
    assert keys[:one] == keys[one : 2 * one] != keys[2 * one : 3 * one] == keys[3 * one :]


# --- bad input


def test_a_weight_that_is_not_finite_is_refused_with_its_place(subtests):
    for value, draw in product([math.nan, math.inf, -math.inf], [head_view, model_view]):
        with subtests.test(value=value, draw=draw):
            attentions = weights(4, layers=3)
            attentions[2][0, 1, 3, 0] = value
            place = (
                r"layer 2, head 1, at 'w3' \(3\) → 'w0' \(0\), the first of 1 that are not finite"
            )
            with pytest.raises(ValueError, match=rf"attentions hold {value} in {place}"):
                draw(attentions, words(4))


def test_each_attention_of_a_cross_view_is_looked_at(subtests):
    for value, which in product(
        [math.nan, math.inf, -math.inf],
        ["cross_attentions", "decoder_attentions", "encoder_attentions"],
    ):
        with subtests.test(value=value, which=which):
            given = {
                "cross_attentions": weights(2, 3),
                "decoder_attentions": weights(2),
                "encoder_attentions": weights(3),
            }
            given[which][0][0, 2, 1, 1] = value
            with pytest.raises(
                ValueError, match=rf"attentions hold {value} in layer 0, head 2, at 'w1'"
            ):
                cross_view(given.pop("cross_attentions"), words(2), words(3), **given)


def test_a_vector_that_is_not_finite_is_refused_with_its_word(subtests):
    for value, (name, told) in product(
        [math.nan, math.inf, -math.inf], [("query", "queries"), ("key", "keys")]
    ):
        with subtests.test(value=value, name=name, told=told):
            made = tape(3, layers=2)
            made[f"layers.1.attention.{name}"][0, 1, 2, 4] = value
            with pytest.raises(
                ValueError, match=rf"{told} hold {value} in layer 1, head 1, at 'w2' \(2\)"
            ):
                neuron_view(made, words(3))


def test_no_words_are_refused():
    nothing = [torch.zeros(1, HEADS, 0, 0)]
    for draw in (head_view, model_view):
        with pytest.raises(ValueError, match=r"shape \(1, 3, 0, 0\) have nothing to draw"):
            draw(nothing, [])
