"""What stands apart from a number and changes it is seen, whole kinds at a time."""

import pytest
from english_numbers import NUMBERS, ordinal, wordings
from hypothesis import given
from hypothesis import strategies as st

from proofbook.parsing.factors import is_multiplied
from proofbook.parsing.number_words import number_from_words
from proofbook.parsing.readings import EDGE

SCALES = [
    *("hundred", "thousand", "million", "billion", "trillion", "quadrillion", "milliard", "dozen"),
    *("score", "lakh", "crore", "mio", "mill", "mln", "mrd"),
]
TIMES = ["×", "·", "⋅", "*", "x", "X", "times", "multiplied by", "✕"]
POWERS = ["10⁶", "10^6", "10**6", "2¹⁰", "ten to the sixth", "10 to the 6", "1000", "1,000,000"]
POWERS += ["a million", "ten thousand", "10 million", f"{EDGE}10{EDGE}^6"]


@given(
    st.sampled_from(SCALES),
    st.sampled_from([str.lower, str.title, str.upper]),
    st.sampled_from([" {}", "-{}", " ({})", "—{}—", " “{}”", " {}s of", "\u00a0{}", " {}."]),
)
def test_a_scale_is_seen_in_any_dress(scale, cased, frame):
    assert is_multiplied("", "5", frame.format(cased(scale)))


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("power", POWERS)
def test_a_power_beside_a_number_is_seen(times, power):
    assert is_multiplied("", "5", f" {times} {power}")


@pytest.mark.parametrize("times", TIMES)
@pytest.mark.parametrize("power", ["10⁶", "10^6", "10**6", "1,000", "a million", "1/2"])
def test_a_power_before_a_number_is_seen(times, power):
    assert is_multiplied(f"It is {power} {times} ", "5", "")


@pytest.mark.parametrize("times", TIMES)
def test_a_number_with_a_claim_of_its_own_is_another_number(times):
    assert not is_multiplied("", "5", f" {times} {EDGE}64{EDGE}")
    assert not is_multiplied(f"{EDGE}64{EDGE} {times} ", "5", "")


@pytest.mark.parametrize("over", ["/", "÷", "⁄", "∕", "divided by"])
def test_a_fraction_is_seen_unless_both_sides_have_claims(over):
    assert is_multiplied("", "5", f" {over} 7")
    assert is_multiplied(f"1 {over} ", "5", "")
    assert not is_multiplied("", "5", f" {over} {EDGE}7{EDGE}")
    assert not is_multiplied(f"{EDGE}7{EDGE} {over} ", "5", "")


@given(NUMBERS.filter(lambda number: number > 20), st.data())
def test_an_ordinal_that_begins_within_a_claim_is_seen(number, data):
    words = data.draw(st.sampled_from(sorted(wordings(number)))).split()
    ends = [at for at in range(1, len(words)) if number_from_words(" ".join(words[:at]))]
    if not ends:
        return
    at = data.draw(st.sampled_from(ends))
    rest = ordinal(" ".join(words[at:]))
    blank = data.draw(st.sampled_from([" ", "-"]))
    assert is_multiplied("the ", " ".join(words[:at]), f"{blank}{rest} head")


@given(st.sampled_from(["one", "1", "five", "12", "twenty"]), NUMBERS, st.data())
def test_a_denominator_is_seen(text, number, data):
    if number < 3:
        return
    said = ordinal(data.draw(st.sampled_from(sorted(wordings(number)))))
    assert is_multiplied("", text, f" {said}s of it")
    assert is_multiplied("", text, f"-{said.replace(' ', '-')} of it")
    if text in ("one", "1"):
        assert is_multiplied("", text, f" {said} of it")


@pytest.mark.parametrize("text", ["one", "five", "twenty", "5", "two hundred"])
@pytest.mark.parametrize("after", [" seconds", "-word sentence", " heads", " tokens / second", "."])
def test_seconds_are_a_unit(text, after):
    assert not is_multiplied("", text, after)


@pytest.mark.parametrize(
    "after", [" first rows", " second rows", " fourth graders", " to the next"]
)
def test_an_ordinal_of_what_is_counted_is_none_of_the_number(after):
    assert not is_multiplied("the ", "two", after)


@pytest.mark.parametrize("word", ["point", "dot", "comma"])
@pytest.mark.parametrize("digit", ["5", "five", "oh five", "zero"])
def test_a_decimal_in_words_is_seen(word, digit):
    assert is_multiplied("", "five", f" {word} {digit}")
    assert is_multiplied(f"It is zero {word} ", "5", "")
