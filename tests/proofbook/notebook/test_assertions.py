"""A claim's assertion is plain Python that holds where the claim does, and fails where it fails."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofbook.checking.compare import says
from proofbook.execution.expressions import as_data
from proofbook.model import Claim, Run, Value
from proofbook.notebook.assertions import asserts, equality, without_word


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


@pytest.mark.parametrize(
    ("expression", "text", "line", "wrong"),
    [
        ("n", "seven", "assert n == 7", "n=8"),
        ("n", "7", "assert n == 7", "n=8"),
        ("big", "30,522", "assert big == 30522", "big=30521"),
        ("n if yes else 1", "7", "assert (n if yes else 1) == 7", "n=8"),
        ("n + 1", "8", "assert n + 1 == 8", "n=8"),
        ("x", "0.71", 'assert f"{x:.2f}" == "0.71"', "x=0.72"),
        ("t", "0.715", 'assert f"{t:.3f}" == "0.715"', "t=Tensor(0.72)"),
        ("minus", "−0.71", 'assert f"{minus:.2f}" == "-0.71"', "minus=0.71"),
        ("d['a']", "0.50", "assert f\"{d['a']:.2f}\" == \"0.50\"", "d={'a': 0.51}"),
        ('d["a"]', "0.5", 'assert format(d["a"], ".1f") == "0.5"', "d={'a': 0.41}"),
        ("big + 0.25", "30,522.2", 'assert f"{big + 0.25:,.1f}" == "30,522.2"', "big=30521"),
        ("small", "1.2e-6", 'assert f"{small:.1e}" == "1.2e-06"', "small=1.3e-6"),
        ("large", "1.2e6", 'assert f"{large:.1e}" == "1.2e+06"', "large=1.3e6"),
        ("share", "94%", 'assert f"{share:.0%}" == "94%"', "share=0.95"),
        ("share", "94 %", 'assert f"{share:.0%}" == "94%"', "share=0.95"),
        ("share * 0 - 0.04", "−0.0", 'assert f"{share * 0 - 0.04:.1f}" == "-0.0"', "share=1e400"),
        ("zero", "0.0e3", "assert abs(zero) <= 0", "zero=1e-9"),
        ("large", "1.2e6", 'assert f"{large:.1e}" == "1.2e+06"', "large=1250001"),
        ("huge", "1e30", "assert 950000000000000000000000000000 <= huge"
         " <= 1500000000000000000000000000000", "huge=10**31"),
        ("tie", "0.13", "assert 0.125 <= tie <= 0.135", "tie=0.1249"),
        ("x * -0.0", "0.0", "assert abs(x * -0.0) <= 0.05", "x=float('inf')"),
        ("x * 0 + 7", "seven", "assert x * 0 + 7 == 7", "x=float('inf')"),
        ("inf", "inf", 'assert inf == float("inf")', "inf=1.0"),
        ("nan", "NaN", "assert nan != nan", "nan=1.0"),
        ("none", "None", "assert none is None", "none=0"),
        ("yes", "True", "assert yes", "yes=False"),
        ("n > 9 or n < 0", "False", "assert not (n > 9 or n < 0)", "n=10"),
        ("name", "time", 'assert str(name) == "time"', "name='flies'"),
        ("f'{x:.1f} of it'", "0.7 of it", "assert f'{x:.1f} of it' == \"0.7 of it\"", "x=0.8"),
        ("name.upper()", "TIME", 'assert name.upper() == "TIME"', "name='a'"),
        ("kind", "lib.float32", 'assert str(kind) == "lib.float32"', "kind=1"),
        ("list(shape)", "[1, 5, 5]", "assert list(shape) == [1, 5, 5]", "shape=(1, 5)"),
        ("shape", "1 × 5 × 5", "assert list(shape) == [1, 5, 5]", "shape=(1, 5)"),
        ("rows[1]", "[3, 5]", "assert list(rows[1]) == [3, 5]", "rows=Tensor([[1], [3, 4]])"),
        ("rows", "[[1, 2], [3, 5]]", "assert [list(row) for row in rows] == [[1, 2], [3, 5]]",
         "rows=Tensor([[1, 2], [5, 3]])"),
        ("weights", "[0.25, 0.50]",
         'assert [f"{item:.2f}" for item in weights] == ["0.25", "0.50"]',
         "weights=Tensor([0.25, 0.6])"),
        ("grid", "[[0.2, 0.5], [1.0, 0.8]]",
         'assert [[f"{item:.1f}" for item in row] for row in grid]'
         ' == [["0.2", "0.5"], ["1.0", "0.8"]]',
         "grid=[[0.2, 0.5], [1.0, 0.9]]"),
        ("tokens", "['an', 'arrow']", 'assert [str(item) for item in tokens] == ["an", "arrow"]',
         "tokens=['an']"),
        ("word(n == 7, 'all', 'not all')", "all", "assert n == 7", "n=8"),
        ("word(n == 8, 'all', 'not all')", "not all", "assert not (n == 8)", "n=8"),
        ("word(not yes, 'a', 'b')", "b", "assert not (not yes)", "yes=False"),
        ("word(if_false='a', if_true='b', condition=yes)", "b", "assert yes", "yes=False"),
        ("word(yes, 'no', 'a') + ' more'", "no more",
         "assert ('no' if yes else 'a') + ' more' == \"no more\"", "yes=False"),
        ("word(yes, name, 'a')", "time", "assert str(name if yes else 'a') == \"time\"", "yes=0"),
    ],
)  # fmt: skip
def test_what_the_text_says_is_asserted(expression, text, line, wrong):
    value = eval(without_word(expression), dict(NAMES))
    assert says(text.replace("NaN", "nan"), as_data(value))
    assert equality(expression, text, as_data(value)) == line
    exec(line, dict(NAMES))
    with pytest.raises(AssertionError):
        exec(line, NAMES | eval(f"dict({wrong})", {"Tensor": Tensor}))


@pytest.mark.parametrize(
    ("expression", "text", "value"),
    [
        ("a", "[[[1]]]", [[[1]]]),
        ("a", "[0.5, 0.25]", [0.5, 0.25]),
        ("a", "[0.5, x]", [0.5, "x"]),
        ("a", "[5%, 6%]", [0.05, 0.06]),
        ("a", "[5.0e-3, 1.0e-9]", [0.005, 1e-9]),
        ("a", "[five, six]", [5.0, 6.0]),
    ],
)
def test_what_no_plain_line_can_assert_is_said(expression, text, value):
    assert equality(expression, text, value) == f"# not checked here: a is {text}"


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


NUMBERS = st.one_of(
    st.integers(-(10**7), 10**7),
    st.floats(-1e7, 1e7),
    st.floats(-2, 2),
    st.sampled_from([0, 0.0, -0.0]),
)


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
    quarters = abs(near) / unit * (100 if kind == "%" else 1) % 1
    assume(abs(quarters - 0.5) > 1e-6)  # says takes either, format one
    assert passes(line, near) == says(text, near), (line, near)


@given(st.integers(-999, 999), st.integers(1, 4), st.integers(-1, 1), st.sampled_from("fe"))
def test_what_lies_half_way_is_asserted_as_it_is_compared(digits, places, side, kind):
    value = (digits + 0.5) / 2**places
    text = as_written(math.nextafter(value, value + side), places - 1, kind, "")
    if says(text, value):
        assert passes(equality("x", text, value), value)


@given(st.lists(st.floats(-99, 99), min_size=1, max_size=4), st.integers(0, 3), st.data())
def test_a_list_is_asserted_as_it_is_compared(values, places, data):
    text = f"[{', '.join(f'{value:.{places}f}' for value in values)}]"
    assume(says(text, values))
    line = equality("x", text, values)
    assume(not line.startswith("#"))  # zeros of both signs
    assert passes(line, values)
    other = [value + data.draw(st.sampled_from([0, 0, 1, -1])) for value in values]
    assume(all(abs(abs(value) * 10**places % 1 - 0.5) > 1e-6 for value in other))
    assert passes(line, other) == says(text, other)
