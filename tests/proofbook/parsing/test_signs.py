"""A minus before a number is its sign unless something stands there to take the number from."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofbook.parsing.readings import BEGIN, EDGE, END
from proofbook.parsing.signs import is_related, is_signed

SAID = st.one_of(
    st.sampled_from(
        [
            "",
            "It gives",
            "as low as",
            "roughly",
            "Result:",
            "the width",
            "n",
            "x =",
            "(",
            "so,",
            "at",
        ]
    ),
    st.from_regex(r"[A-Za-z]{2,9}(?: [a-z]{2,9}){0,2}", fullmatch=True).filter(
        lambda words: (
            not re.search(
                r"(?i)(?:zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|\w+ty"
                r"|hundred|\w+and|\w+ion)$",
                words,
            )
        )
    ),
)
OPERANDS = [
    *(
        "12",
        "0.5",
        "3%",
        "10²",
        "1e-5",
        f"{EDGE}7{EDGE}",
        f"is {EDGE}…{EDGE}",
        "twenty",
        "two hundred",
    ),
    *(f"{BEGIN}n{END}", f"{BEGIN}f(x){END}", f"{BEGIN}α_i{END}", "(a + b)", "f(x)", "[3 · 4]"),
]
MINUSES = ["−", "－", "➖", "±", "minus", "Minus", "plus or minus", ":heavy_minus_sign:", "-"]
GAPS = [" ", "\u00a0", "\n", " about ", " (", " “", " €", " just ", f"{EDGE} ", f"{END} "]


@given(SAID, st.sampled_from([*MINUSES, "neg.", "negative", "Neg"]), st.sampled_from(GAPS))
def test_a_minus_after_words_is_a_sign(said, minus, gap):
    assert is_signed(f"{said} {minus}{gap}")


@pytest.mark.parametrize("operand", OPERANDS)
@pytest.mark.parametrize("minus", MINUSES)
def test_a_minus_after_an_operand_is_an_operator(operand, minus):
    assert not is_signed(f"It is {operand} {minus} ")


@pytest.mark.parametrize(
    "before",
    [f"{BEGIN}x ={END} − ", f"{BEGIN}gives:{END} minus ", "result(s) − ", "it (see above) − ",
     "GPT2 − ", "in 2017. Minus ", f"{BEGIN}−{END} ", f"{EDGE}is{EDGE} minus ", "see (3) − "],
)  # fmt: skip
def test_what_is_no_operand(before):
    assert is_signed(before)


@pytest.mark.parametrize("dash", ["-", "‐", "‑", "–", "—", "−"])
def test_a_dash_that_touches_the_number_alone_is_a_sign(dash):
    assert is_signed(f"It gives {dash}")
    assert is_signed(f"It gives {dash}€")


@given(SAID.filter(lambda said: re.search(r"[a-z]{4}$", said) is not None))
def test_a_dash_between_blanks_is_punctuation(said):
    assert not is_signed(f"{said} words – ")
    assert not is_signed(f"{said} words — ")
    assert not is_signed(f"{said} words -- ")


@pytest.mark.parametrize("lead", ["", "n =", "Result:", "it is", "falls to", "as low as", "("])
def test_a_dash_where_a_number_has_to_come_is_a_sign(lead):
    assert is_signed(f"{lead} – ")


@pytest.mark.parametrize("before", ["layer-", "1–", f"{EDGE}1{EDGE}–", "layers- ", "minutes ", ""])
def test_a_hyphen_that_joins_is_no_sign(before):
    assert not is_signed(before)


ORDERS = [
    chr(code)
    for first, last in ["≤≳", "≶≹", "≺≽", "⋖⋟", "⋦⋩", "⩽⪡", "⪦⪭", "⪯⪼", "≮≱", "＜＜", "＞＞"]
    for code in range(ord(first), ord(last) + 1)
    if chr(code) != "≬"
]
STRUCK = [unicodedata.normalize("NFC", f"{sign}\u0338") for sign in "=∈≡≈<>⊂∃∥≃≅"]
RELATIONS = [
    *ORDERS,
    *("!=", "!==", "=/=", "/=", "<>", "<", ">", "<=", ">=", ">>", "=\u0338", "＜"),
]


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_relation_beside_a_number_is_seen(relation):
    for gap in ("", " ", "\u00a0", " about ", " (", f" {EDGE}", f"{END} ", " the "):
        assert is_related(f"n {relation}{gap}", ""), (relation, gap)
    for gap in ("", " ", ") ", f"{EDGE} ", "” ", "% "):
        assert is_related("", f"{gap}{relation} n"), (relation, gap)


@pytest.mark.parametrize(
    "sign",
    ["=", "≈", "→", "->", "=>", "-->", "<->", "⇒", ":", "∈", "×", "==", "5! =", "<b>", "</b>"],
)
def test_what_says_no_relation(sign):
    assert not is_related(f"n {sign} ", "")
    assert not is_related("", f" {sign} n".replace("5!", "n"))
