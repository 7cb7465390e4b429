"""A claim's assertion is plain Python that holds where the claim does, and fails where it fails."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofbook.checking.compare import says
from proofbook.execution.expressions import as_data
from proofbook.model import Claim, Run, Value
from proofbook.notebook.assertions import WORD, asserts, equality
from tables import table


class Tensor:
    """What tensors do that lists do not: items are wrapped, and compare one by one."""

    def __init__(self, value):
        self.value = value

    def __getitem__(self, index):
        return Tensor(self.value[index])

    def __iter__(self):
        return map(Tensor, self.value)

    def __eq__(self, other):
        if isinstance(self.value, list):
            raise ValueError("the truth of several values is ambiguous")
        return self.value == other

    def __format__(self, spec):
        return format(self.value, spec)

    def __bool__(self):
        return bool(self.value)

    def tolist(self):
        return self.value


class Dtype:
    def __repr__(self):
        return "lib.float32"


NAMES = {
    "n": 7, "x": 0.7149, "t": Tensor(0.7149), "name": "time", "none": None, "yes": True,
    "shape": (1, 5, 5), "rows": Tensor([[1, 2], [3, 5]]), "many": [0.2, 0.5], "d": {"a": 0.5},
    "weights": Tensor([0.246, 0.5]), "tokens": ("an", "arrow"), "small": 1.23e-6, "kind": Dtype(),
    "inf": float("inf"), "nan": float("nan"), "big": 30522, "share": 0.9449, "tie": 0.125,
    "grid": [[0.25, 0.5], [1.0, 0.75]], "minus": -0.7149, "large": 1234567,
    "zero": 0.0, "huge": 10**30,
}  # fmt: skip


@table(
    ("expression", "text", "line", "wrong"),
    [
        ("n", "seven", "assert n == 7", "n=8"),
        ("big", "30,522", "assert big == 30522", "big=30521"),
        ("n if yes else 1", "7", "assert (n if yes else 1) == 7", "n=8"),
        ("n + 1", "8", "assert n + 1 == 8", "n=8"),
        ("x", "0.71", "assert 0.705 <= x <= 0.715", "x=0.72"),
        ("minus", "−0.71", "assert -0.715 <= minus <= -0.705", "minus=0.71"),
        ("d['a']", "0.50", "assert 0.495 <= d['a'] <= 0.505", "d={'a': 0.51}"),
        ("small", "1.2e-6", "assert 1.15e-06 <= small <= 1.25e-06", "small=1.3e-6"),
        ("large", "1.2e6", "assert 1150000 <= large <= 1250000", "large=1250001"),
        ("share", "94%", "assert 0.935 <= share <= 0.945", "share=0.95"),
        ("zero", "0.0e3", "assert zero == 0", "zero=1e-9"),
        ("x * 0 + 7", "seven", "assert x * 0 + 7 == 7", "x=float('inf')"),
        ("inf", "inf", 'assert str(float(inf)) == "inf"', "inf=1.0"),
        ("nan", "NaN", 'assert str(float(nan)) == "nan"', "nan=1.0"),
        ("none", "None", "assert none is None", "none=0"),
        ("yes", "True", "assert yes", "yes=False"),
        ("n > 9 or n < 0", "False", "assert not (n > 9 or n < 0)", "n=10"),
        ("name", "time", 'assert str(name) == "time"', "name='flies'"),
        ("kind", "lib.float32", 'assert str(kind) == "lib.float32"', "kind=1"),
        ("shape", "1 × 5 × 5", "assert [*shape] == [1, 5, 5]", "shape=(1, 5)"),
        ("rows[1]", "[3, 5]", "assert [*rows[1]] == [3, 5]", "rows=Tensor([[1], [3, 4]])"),
        ("rows", "[[1, 2], [3, 5]]", "assert [[*row] for row in rows] == [[1, 2], [3, 5]]",
         "rows=Tensor([[1, 2], [5, 3]])"),
        ("many", "[0.20, 0.50]", "assert all(abs(one - other) <= 0.00501 for one, other in"
         " zip(many, [0.2, 0.5], strict=True))", "many=[0.2, 0.51]"),
        ("tokens", "['an', 'arrow']", 'assert [*tokens] == ["an", "arrow"]', "tokens=['an']"),
        ("word(n == 8, 'all', 'not all')", "not all",
         "assert str(word(n == 8, 'all', 'not all')) == \"not all\"", "n=8"),
    ],
)  # fmt: skip
def test_what_the_text_says_is_asserted(expression, text, line, wrong):
    names = dict(NAMES)
    exec(WORD, names)
    value = eval(expression, names)
    assert says(text.replace("NaN", "nan"), as_data(value))
    assert equality(expression, text, as_data(value)) == line
    exec(line, names)
    with pytest.raises(AssertionError):
        exec(line, names | eval(f"dict({wrong})", {"Tensor": Tensor}))


@table(
    ("text", "value"),
    [("[[[1]]]", [[[1]]]), ("[0.5, 0.25]", [0.5, 0.25]), ("[0.5, x]", [0.5, "x"]),
     ("[[0.2], [0.5]]", [[0.2], [0.5]]), ("[five, six]", [5.0, 6.0])],
)  # fmt: skip
def test_what_no_plain_line_can_assert_is_said(text, value):
    assert equality("a", text, value) == f"# not checked here: a is {text}"


def test_a_claim_is_asserted_where_it_was_checked():
    claim = Claim("three", 1, 2, equals="n", holds="n < m")
    run = Run((), {("n", 2): Value(3, after=2), ("n < m", 2): Value(True, after=4)})
    assert list(asserts(claim, run)) == [(2, "assert n == 3"), (4, "assert n < m")]


def test_of_what_is_filled_in_the_bound_is_asserted_and_the_value_told():
    claim = Claim("", 1, 0, holds="x > 0.9", value="f'{x:.0%}'")
    run = Run((), {("x > 0.9", 0): Value(True, 1), ("f'{x:.0%}'", 0): Value("98%", 1)})
    assert list(asserts(claim, run)) == [(1, "assert x > 0.9  # the page says 98%")]


def passes(line: str, value: object) -> bool:
    try:
        exec(line, {"x": value})
    except AssertionError:
        return False
    return True


def as_written(value: float, places: int, kind: str, sign: str) -> str:
    return f"{value:{sign}.{places}{kind}}".replace("-", "−" if kind == "f" else "-")


NUMBERS = st.one_of(st.integers(-(10**7), 10**7), st.floats(-1e7, 1e7), st.floats(-2, 2))


@given(
    NUMBERS, st.integers(0, 5), st.sampled_from("fe%"), st.sampled_from(["", "+", ","]), st.data()
)
def test_a_number_is_asserted_as_it_is_compared(value, places, kind, sign, data):
    text = as_written(value, places, kind, sign)
    assume(says(text, value))
    line = equality("x", text, value)
    assert passes(line, value)
    unit = 10.0 ** (math.floor(math.log10(abs(value) or 1)) - places if kind == "e" else -places)
    assume(unit > 1e-300)
    off = data.draw(st.sampled_from([0.0, 0.3, 0.45, 0.55, 0.7, 1, 3]))
    near = type(value)(value + data.draw(st.sampled_from([1, -1])) * off * unit)
    assume(near != 0)
    assert passes(line, near) == says(text, near), (line, near)
