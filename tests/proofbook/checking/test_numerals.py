"""A written number says a value if and only if the value rounds to it."""

import math
from fractions import Fraction

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from proofbook.checking.compare import says
from proofbook.checking.numerals import Numeral
from tables import table

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def written(draw):
    """A number as a page writes it; the exact number, its last place, and what else it has."""
    digits = draw(st.integers(0, 10 ** draw(st.integers(1, 20))))
    places = draw(st.integers(0, 6))
    sign = draw(st.sampled_from(["", "-", "−", "+"]))
    power = draw(st.sampled_from([None, None, *range(-12, 13)]))
    percent = power is None and draw(st.booleans())
    comma = "," if draw(st.booleans()) and power is None else ""
    whole, part = divmod(digits, 10**places)
    text = f"{sign}{whole:{comma}}"
    text += f".{part:0{places}}" if places else ""
    text += f"e{power:+03}" if power is not None else ""
    text += draw(st.sampled_from(["%", " %"])) if percent else ""
    unit = Fraction(10) ** ((power or 0) - places - (2 if percent else 0))
    return text, digits * unit * (-1 if sign in ("-", "−") else 1), unit, power is not None


@st.composite
def texts_and_floats(draw):
    text, number, unit, is_scientific = draw(written())
    steps = draw(st.sampled_from([0, 1, 2, 3, 4, -1, -2, -3, -4]))
    value = float(number + unit * Fraction(steps, 4))
    for _ in range(draw(st.integers(0, 2))):  # to either side of where rounding turns
        value = math.nextafter(value, draw(st.sampled_from([math.inf, -math.inf])))
    return text, number, unit, is_scientific, draw(st.one_of(st.just(value), FINITE))


def rounds_to(value, number, unit, is_scientific):
    """As scientific numbers, those below a power of ten are ten times as close together."""
    is_power = is_scientific and str(abs(number / unit)).rstrip("0") == "1"
    closer = is_power and abs(value) < abs(number)
    return abs(number - value) <= unit / (20 if closer else 2)


@given(texts_and_floats())
def test_a_float_is_said_where_it_rounds_to_the_text(given_):
    text, number, unit, is_scientific, value = given_
    exact = Fraction(value), Fraction(repr(value))
    rounds = any(rounds_to(one, number, unit, is_scientific) for one in exact)
    if number == 0 and is_scientific:
        rounds = value == 0
    if number == 0 and text[0] in "-−+":
        rounds &= (math.copysign(1, value) < 0) == (text[0] != "+")
    assert says(text, value) == rounds


@given(written(), st.integers(-3, 3), st.integers(0, 3))
def test_a_whole_number_is_rounded_where_it_is_scientific_only(given_, quarters, off):
    text, number, unit, is_scientific = given_
    value = int(number + unit * Fraction(quarters, 4)) + off
    expected = number == value
    if is_scientific and unit > 1 and number:
        expected = rounds_to(Fraction(value), number, unit, is_scientific)
    if number == 0 and text[0] in "-−":
        expected = False
    assert says(text, value) == expected


@given(FINITE, st.integers(0, 12), st.sampled_from("fe"))
def test_what_python_writes_says_the_value(value, places, kind):
    assert says(repr(value), value)
    assume(abs(value) < 1e200)  # so that %f writes no more characters than a numeral may have
    assert says(f"{value:.{places}{kind}}", value)


@table(
    ("text", "value"),
    [("0.1", 0.1), ("0.3", 0.1 + 0.2), ("0.30000000000000004", 0.1 + 0.2), ("0.13", 0.125),
     ("0.12", 0.125), ("0.2", 0.15), ("0.1", 0.15), ("−0.0", -0.04), ("-0.0", -0.0),
     ("0.0", -0.04), ("0.0", 0.04), ("0", 0), ("0.00", 0), ("1e3", 1000), ("1.2e3", 1249),
     ("1e3", 1400), ("1e3", 951), ("1.0e3", 996),
     ("0.1000000000000000055511", 0.1), ("100%", 1), ("5e-324", 5e-324)],
)  # fmt: skip
def test_it_says_so(text, value):
    assert says(text, value)


@table(
    ("text", "value"),
    [("0.2", 0.15 - 1e-13), ("0.13", 0.125 - 1e-14), ("1000000", 1000000.5 + 1e-6),
     ("-0.0", 0.04), ("−0.0", 0.0), ("-0", 0), ("+0.0", -0.04), ("0e9", 3), ("0e9", 0.3),
     ("0.1000000000000000066611", 0.1), ("1e-400", 0.0), ("1e999", math.inf),
     ("1.2e3", 1251),
     ("1e3", 949), ("1e-3", 0.0006), ("1.0e3", 994), ("5.5", 5)],
)  # fmt: skip
def test_it_does_not_say_so(text, value):
    assert not says(text, value)


@pytest.mark.timeout(60)  # a naive power would take hours
@table("text", [
    "1e999999999999999999999", "1e-999999999999999999999", "9" * 5000, f"1e{'9' * 900}",
    f"0.{'0' * 5000}1", f"{'9' * 900}e-{'9' * 90}", "0e999999999", "[" * 5000,
])  # fmt: skip
@table("value", [5, 0.5, 10**3000, [5], True, "5"])
def test_no_number_takes_long_or_breaks_anything(text, value):
    assert not says(text, value)


def test_what_is_no_number_is_none():
    for text in ("", "-", ".", "e5", "1,2", "1.2.3", "12,34", "1e", "%", "5 of them", "0x10"):
        assert Numeral.read(text) is None
