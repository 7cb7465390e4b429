"""What a claim's expression reads, and what its value becomes."""

import random

import numpy as np
import pytest
import torch

from proofbook.execution.expressions import Expression, as_data, randomness_kept, word
from tables import table


@table(
    ("text", "free"),
    [
        ("a.b[c](d, key=e)", ["a", "c", "d", "e"]),
        ("[x for x in y]", ["y"]),
        ("[x for x in x]", ["x"]),
        ("(lambda p, q=r: p + q + s)", ["r", "s"]),
        ("{k: v + w for k, v in z.items() if u}", ["u", "w", "z"]),
        ("[(m := n), m]", ["n"]),
        ("len(t) + word(h, 'a', 'b')", ["h", "t"]),
        ("f'{i:.{j}f}'", ["i", "j"]),
        ("word", ["word"]),
    ],
)
def test_free_names(text, free):
    assert Expression(text).missing({}) == free
    assert Expression(text).missing(dict.fromkeys(free)) == []


def test_it_is_constant_unless_it_reads_what_the_page_made():
    assert Expression("len('ab')").is_constant({"x"})
    assert not Expression("len('ab') + x").is_constant({"x"})
    assert not Expression("sum").is_constant({"sum"})  # a builtin that the page has replaced


def test_word_is_the_helper_where_it_is_called_and_the_page_s_own_where_it_is_not():
    names = {"word": "cat", "n": 2}
    assert Expression("word(n == 2, 'two', 'many')").value(names) == "two"
    assert Expression("word[0]").value(names) == "c"
    assert word([], "full", "empty") == "empty"


@table("text", ["x +", "x = 1", "import os", "x; y"])
def test_what_is_not_one_expression_is_refused(text):
    with pytest.raises(SyntaxError, match="invalid syntax"):
        Expression(text)


class _Odd:
    def __repr__(self):
        return "odd"


@table(
    ("value", "data"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (0.1, 0.1),
        ("a", "a"),
        ((1, (2, [3])), [1, [2, [3]]]),
        (torch.Size([2, 3]), [2, 3]),
        (torch.tensor([[1.5, -2.0]]), [[1.5, -2.0]]),
        (torch.tensor(7), 7),
        (torch.tensor([True]), [True]),
        (torch.ones(2, requires_grad=True), [1.0, 1.0]),
        (torch.tensor([0.5], dtype=torch.bfloat16), [0.5]),
        (np.float32(0.5), 0.5),
        (np.float64(0.5), 0.5),
        (np.int64(5), 5),
        (np.bool_(False), False),
        (np.arange(3), [0, 1, 2]),
        (torch.zeros(3, device="meta"), repr(torch.zeros(3, device="meta"))),
        ({"a": 1}, "{'a': 1}"),
        ({3}, "{3}"),
        (torch.float32, "torch.float32"),
        (2j, "2j"),
        ([1, _Odd()], "[1, odd]"),
        (int, "<class 'int'>"),
    ],
)
def test_values_become_json_data_or_their_repr(value, data):
    converted = as_data(value)
    assert converted == data
    assert type(converted) is type(data)


def test_a_large_tensor_is_its_repr_and_a_list_that_holds_itself_too():
    assert as_data(torch.zeros(10_000)) == [0.0] * 10_000
    assert as_data(torch.zeros(10_001)) == repr(torch.zeros(10_001))
    assert as_data([0] * 10_001) == repr([0] * 10_001)
    loop: list = []
    loop.append(loop)
    assert as_data(loop) == "[[...]]"


def test_random_generators_are_put_back_even_after_an_error():
    def draw():
        return random.random(), np.random.rand(), torch.rand(1).item()

    random.seed(7), np.random.seed(7), torch.manual_seed(7)
    expected = draw()
    random.seed(7), np.random.seed(7), torch.manual_seed(7)
    with pytest.raises(ZeroDivisionError, match="division"), randomness_kept():
        draw()[0] / 0
    assert draw() == expected
