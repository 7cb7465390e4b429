"""Words of numbers are read as English has them, and words that make no number are not."""

import itertools

import pytest
from english_numbers import NUMBERS, SMALL, TENS, wordings
from hypothesis import given
from hypothesis import strategies as st

from proofbook.parsing.number_words import number_from_words, words_from_number
from tables import table

VOCABULARY = ["zero", *SMALL, *TENS, "hundred", "thousand", "million", "billion", "and", "a"]


def summed(words: list[str]) -> int:
    """Add up what words are worth, as if they made a number."""
    total = group = 0
    for word in words:
        if word in SMALL:
            group += SMALL.index(word) + 1
        elif word in TENS:
            group += 10 * TENS.index(word) + 20
        elif word == "hundred":
            group *= 100
        elif word in ("thousand", "million", "billion"):
            total += group * 1000 ** (1 + ["thousand", "million", "billion"].index(word))
            group = 0
    return total + group


@given(NUMBERS, st.data())
def test_every_wording_of_a_number_is_read_as_it(number, data):
    words = data.draw(st.sampled_from(sorted(wordings(number))))
    separators = data.draw(st.lists(st.sampled_from([" ", "-", "\n"]), min_size=40, max_size=40))
    text = "".join(itertools.chain(*zip(words.split(), separators, strict=False)))[:-1]
    cased = data.draw(st.sampled_from([text, text.capitalize(), text.upper()]))
    assert number_from_words(cased) == number


@st.composite
def nearly_numbers(draw):
    """Words of a number, of which some are swapped, dropped or put in."""
    words = draw(st.sampled_from(sorted(wordings(draw(NUMBERS))))).split()
    for _ in range(draw(st.integers(1, 3))):
        at = draw(st.integers(0, len(words)))
        new = draw(st.lists(st.sampled_from(VOCABULARY), max_size=1))
        words[at : at + draw(st.integers(0, 1))] = new
    return words


@given(st.one_of(st.lists(st.sampled_from(VOCABULARY), min_size=1, max_size=7), nearly_numbers()))
def test_words_are_read_if_and_only_if_they_are_a_wording(words):
    said = " ".join(words)
    number = summed(words)
    expected = number if number < 10**12 and said in wordings(number) else None
    assert number_from_words(said) == expected


@table("length", [1, 2])
def test_no_two_words_make_a_number_that_english_does_not_know(length):
    for words in itertools.product(VOCABULARY, repeat=length):
        said, number = " ".join(words), summed(list(words))
        assert number_from_words(said) == (number if said in wordings(number) else None), said


@table(
    "text",
    ["ten one", "five six", "twenty eleven", "hundred hundred", "one thousand million", "a hundred",
     "two hundred and", "and five", "-five", "five-", "twenty--one", "zero five", "one zero",
     "one thousand and two hundred", "five, six", "fivé", ""],
)  # fmt: skip
def test_what_names_no_number(text):
    assert number_from_words(text) is None


def test_words_and_numbers_are_inverse():
    assert all(number_from_words(words_from_number(number)) == number for number in range(1000))


def test_words_have_an_end():
    with pytest.raises(ValueError, match="no number words for 1000"):
        words_from_number(1000)
