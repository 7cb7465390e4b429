"""What a trace makes of modules that are called in unusual ways."""

import pytest
import torch
from torch import nn

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


def test_a_tensor_that_is_given_twice_is_one_input(hidden):
    def attend(query, key):
        return query @ key.mT

    assert steps(attend, hidden, hidden) == [("query",), ("MatMul", "query")]


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


def test_what_is_given_by_name_is_taken_too(hidden):
    def add(x, y):
        return torch.add(x, other=y)

    assert steps(add, hidden, hidden + 1) == [("x",), ("y",), ("+", "x", "y")]


def test_scores_that_are_filled_are_a_step_and_a_mask_that_is_filled_is_one_mask(hidden):
    mask = torch.tensor([[True, False, False]] * 2)

    def fill(scores, mask):
        return scores.masked_fill(mask, -1e9)

    def add(scores, mask):
        return scores + torch.zeros(2, 3).masked_fill(mask, -1e9)

    inputs = [("scores",), ("mask",)]
    assert steps(fill, hidden, mask) == [*inputs, ("masked fill", "scores", "mask")]
    assert steps(add, hidden, mask) == [*inputs, ("+", "scores", "mask")]


def test_a_mask_that_hides_nothing_is_no_step(hidden):
    def fill(scores, mask):
        return scores.masked_fill(mask, -1e9) * 2.0

    nothing = torch.zeros(2, 3, dtype=torch.bool)
    assert steps(fill, hidden, nothing) == [("scores",), ("× 2", "scores")]


def test_a_sum_of_two_is_a_step_even_where_one_is_zero(hidden):
    def add(x, y):
        return x + y

    assert steps(add, hidden, torch.zeros(2, 3)) == [("x",), ("y",), ("+", "x", "y")]


def test_what_stands_left_of_a_sign_may_be_made_of_nothing(hidden):
    assert steps(lambda x: torch.arange(3.0) * x, hidden) == [("x",), ("×", "x")]
    assert steps(lambda x: 3.0 - x, hidden) == [("x",), ("− 3", "x")]


def divide_by(number):
    return lambda x: x / number


def test_a_root_is_written_as_one(hidden, subtests):
    rows = [
        (32**0.5, "÷ √32"),
        (7.0, "÷ 7"),
        (8, "÷ 8"),
        (2.5, "÷ 2.5"),
        (-(32**0.5), "÷ -5.65685"),
        (1e-12, "÷ 1e-12"),
    ]
    for number, label in rows:
        with subtests.test(number=number, label=label):
            assert steps(divide_by(number), hidden)[1:] == [(label, "x")]


def test_an_operation_that_gives_several_tensors_has_the_shape_of_the_first(hidden):
    def split(x):
        first, rest = x.split([1, 2], dim=1)
        return first + rest

    shapes = {node.label: node.shape for node in whole(split, hidden).inside}
    assert shapes == {"x": (2, 3), "split": (2, 1), "+": (2, 2)}


def test_only_one_tensor_of_the_same_numbers_is_unchanged(hidden):
    """Sorting gives the order, too, and a sum is no longer all that it was made of."""
    assert steps(lambda x: x.sort(dim=1)[0], hidden) == [("x",), ("sort", "x")]
    assert steps(lambda x: x.sum(dim=1), hidden) == [("x",), ("sum", "x")]
    assert steps(lambda x: x.flip(1).mT.reshape(6) * 2.0, hidden) == [("x",), ("× 2", "x")]


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
