"""A flow shows the calls that were made, in their order, on what they took, and nothing else."""

import re
from itertools import combinations, product
from xml.etree import ElementTree

import pytest
import torch
from drawings import contrast
from torch import nn

from glassformer.layers.attention import scaled_dot_product_attention
from glassformer.layers.multihead import MultiHeadAttention
from glassformer.models.config import TransformerConfig
from glassformer.models.decoder import TransformerDecoderLayer
from glassformer.models.encoder import TransformerEncoder, TransformerEncoderLayer
from glassformer.models.transformer import Transformer
from glassformer.views import beside, flow
from glassformer.views.flow import DEEPEST, STYLE
from glassformer.views.palette import DARK, LIGHT
from glassformer.views.path import Axes
from glassformer.views.plan import lay_out
from glassformer.views.trace import trace

SEQ, TGT, HEADS, D_MODEL, D_FF = 5, 3, 2, 14, 11
SMALL = {
    "vocab_size": 23,
    "d_model": D_MODEL,
    "num_heads": HEADS,
    "num_layers": 3,
    "d_ff": D_FF,
    "max_positions": 7,
}


def config(**changes):
    return TransformerConfig(**{**SMALL, **changes})


def steps(model, *inputs, depth=1):
    """Each step with the names of what it took."""
    nodes = trace(model, inputs, depth, Axes(model)).inside
    return [(node.label, *(nodes[i].label for i in node.sources)) for node in nodes]


@pytest.fixture
def hidden():
    return torch.randn(1, SEQ, D_MODEL)


@pytest.fixture
def translator():
    return Transformer(config(decoder=config(cross_attention=True)))


def test_attention_step_by_step():
    query, key, value = torch.randn(3, 1, SEQ, 49)
    mask = torch.ones(SEQ, SEQ, dtype=torch.bool).tril()
    assert steps(scaled_dot_product_attention, query, key, value, mask) == [
        ("query",),
        ("key",),
        ("value",),
        ("attn_mask",),
        ("MatMul", "query", "key"),
        ("÷ 7", "MatMul"),
        ("+", "÷ 7", "attn_mask"),
        ("softmax", "+"),
        ("MatMul", "softmax", "value"),
    ]


def test_no_mask_no_sum_and_the_scale_is_that_of_the_run():
    made = steps(scaled_dot_product_attention, *torch.randn(3, 1, SEQ, 13))
    assert ("÷ √13", "MatMul") in made
    assert not any(step[0] in ("+", "attn_mask") for step in made)


def test_what_changes_nothing_is_not_drawn_with_and_without_numbers():
    def neutral(x):
        return (x * 1.0 / 1).transpose(0, 1).clone() * 3.0

    assert steps(neutral, torch.randn(2, 3)) == [("x",), ("× 3", "x")]
    with torch.device("meta"):
        assert steps(lambda x: x * 1.0 * 3.0, torch.empty(2, 3)) == [("x",), ("× 3", "x")]


def test_post_norm(hidden):
    assert steps(TransformerEncoderLayer(config(norm_first=False)), hidden)[1:] == [
        ("attention", "hidden"),
        ("+", "hidden", "attention"),
        ("attention_norm", "+"),
        ("feed_forward", "attention_norm"),
        ("+", "attention_norm", "feed_forward"),
        ("feed_forward_norm", "+"),
    ]


def test_pre_norm(hidden):
    assert steps(TransformerEncoderLayer(config(norm_first=True)), hidden)[1:] == [
        ("attention_norm", "hidden"),
        ("attention", "attention_norm"),
        ("+", "hidden", "attention"),
        ("feed_forward_norm", "+"),
        ("feed_forward", "feed_forward_norm"),
        ("+", "+", "feed_forward"),
    ]


def test_a_residual_that_is_missing_is_not_drawn(hidden):
    class Forgetful(TransformerEncoderLayer):
        def forward(self, hidden, attn_mask=None):
            hidden = self.attention_norm(hidden + self.attention(hidden))
            return self.feed_forward_norm(self.feed_forward(hidden))

    whole, forgetful = TransformerEncoderLayer(config()), Forgetful(config())
    assert [step[0] for step in steps(forgetful, hidden)].count("+") == 1
    # A residual is one line and one arrowhead.
    assert flow(whole, hidden).html.count('wire round"') == 2
    assert flow(forgetful, hidden).html.count('wire round"') == 1


def test_a_bound_module_that_never_runs_is_not_drawn(hidden):
    class Idle(TransformerEncoderLayer):
        def forward(self, hidden, attn_mask=None):
            self.feed_forward(hidden)  # and nobody takes what it gives
            return hidden + self.attention(hidden)

    assert [step[0] for step in steps(Idle(config()), hidden)] == ["hidden", "attention", "+"]


def test_heads_and_shapes(hidden):
    nodes = trace(MultiHeadAttention(D_MODEL, HEADS), (hidden,), 1, Axes(None)).inside
    assert [(n.label, n.shape) for n in nodes] == [
        ("query", (1, SEQ, D_MODEL)),
        *((f"{p}_proj", (1, SEQ, D_MODEL)) for p in "qkv"),
        ("scaled dot-product attention", (1, HEADS, SEQ, D_MODEL // HEADS)),
        ("out_proj", (1, SEQ, D_MODEL)),
    ]
    assert nodes[4].sources == (1, 2, 3)
    assert [n.parameters for n in nodes] == [0, *[D_MODEL * D_MODEL + D_MODEL] * 3, 0, 210]


def test_memory_reaches_the_second_attention_alone(hidden):
    layer = TransformerDecoderLayer(config(cross_attention=True))
    made = steps(layer, hidden, torch.randn(1, 7, D_MODEL))
    assert [step for step in made if "memory" in step[1:]] == [
        ("cross_attention", "attention_norm", "memory")
    ]


def test_equal_layers_are_one_and_unequal_ones_are_not():
    ids = torch.randint(23, (1, SEQ))
    encoder = TransformerEncoder(config())
    assert [n.times for n in trace(encoder, (ids,), 1, Axes(encoder)).inside] == [1, 1, 3]
    encoder.layers[1].feed_forward = nn.Linear(D_MODEL, D_MODEL)
    assert [n.times for n in trace(encoder, (ids,), 1, Axes(encoder)).inside] == [1, 1, 1, 1, 1]


def test_looking_deeper_finds_what_is_inside(translator):
    ids = torch.randint(23, (1, SEQ)), torch.randint(23, (1, TGT))
    flat = trace(translator, ids, 1, Axes(translator)).inside
    assert [n.label for n in flat] == ["src_ids", "tgt_ids", "encoder", "decoder", "lm_head"]
    assert not any(n.inside for n in flat)
    deep = trace(translator, ids, 3, Axes(translator)).inside
    layer = deep[3].inside[3]
    assert (layer.label, layer.times, layer.inside[1].label) == ("decoder.layers.0", 3, "memory")
    assert deep[3].inside[1].shape == (1, SEQ, D_MODEL)


def test_the_model_is_left_as_it_was(hidden):
    layer = TransformerEncoderLayer(config(dropout=0.5)).train()
    layer.feed_forward.eval()
    state = torch.get_rng_state()
    flow(layer, hidden)
    assert layer.training
    assert not layer.feed_forward.training
    assert torch.equal(torch.get_rng_state(), state)
    assert not any(m._forward_hooks or m._forward_pre_hooks for m in layer.modules())


def boxes(plan, x=0.0, y=0.0):
    """The corners of all boxes that have no others inside, where they stand on the page."""
    for box in plan.boxes:
        if box.plan:
            yield from boxes(box.plan, x + box.x, y + box.y + 25)
        elif box.height:
            left, top = x + box.x - box.left, y + box.y
            yield left, top, left + box.left + box.right, top + box.height


def test_no_box_lies_on_another(subtests):
    for depth, changes in product(
        [1, 2, 3, 4, 5], [{}, {"norm_first": True, "gated": True, "norm": "rms"}]
    ):
        with subtests.test(depth=depth, changes=changes):
            model = Transformer(config(**changes, decoder=config(**changes, cross_attention=True)))
            ids = torch.randint(23, (1, SEQ)), torch.randint(23, (1, TGT))
            plan = lay_out(trace(model, ids, depth, Axes(model)).inside)
            placed = list(boxes(plan))
            for (a, b, c, d), (e, f, g, h) in combinations(placed, 2):
                assert c <= e or g <= a or d <= f or h <= b
            assert plan.left <= min(box[0] for box in placed)
            assert plan.right >= max(box[2] for box in placed)


def test_the_picture_is_well_formed_and_told_in_words(translator):
    ids = torch.randint(23, (1, SEQ)), torch.randint(23, (1, TGT))
    view = flow(translator, *ids, depth=3, caption="a < b")
    figure = ElementTree.fromstring(view.html.replace(" data-search-exclude", ""))
    told = [item.text for item in figure.iter("li")]
    assert told == [line.strip() for line in str(view).splitlines()[1:]]
    assert "memory" in next(line for line in told if line.startswith("cross_attention of"))
    [caption] = figure.iter("figcaption")
    assert caption.text == "a < b"
    drawn = [text.text for text in figure.iter("text")]
    assert {"encoder", "decoder", "cross_attention", "lm_head"} <= set(drawn)


def test_small_words_can_be_read_on_the_bluest_box(subtests):
    for theme, paper, ink in [(LIGHT, 253, 0x1C), (DARK, 0x15, 0xE2)]:
        with subtests.test(theme=theme, paper=paper, ink=ink):
            blue = bytes.fromhex(re.search("--cell:#(......)", theme)[1])
            box = [DEEPEST * c + (1 - DEEPEST) * paper for c in blue]
            faded = float(re.search(r"\.small\{[^}]*opacity:([.\d]+)", STYLE)[1])
            assert contrast(box, [faded * ink + (1 - faded) * c for c in box]) >= 4.5


def test_as_text():
    up = nn.Sequential(nn.Linear(3, 5), nn.GELU())
    assert str(flow(up, torch.randn(2, 3))) == (
        "Sequential (20 parameters)\n"
        "  input: 2 × 3\n"
        "  0 of input (Linear, 20 parameters): 2 × 5\n"
        "  1 of 0 (GELU): 2 × 5"
    )


def test_beside(hidden):
    first, second = flow(nn.Linear(D_MODEL, 2), hidden), flow(nn.Linear(D_MODEL, 3), hidden)
    both = beside(first, second)
    assert first.html in both.html
    assert second.html in both.html
    assert str(both) == f"{first}\n\n{second}"


def test_what_cannot_be_drawn(hidden, unhooked):
    with pytest.raises(ValueError, match=r"depth \(0\) must be at least 1"):
        flow(nn.Linear(2, 2), hidden, depth=0)
    with pytest.raises(ValueError, match=r"Linear does not take inputs of shape \(1, 5, 14\)"):
        flow(nn.Linear(2, 2), hidden)
    with pytest.raises(ValueError, match="<lambda> returns nothing that was computed from"):
        flow(lambda x: torch.ones(2), hidden)
