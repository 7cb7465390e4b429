"""Errors that an author could make are planted one at a time; all else stays as it is."""

import ast

import pytest

from proofbook.checking.code_mutations import mutations_of
from proofbook.model import Block
from tables import table


def wrong(code):
    """What is planted in a block: kind and code of each."""
    return [(one.kind, one.code) for one in mutations_of(0, Block("python", code, line=1))]


@table(
    ("code", "kind", "other"),
    [
        ("a @ b", "operands transposed", "a.mT @ b"),
        ("a @ b", "operands transposed", "a @ b.mT"),
        ("torch.tensor([3, 5])", "reversed order", "torch.tensor([3, 5]).flip(0)"),
        ("torch.randn(3)", "the opposite", "torch.rand(3)"),
        ("a @ b", "operands swapped", "b @ a"),
        ("a @ b.mT", "operands transposed", "a @ b"),
        ("x.softmax(dim=-1)", "another axis", "x.softmax(dim=-2)"),
        ("x.sum(-1)", "another axis", "x.sum(-2)"),
        ("x.mean(0)", "another axis", "x.mean(1)"),
        ("torch.tril(x)", "shifted mask", "torch.tril(x, diagonal=1)"),
        ("torch.triu(x, diagonal=1)", "shifted mask", "torch.triu(x, diagonal=2)"),
        ("i <= j", "another comparison", "i < j"),
        ("x[:, 3]", "another index", "x[:, 2]"),
        ("x[0]", "another index", "x[-1]"),
        ("x[-1]", "another index", "x[0]"),
        ("x[:, head]", "another index", "x[:, head - 1]"),
        ("f(q, k, v)", "operands swapped", "f(k, q, v)"),
        ("x.argmax(-1)", "the opposite", "x.argmin(-1)"),
        ("a / b", "another operator", "a * b"),
    ],
)
def test_a_slip_of_each_kind_is_planted(code, kind, other):
    assert (kind, other) in wrong(code)


def test_a_loaded_model_gets_random_weights():
    torch = pytest.importorskip("torch")
    (code,) = [code for kind, code in wrong("model = load(path)") if kind == "random weights"]
    names = {"load": lambda path: torch.nn.Linear(3, 5), "path": ""}
    exec(code, names)
    assert isinstance(names["model"], torch.nn.Linear)
    assert 0 < names["model"].weight.std() < 0.05


def test_one_error_at_a_time():
    code = "a = x[1] @ y\nb = a.sum(-1)\n"
    parsed = ast.unparse(ast.parse(code)).split("\n")
    for one in mutations_of(0, Block("python", code, line=1)):
        lines = one.code.split("\n")
        assert [n for n, (a, b) in enumerate(zip(parsed, lines, strict=True)) if a != b] == [
            one.statement
        ]


def test_a_doctest_is_left_alone():
    assert list(mutations_of(0, Block("pycon", ">>> a @ b", line=1))) == []
