"""Every view, with whatever a notebook may hand it: drawn with all its words, or refused."""

import re
from html import escape, unescape
from html.parser import HTMLParser
from itertools import product

import pytest
import torch
from torch import nn

from glassformer import views
from glassformer.layers.positions import RotaryPositions
from glassformer.views import (
    arcs,
    bars,
    beam_tree,
    beside,
    by_hand,
    dials,
    dots,
    embedding_map,
    flow,
    growth,
    hands,
    head_view,
    heads_apart,
    heatmap,
    lines,
    lookup,
    model_view,
    next_tokens,
    reading_order,
    roofline,
    scatter,
    shapes,
    strips,
    teacher_forcing,
)
from glassformer.views.view import visible

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
NO_NUMBER = ["lines", "scatter", "bars", "dots", "hands", *LOG]
NO_WEIGHTS = ["head_view", "model_view"]
NO_CHANCES = ["next_tokens", "lookup"]
SMALL = ["by_hand", "dials"]
NOT_FINITE = [*NO_NUMBER, *NO_WEIGHTS, "beside", *NO_CHANCES, *SMALL, "embedding_map"]
REFUSES = {
    "nan": NOT_FINITE,
    "infinite": NOT_FINITE,
    "zeros": [*LOG, "hands", "dials"],
    "tiny": [*LOG, "dials"],
    "true and false": [*LOG, "dials"],  # of the key both are false
    "some masked": [*LOG, *NO_WEIGHTS, *SMALL, "embedding_map"],
    "huge": [*LOG, *NO_WEIGHTS, *SMALL, *NO_CHANCES],
    **dict.fromkeys(("half", "with a gradient"), (*LOG, *NO_WEIGHTS)),
    "some nan": ["roofline", *NO_WEIGHTS, *SMALL, *NO_CHANCES, "embedding_map"],
    "counts": NO_WEIGHTS,
}
TOO_FEW = ["one token", "the same token twice", "a very long token", "twenty thousand letters"]
WRONG_SIZE = {"by_hand": ["one token", "71 tokens"], "embedding_map": TOO_FEW}


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
    "growth": lambda v, t: growth({"x": [v((k, 5)) for k in range(1, min(3, len(t)) + 1)]}, t),
    "head_view": lambda v, t: head_view([square(v, t)[None, None]], t),
    "model_view": lambda v, t: model_view([square(v, t)[None, None]], t),
    "lines": lambda v, t: lines({name: column(v, t) for name in t[:4]}),
    "scatter": lambda v, t: scatter({name: (range(5), v((5,))) for name in t[:4]}),
    "bars": lambda v, t: bars(by_token(v, t)),
    "dots": lambda v, t: dots(by_token(v, t)),
    "dots, log": lambda v, t: dots(by_token(v, t), log=True),
    "roofline": lambda v, t: roofline(
        {name: (1.0, float(value)) for name, value in zip(t, v((len(t),)), strict=True)},
        rates={"r": 2.0},
        bandwidth=1.0,
    ),
    "hands": lambda v, t: hands({name: v((3, 2)) for name in t}),
    "flow": lambda v, t: flow(Named(t), v((2, 3)).float()),
    "shapes": lambda v, t: shapes(Named(t), v((2, 3)).float()),
    "beside": lambda v, t: beside(heatmap(square(v, t), t, t), bars(by_token(v, t))),
    "by_hand": lambda v, t: by_hand(v((len(t), 2)), v((len(t), 2)), v((len(t), 2)), t, asks=0),
    "heads_apart": lambda v, t: heads_apart(v((len(t), 6)), t, num_heads=2),
    "reading_order": lambda v, t: reading_order(square(v, t).bool(), t),
    "dials": lambda v, t: dials(RotaryPositions(4), v((2,)), v((2,)), [(1, 3)]),
    "next_tokens": lambda v, t: next_tokens({"…": chances(v, t)}, t.__getitem__),
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
}
NAMES_WORDS = ["heatmap", "arcs", "strips", "hands", "bars", "dots", "beside"]


class Pieces(HTMLParser):
    """All tags of a view, and each number in a coordinate."""

    def __init__(self, html):
        super().__init__()
        self.open, self.numbers = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
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
    """Hold a view against what every reader needs: tags that close, places that exist, a text."""
    pieces = Pieces(view.html)
    assert pieces.open == []
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


def test_no_view_is_left_out():
    drawn = {name.partition(",")[0] for name in VIEWS}
    needs_a_tape = {"neuron_view", "cross_view", "residual_stream"}
    needs_models = {"body_and_head", "costs", "merges", "shared_heads", "whole"}
    no_views = {"View", "Viewer", "Reading", "read", "flops", "parameters", "published"}
    assert drawn | needs_a_tape | needs_models | no_views == set(views.__all__)
