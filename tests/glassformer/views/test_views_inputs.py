"""Every view, with whatever a notebook may hand it: drawn with all its words, or refused."""

import math
import re
from html import escape, unescape
from html.parser import HTMLParser
from itertools import product

import pytest
import torch
from tokenizers import Tokenizer, models
from torch import nn

from glassformer import views
from glassformer.layers.positions import RotaryPositions, sinusoids
from glassformer.views import (
    arcs,
    attention_plane,
    bar_panels,
    bars,
    beam_tree,
    beside,
    by_hand,
    chains,
    decoding,
    dials,
    dots,
    embedding_map,
    flow,
    hands,
    head_view,
    heads_apart,
    heatmap,
    lines,
    lookup,
    merges,
    model_view,
    next_tokens,
    position_dials,
    reading_order,
    roofline,
    sampling,
    scatter,
    scatter_panels,
    shared_heads,
    slots,
    strips,
    teacher_forcing,
    tree,
    whole,
)
from glassformer.views.decoding_steps import Attended, DecodingStep
from glassformer.views.view import visible

SINES = sinusoids(7, 20)
LONG = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
TOKENS = {
    "one token": ["flies"],
    "the same token twice": ["the", "the"],
    "71 tokens": [f"w{k}" for k in range(71)],
    "a very long token": ["time", LONG],
    "right to left": ["שלום", "مرحبا", "a"],
    "emoji": ["👩\u200d👩\u200d👧\u200d👦", "🇮🇱", "x"],
    "markup": ["</script>", "<b>&amp;", "\"'"],
    "nothing to see": ["", " ", "\n", "\x00", "\u200b"],
    "twenty thousand letters": ["a" * 20_000, "b"],
}
VALUES = {
    "even": lambda shape: torch.full(shape, 1 / shape[-1]),
    "zeros": torch.zeros,
    "nan": lambda shape: torch.full(shape, torch.nan),
    "some nan": lambda shape: torch.rand(shape).masked_fill(torch.rand(shape) < 0.5, torch.nan),
    "infinite": lambda shape: torch.full(shape, torch.inf),
    "some masked": lambda shape: torch.randn(shape).masked_fill(
        torch.rand(shape) < 0.5, -torch.inf
    ),
    "huge": lambda shape: torch.randn(shape, dtype=torch.float64) * 1e300,
    "tiny": lambda shape: torch.randn(shape, dtype=torch.float64) * 1e-300,
    "half": lambda shape: torch.randn(shape).to(torch.bfloat16),
    "true and false": lambda shape: torch.rand(shape) < 0.5,
    "counts": lambda shape: torch.randint(0, 10**6, shape),
    "with a gradient": lambda shape: torch.randn(shape, requires_grad=True),
}


LOG = ["dots, log", "roofline"]
NO_NUMBER = ["lines", "scatter", "bars", "dots", "hands", "bar_panels", "scatter_panels", *LOG]
NO_WEIGHTS = ["head_view", "model_view"]
NO_CHANCES = ["next_tokens", "lookup", "decoding"]
SMALL = ["by_hand", "attention_plane", "dials"]
DRAWN = ["beside", "sampling", "embedding_map"]
NOT_FINITE = [*NO_NUMBER, *NO_WEIGHTS, *NO_CHANCES, *SMALL, *DRAWN]
REFUSES = {
    "nan": NOT_FINITE,
    "infinite": NOT_FINITE,
    "zeros": [*LOG, "hands", "dials", "attention_plane"],
    "tiny": [*LOG, "dials"],
    "true and false": [*LOG, "dials"],  # of the key both are false
    "some masked": ["sampling", *LOG, *NO_WEIGHTS, *SMALL, "embedding_map"],
    "huge": ["sampling", *LOG, *NO_WEIGHTS, *SMALL, *NO_CHANCES],
    **dict.fromkeys(("half", "with a gradient"), (*LOG, *NO_WEIGHTS)),
    "some nan": ["sampling", "roofline", *NO_WEIGHTS, *SMALL, *NO_CHANCES, "embedding_map"],
    "counts": NO_WEIGHTS,
}
TOO_FEW = ["one token", "the same token twice", "a very long token", "twenty thousand letters"]
WRONG_SIZE = {
    "by_hand": ["one token", "71 tokens"],
    "attention_plane": ["one token", "71 tokens"],
    "embedding_map": TOO_FEW,
}


class Named(nn.Module):
    """Linear maps in a row, called what the tokens are."""

    def __init__(self, tokens):
        super().__init__()
        self.parts = nn.ModuleList(nn.Linear(3, 3) for _ in tokens[:8])

    def forward(self, hidden):
        for part in self.parts:
            hidden = part(hidden)
        return hidden


def square(values, tokens):
    return values((len(tokens), len(tokens)))


def column(values, tokens):
    return values((len(tokens),))


def by_token(values, tokens):
    """A number for each token; tokens that are the same have one."""
    return dict(zip(tokens, column(values, tokens), strict=True))


def chances(values, tokens):
    """A share of the whole for each token."""
    return column(values, tokens).float().softmax(-1)


VIEWS = {
    "heatmap": lambda v, t: heatmap(square(v, t), t, t),
    "arcs": lambda v, t: arcs({"a head": square(v, t)}, t),
    "strips": lambda v, t: strips({"x": v((len(t), 5))}, t),
    "head_view": lambda v, t: head_view([square(v, t)[None, None]], t),
    "model_view": lambda v, t: model_view([square(v, t)[None, None]], t),
    "lines": lambda v, t: lines({name: column(v, t) for name in t[:4]}),
    "scatter": lambda v, t: scatter({name: (range(5), v((5,))) for name in t[:4]}),
    "bars": lambda v, t: bars(by_token(v, t)),
    "bar_panels": lambda v, t: bar_panels({name: {"a": v((5,))} for name in t[:4]}),
    "scatter_panels": lambda v, t: scatter_panels(
        {name: {"a": {"g": (range(5), v((5,)))}} for name in t[:4]}
    ),
    "dots": lambda v, t: dots(by_token(v, t)),
    "dots, log": lambda v, t: dots(by_token(v, t), log=True),
    "roofline": lambda v, t: roofline(
        {name: (1.0, float(value)) for name, value in zip(t, v((len(t),)), strict=True)},
        rates={"r": 2.0},
        bandwidth=1.0,
    ),
    "hands": lambda v, t: hands({name: v((3, 2)) for name in t}),
    "flow": lambda v, t: flow(Named(t), v((2, 3)).float()),
    "beside": lambda v, t: beside(heatmap(square(v, t), t, t), bars(by_token(v, t))),
    "by_hand": lambda v, t: by_hand(v((len(t), 2)), v((len(t), 2)), v((len(t), 2)), t, asks=0),
    "attention_plane": lambda v, t: attention_plane(*3 * [v((len(t), 2))], t, asks=0),
    "heads_apart": lambda v, t: heads_apart(v((len(t), 6)), t, num_heads=2),
    "reading_order": lambda v, t: reading_order(square(v, t).bool(), t),
    "dials": lambda v, t: dials(RotaryPositions(4), v((2,)), v((2,)), [(1, 3)]),
    "next_tokens": lambda v, t: next_tokens({"…": chances(v, t)}, t.__getitem__),
    "sampling": lambda v, t: sampling({"…": column(v, t).float()}, t.__getitem__),
    "decoding": lambda v, t: decoding(
        [DecodingStep([0], chances(v, t), Attended(torch.ones(1), 1), Attended(chances(v, t), 1))],
        t.__getitem__,
        t,
    ),
    "lookup": lambda v, t: lookup(chances(v, t), t, t[0]),
    "teacher_forcing": lambda v, t: teacher_forcing(t, t),
    "beam_tree": lambda v, t: beam_tree(
        lambda ids: chances(v, t).log().expand(len(ids), -1),
        torch.zeros(1, dtype=torch.long),
        t.__getitem__,
        num_beams=1,
        steps=2,
    ),
    "embedding_map": lambda v, t: embedding_map({"a group": {n: v((5,)) for n in t}}),
    "slots": lambda v, t: slots({name: [[(0, 1)]] for name in t}),
    "tree": lambda v, t: tree({name: (None, str(v((1,)))) for name in t}),
    "chains": lambda v, t: chains({name: [(name, str(v((1,))), "kind")] for name in t}),
}
NAMES_WORDS = ["heatmap", "arcs", "strips", "hands", "bars", "dots", "beside"]


class Pieces(HTMLParser):
    """All tags of a view, and each number in a coordinate."""

    def __init__(self, html):
        super().__init__()
        self.open, self.numbers, self.ids, self.tags = [], [], [], set()
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in ("input", "br"):
            self.open.append(tag)
        for name, value in attrs:
            if name in ("x", "y", "width", "height", "d", "cx", "cy", "points", "viewbox"):
                self.numbers.append(value)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag


def stands(view):
    """Hold a view against what every reader needs: tags that close, places that exist, a text.

    Each ids is there once, and what's no picture for eyes has a table or a list for ears.
    """
    pieces = Pieces(view.html)
    assert pieces.open == []
    assert len(pieces.ids) == len(set(pieces.ids))
    assert {"table", "ol"} & pieces.tags
    assert not {"b", "i"} & pieces.tags, "a token became markup"
    for places in pieces.numbers:
        assert not re.search("nan|inf", places), places
    assert str(view).strip()


def has_words(view, name, tokens):
    """Hold a view against its words: each is in the picture and in the text."""
    for token in filter(str.strip, tokens):
        shown = visible(token) if name not in ("hands", "bars", "dots") else token
        assert escape(shown) in view.html or shown in unescape(view.html), token
        assert shown in str(view) or escape(token) in view.html, token


def test_any_tokens_are_drawn_or_refused_by_their_number(subtests):
    for (name, draw), (kind, tokens) in product(VIEWS.items(), TOKENS.items()):
        with subtests.test(f"{name} of {kind}"):
            if kind in WRONG_SIZE.get(name, ()):
                with pytest.raises(ValueError, match=r"^\d+ words .* (2 to 5|3) words"):
                    draw(torch.rand, tokens)
                continue
            view = draw(torch.rand, tokens)
            stands(view)
            if name in NAMES_WORDS and len(tokens) < 50:
                has_words(view, name, tokens)


def test_any_numbers_are_drawn_or_refused_with_a_message(unhooked, subtests):
    told = r"finite|above 0$|weights are between 0 and 1|sum (to|of)"
    tokens = ["time", "flies", "like"]
    for (name, draw), (kind, values) in product(VIEWS.items(), VALUES.items()):
        with subtests.test(f"{name} of {kind}"):
            torch.manual_seed(5)
            if name in REFUSES.get(kind, ()):
                with pytest.raises(ValueError, match=told):
                    draw(values, tokens)
            else:
                stands(draw(values, tokens))


def refuses():
    """What no view can draw, with the message that says why."""
    true, ones, half = torch.ones(5, 5).bool(), torch.ones, torch.full((2,), 0.5)
    five, hand, rotary = list("abcde"), torch.ones(2), RotaryPositions(2)
    three, wide = torch.randn(3, 2), torch.randn(7, 3)
    linear, vectors = nn.Linear(2, 2), {"a": ones(2), "b": ones(2), "c": ones(3)}
    odd = {"a": ones(2), "b": ones(2), "c": torch.tensor([math.inf, 0])}
    return [
        (lambda: heatmap(ones(2, 3), "abc", "xy"), r"\(2, 3\) do not fit 3 row words and 2 column"),
        (lambda: heatmap(ones(1, 2, 3), "ab", "xyz"), r"\(1, 2, 3\): choose the batch"),
        (lambda: heatmap(ones(0, 3), "", "xyz"), r"shape \(0, 3\) have nothing to draw"),
        (lambda: heatmap(ones(1, 1), "a", "b", end=0), r"end \(0\) must be a number above 0"),
        (lambda: arcs({}, five), "at least one head"),
        (
            lambda: arcs({"one": ones(5, 5)}, five[:4]),
            r"one: weights .*\(5, 5\) do not fit 4 words",
        ),
        (lambda: arcs({"one": ones(5, 5)}, five, asks=5), r"asks \(5\) .* one of 5 words"),
        (lambda: strips({}, five), r"strips needs at least one tensor, but got {}"),
        (lambda: strips({"x": ones(2, 3)}, five), r"'x' of shape \(2, 3\) .* a row for each of 5"),
        (lambda: strips({"x": ones(1, 5, 3)}, five), r"\(1, 5, 3\) must be \(rows, width\)"),
        (lambda: strips({"x": ones(5, 0)}, five), r"'x' of shape \(5, 0\)"),
        (lambda: strips({"x": ones(5, 3), "y": ones(5, 7)}, five), r"same width.*5, 3.*5, 7"),
        (lambda: strips({"x": ones(5, 3)}, five, first=3), r"first must be from 0 to 2, but is 3"),
        (lambda: flow(linear, three, depth=0), r"depth \(0\) must be at least 1"),
        (lambda: flow(linear, wide), r"Linear does not take inputs of shape \(7, 3\)"),
        (lambda: flow(lambda x: ones(2), three), "<lambda> returns nothing that was computed"),
        (lambda: by_hand(three, three, three, "ab", asks=0), r"\(3, 2\).* do not fit 2 words"),
        (lambda: by_hand(three, three, three, "abc", asks=3), r"asks \(3\) must be from 0 to 2"),
        (lambda: by_hand(three, three[:, :1], three, "abc", asks=1), r"\(3, 1\).* do not fit 3"),
        (lambda: by_hand(wide, wide, wide, "abcdefg", asks=0), "7 words with 3 numbers each"),
        (
            lambda: by_hand(three, three, three, "abc", asks=0, vectors=three[:2]),
            r"vectors of shape \(2, 2\) must have the shape \(3, 2\)",
        ),
        (
            lambda: attention_plane(*3 * [three[:, :1]], "abc", asks=1),
            "two finite numbers for each",
        ),
        (lambda: attention_plane(*3 * [three], "abc", asks=3), r"asks \(3\) must be from 0 to 2"),
        (lambda: bar_panels({}), r"one to 4 rows of one to 6, but got rows of \[\]"),
        (lambda: bar_panels({"a": dict.fromkeys(range(7), half)}), r"but got rows of \[7\]"),
        (lambda: bar_panels({"a": {"b": []}}), "'b' has 0 numbers"),
        (lambda: scatter_panels({"a": {}}), r"but got rows of \[0\]"),
        (lambda: scatter_panels({"a": {"b": {"c": (ones(3), half)}}}), "'c' has 2 numbers for 3"),
        (
            lambda: scatter_panels({"a": {"b": dict.fromkeys(five, (half, half))}}),
            "groups, but got 5",
        ),
        (lambda: position_dials(three, at=(0, 1)), "a finite sine and cosine, of length one"),
        (
            lambda: position_dials(wide, at=(0, 1)),
            r"\(7, 3\) must have two rows or more, of one to",
        ),
        (lambda: position_dials(SINES[:, :14], at=(0, 1)), r"\(7, 14\) must have two rows or more"),
        (lambda: position_dials(SINES[:, :6], at=(0, 7)), r"\(0, 7\) must be .* from 0 to 6"),
        (lambda: position_dials(SINES[:, :6] * math.nan, at=(0, 1)), "finite sine and cosine"),
        (lambda: heads_apart(ones(5, 12), five, num_heads=5), r"num_heads \(5\) must divide"),
        (lambda: heads_apart(ones(4, 12), five, num_heads=3), "a row for each of 5 words"),
        (lambda: heads_apart(ones(5, 49), five, num_heads=7), "at most 48 numbers"),
        (lambda: reading_order(true[:4], five), "must be boolean, with a row and a column for"),
        (lambda: reading_order(ones(5, 5), five), "torch.float32 must be boolean"),
        (lambda: dials(rotary, hand, 0 * hand, [(0, 1)]), r"key \[0.0, 0.0\] must be two finite"),
        (lambda: dials(rotary, hand * math.nan, hand, [(0, 1)]), "query .* must be two finite"),
        (lambda: dials(rotary, hand, hand, []), "at least one pair of positions"),
        (lambda: shared_heads({}), "at least one configuration"),
        (lambda: next_tokens({}, str), "expected vectors of the same size"),
        (lambda: next_tokens({"a": ones(1), "b": half}, str), "expected vectors of the same size"),
        (lambda: next_tokens({"a": half + 0.1}, str), "'a' has .* a sum of 1.2"),
        (lambda: next_tokens({"a": torch.tensor([1.5, -0.5])}, str), "'a' has numbers from -0.5"),
        (lambda: sampling({}, str), "vectors of logits, but their shapes are {}"),
        (lambda: sampling({"a": ones(2, 3)}, str), r"their shapes are {'a': \(2, 3\)}"),
        (lambda: sampling({"a": ones(0)}, str), r"their shapes are {'a': \(0,\)}"),
        (lambda: sampling({"a": half - math.inf}, str), "finite logits"),
        (lambda: lookup(half + 0.1, "ab", "c"), "one for each of 2 words, and a sum of 1"),
        (lambda: lookup(ones(1), "ab", "c"), "one for each of 2 words, and a sum of 1"),
        (lambda: decoding([], str), r"decoding needs at least one step"),
        (
            lambda: decoding([DecodingStep([0], half, Attended(ones(1), 1), None)], str, "ab"),
            r"2 source words don't fit steps with \[0\] weights",
        ),
        (lambda: beam_tree(ones, hand, str, num_beams=5), r"num_beams \(5\) must be 1 to 4"),
        (lambda: beam_tree(ones, hand, str, steps=7), r"steps \(7\) 1 to 6"),
        (lambda: teacher_forcing("ab", "c"), "2 words given and 1 wanted"),
        (lambda: teacher_forcing([], []), "0 words given"),
        (lambda: merges("word", Tokenizer(models.WordPiece())), "this one has no merges"),
        (lambda: merges("two words", Tokenizer(models.BPE())), "1 to 24 letters and no whitespace"),
        (lambda: embedding_map({"a": {"b": hand, "c": hand}}), "2 words in 1 groups"),
        (lambda: embedding_map({"a": vectors}), r"of shapes \[\(2,\), \(3,\)\]"),
        (lambda: embedding_map({"a": odd}), "finite numbers"),
        (lambda: whole({}), "at least one model"),
    ]


def test_what_cannot_be_drawn_is_refused(unhooked, subtests):
    for draw, message in refuses():
        with subtests.test(message), pytest.raises(ValueError, match=message):
            draw()


def test_arrays_and_lists_are_drawn_as_tensors_and_ids_as_numbers(unhooked, subtests):
    square = torch.tensor([[0.75, 0.25], [0.5, 0.5]])
    ids = torch.tensor([101, 2051])
    rows = {
        "heatmap": lambda to, names: heatmap(to(square), names, names),
        "arcs": lambda to, names: arcs({"a": to(square)}, names),
        "strips": lambda to, names: strips({"a": to(square)}, names),
        "reading_order": lambda to, names: reading_order(to(square > 0.3), names),
        "lookup": lambda to, names: lookup(to(square[0]), names, writes="x"),
        "heads_apart": lambda to, names: heads_apart(to(square), names, num_heads=2),
        "by_hand": lambda to, names: by_hand(*3 * [to(square)], names, asks=0),
        "position_dials": lambda to, names: position_dials(to(SINES[:, :4]), at=(1, 5)),
        "attention_plane": lambda to, names: attention_plane(*3 * [to(square)], names, asks=0),
        "head_view": lambda to, names: head_view([to(square[None, None])] * 2, names),
        "embedding_map": lambda to, names: embedding_map(
            {"a": dict(zip([*names, "x"], map(to, (*square, square[0] - 1)), strict=True))}
        ),
    }
    for name, draw in rows.items():
        with subtests.test(name):
            expected = str(draw(torch.Tensor.clone, ["101", "2051"]))
            for to in (torch.Tensor.tolist, torch.Tensor.numpy):
                for names in (ids.tolist(), list(ids)):
                    assert str(draw(to, names)) == expected, (to, names)
    assert str(heatmap(square, ids, ids)) == str(heatmap(square, ["101", "2051"], ["101", "2051"]))
    with pytest.raises(ValueError, match=r"layer 0 have shape \(\); expected"):
        head_view([0.9, 0.1], ["a", "b"])


def test_captions_are_text_and_escaped_once(subtests):
    """Those of other views are written by the same function."""
    ones = torch.ones(2, 2)
    rows = [
        ("heatmap", heatmap(ones, "ab", "xy", caption="<i>q & k")),
        ("arcs", arcs({"a": ones}, "ab", caption="<i>q & k")),
        ("flow", flow(nn.Linear(2, 2), ones, caption="<i>q & k")),
        ("by_hand", by_hand(ones, ones, ones, "ab", asks=0, caption="<i>q & k")),
    ]
    for name, view in rows:
        with subtests.test(name):
            blue = " · bluer: more parameters" * (name == "flow")
            assert f"<figcaption>&lt;i&gt;q &amp; k{blue}</figcaption>" in view.html
            assert "<i>" not in view.html


def test_no_view_is_left_out():
    drawn = {name.partition(",")[0] for name in VIEWS}
    needs_sines = {"position_dials"}
    needs_a_tape = {"neuron_view", "cross_view", "residual_stream"}
    needs_models = {"merges", "shared_heads", "whole"}
    needs_machines = {"levels", "low_rank", "ring", "traffic", "workers"}  # see test_machines.py
    no_views = {
        "View",
        "Viewer",
        "HeadActivations",
        "head_activations",
        "decoding_steps",
    }
    needs_more = needs_a_tape | needs_models | needs_machines | needs_sines
    assert drawn | needs_more | no_views == set(views.__all__)
