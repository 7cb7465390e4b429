"""What a trace makes of modules that are called in unusual ways."""

import pytest
import torch
from torch import nn

from glassformer.layers.attention import scaled_dot_product_attention
from glassformer.models.config import TransformerConfig
from glassformer.models.decoder import TransformerDecoderLayer
from glassformer.models.encoder import TransformerEncoderLayer
from glassformer.views.axis_words import Axes
from glassformer.views.trace import trace


def whole(model, *inputs, depth=1):
    return trace(model, inputs, depth, Axes(model))


def steps(model, *inputs, depth=1):
    """Each step with the names of what it took."""
    return told(whole(model, *inputs, depth=depth).inside)


def told(nodes):
    return [(node.label, *(nodes[i].label for i in node.sources)) for node in nodes]


@pytest.fixture
def hidden():
    return torch.randn(2, 3)


def test_a_function_holds_no_parameters(hidden):
    one = whole(lambda x: x * 2.0, hidden)
    assert (one.kind, one.parameters, one.shape) == ("<lambda>", 0, (2, 3))


def test_what_was_made_of_nothing_is_no_input_of_what_takes_it(hidden):
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)

        def forward(self, x, scale):
            return self.linear(x) * scale

    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.scaled = Scaled()

        def forward(self, x):
            return self.scaled(x, torch.arange(3.0))

    [_, scaled] = whole(Outer(), hidden, depth=2).inside
    assert told(scaled.inside) == [("x",), ("scaled.linear", "x"), ("×", "scaled.linear")]


def test_a_module_that_gives_several_tensors_has_the_shape_of_the_first():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention = nn.MultiheadAttention(6, 2, batch_first=True)

        def forward(self, x):
            return self.attention(x, x, x)[0]

    [_, attention] = whole(Outer(), torch.randn(1, 5, 6)).inside
    assert attention.shape == (1, 5, 6)  # and not (1, 5, 5) of its weights
    assert attention.parameters == 4 * (6 * 6 + 6)


class Tied(nn.Module):
    """Three tables, of which the first and the last are one."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(3, 3, bias=False)
        self.other = nn.Linear(3, 3, bias=False)
        self.last = nn.Linear(3, 3, bias=False)
        self.last.weight = self.first.weight

    def forward(self, x):
        return self.last(self.other(self.first(x)))


def test_what_an_earlier_module_holds_is_shared_and_a_copy_of_it_is_not(hidden):
    model = Tied()
    assert [step.shared for step in whole(model, hidden).inside] == [False, False, False, True]
    model.other.load_state_dict(model.first.state_dict())
    assert [step.shared for step in whole(model, hidden).inside] == [False, False, False, True]
    model.last.weight = nn.Parameter(model.first.weight.detach().clone())
    assert not any(step.shared for step in whole(model, hidden).inside)


def test_a_module_with_one_parameter_of_its_own_is_not_shared(hidden):
    model = Tied()
    model.last.bias = nn.Parameter(torch.zeros(3))
    assert not any(step.shared for step in whole(model, hidden).inside)


def test_an_operation_that_gives_several_tensors_has_the_shape_of_the_first(hidden):
    def split(x):
        first, rest = x.split([1, 2], dim=1)
        return first + rest

    shapes = {node.label: node.shape for node in whole(split, hidden).inside}
    assert shapes == {"x": (2, 3), "split": (2, 1), "+": (2, 2)}


def test_only_members_of_one_list_are_equal_layers(hidden):
    class Named(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Linear(3, 3), nn.Linear(3, 3)
            self.left = nn.ModuleList([nn.Linear(3, 3), nn.Linear(3, 3)])
            self.right = nn.ModuleList([nn.Linear(3, 3)])

        def forward(self, x):
            for layer in (self.first, self.second, *self.left, *self.right):
                x = layer(x)
            return x

    nodes = whole(Named(), hidden).inside[1:]
    assert [(node.label, node.times) for node in nodes] == [
        *(("first", 1), ("second", 1), ("left.0", 2), ("right.0", 1)),
    ]


def sequence(*steps):
    """Steps that are written `name of one, another`."""
    return [
        (name, *filter(None, sources.split(", ")))
        for name, _, sources in (s.partition(" of ") for s in steps)
    ]


class Forgetful(TransformerEncoderLayer):
    """One without its second residual."""

    def forward(self, hidden, attn_mask=None):
        hidden = self.attention_norm(hidden + self.attention(hidden))
        return self.feed_forward_norm(self.feed_forward(hidden))


class Idle(TransformerEncoderLayer):
    """One of which nobody takes what the feed-forward network gives."""

    def forward(self, hidden, attn_mask=None):
        self.feed_forward(hidden)
        return hidden + self.attention(hidden)


def test_each_step_stands_with_what_it_took_and_what_changes_nothing_is_no_step(hidden, subtests):
    small = {"vocab_size": 23, "d_model": 14, "num_heads": 2, "num_layers": 1, "d_ff": 11}
    config = TransformerConfig(**small)
    query, key, value, stream = *torch.randn(3, 1, 5, 49), torch.randn(1, 5, 14)
    crossed = TransformerDecoderLayer(TransformerConfig(**small, cross_attention=True))
    allowed, some = torch.ones(5, 5).bool().tril(), torch.tensor([[True, False, False]] * 2)
    two, scored = ("x", "y"), ("scores", "mask")
    rows = [
        (scaled_dot_product_attention, (query, key, value, allowed), (
            *("query", "key", "value", "attn_mask", "MatMul of query, key", "÷ 7 of MatMul"),
            *("+ of ÷ 7, attn_mask", "softmax of +", "MatMul of softmax, value"))),
        (scaled_dot_product_attention, tuple(torch.randn(3, 1, 5, 13)), (
            *("query", "key", "value", "MatMul of query, key", "÷ √13 of MatMul"),
            *("softmax of ÷ √13", "MatMul of softmax, value"))),
        (TransformerEncoderLayer(config), (stream,), (
            *("hidden", "attention of hidden", "+ of hidden, attention", "attention_norm of +"),
            *("feed_forward of attention_norm", "+ of attention_norm, feed_forward"),
            "feed_forward_norm of +")),
        (TransformerEncoderLayer(TransformerConfig(**small, norm_first=True)), (stream,), (
            *("hidden", "attention_norm of hidden", "attention of attention_norm"),
            *("+ of hidden, attention", "feed_forward_norm of +"),
            *("feed_forward of feed_forward_norm", "+ of +, feed_forward"))),
        (Forgetful(config), (stream,), (
            *("hidden", "attention of hidden", "+ of hidden, attention", "attention_norm of +"),
            *("feed_forward of attention_norm", "feed_forward_norm of feed_forward"))),
        (Idle(config), (stream,), ("hidden", "attention of hidden", "+ of hidden, attention")),
        (crossed, (stream, torch.randn(1, 7, 14)), (
            *("hidden", "memory", "attention of hidden", "+ of hidden, attention"),
            *("attention_norm of +", "cross_attention of attention_norm, memory"),
            *("+ of attention_norm, cross_attention", "cross_attention_norm of +"),
            *("feed_forward of cross_attention_norm", "+ of cross_attention_norm, feed_forward"),
            "feed_forward_norm of +")),
        (lambda x: (x * 1.0 / 1).transpose(0, 1).clone() * 3.0, (hidden,), ("x", "× 3 of x")),
        (lambda x: x * 1.0 * 3.0, (hidden.to("meta"),), ("x", "× 3 of x")),
        (lambda query, key: query @ key.mT, (hidden, hidden), ("query", "MatMul of query")),
        (lambda x, y: torch.add(x, other=y), (hidden, hidden + 1), (*two, "+ of x, y")),
        (lambda x, y: x + y, (hidden, torch.zeros(2, 3)), (*two, "+ of x, y")),
        (lambda scores, mask: scores.masked_fill(mask, -1e9), (hidden, some), (
            *scored, "masked fill of scores, mask")),
        (lambda scores, mask: scores + torch.zeros(2, 3).masked_fill(mask, -1e9), (hidden, some), (
            *scored, "+ of scores, mask")),
        (lambda scores, mask: scores.masked_fill(mask, -1e9) * 2.0, (hidden, some & False), (
            "scores", "× 2 of scores")),
        (lambda x: torch.arange(3.0) * x, (hidden,), ("x", "× of x")),
        (lambda x: 3.0 - x, (hidden,), ("x", "− 3 of x")),
        (lambda x: x / 32**0.5, (hidden,), ("x", "÷ √32 of x")),
        (lambda x: x / 8, (hidden,), ("x", "÷ 8 of x")),
        (lambda x: x / 2.5, (hidden,), ("x", "÷ 2.5 of x")),
        (lambda x: x / -(32**0.5), (hidden,), ("x", "÷ -5.65685 of x")),
        (lambda x: x / 1e-12, (hidden,), ("x", "÷ 1e-12 of x")),
        (lambda x: x.sort(dim=1)[0], (hidden,), ("x", "sort of x")),  # the order was given, too
        (lambda x: x.sum(dim=1), (hidden,), ("x", "sum of x")),
        (lambda x: x.flip(1).mT.reshape(6) * 2.0, (hidden,), ("x", "× 2 of x")),
    ]  # fmt: skip
    for model, inputs, expected in rows:
        with subtests.test(expected), torch.device(inputs[0].device):
            assert steps(model, *inputs) == sequence(*expected)
