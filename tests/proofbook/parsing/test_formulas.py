"""A formula is read by its signs, whatever commands and braces make them."""

import re

from proofbook.maths.mathml import to_mathml
from proofbook.parsing.formulas import letters_of
from tables import table

DRAWN = [
    *("-", "{-}", r"n \ne", r"n \neq", r"n \not\le", r"x_{i} -", r"\%", r"\text{million}", r"\mp"),
    *(r"\operatorname{neg}", r"\mathrm{minus}", r"-\!\!", r"\quad -\;", r"n \gt", r"\alpha \le"),
    *(r"\times 10", r"10 \cdot", r"\div 7", r"\left(a\right)", r"\mathbin{-}", r"\infty", "n < m"),
]


@table("tex", DRAWN)
def test_the_letters_are_those_that_are_drawn(tex):
    drawn = "".join(to_mathml(tex).itertext()).replace("\u29f8≤", "≰")
    assert re.sub(r"[\s_]", "", letters_of(tex)) == re.sub(r"\s", "", drawn)


@table(
    ("tex", "letters"),
    [(r"10^{6}", "10^6"), ("{}^2", "^2"), (r"\frac{1}{2} x", "1/2 x"), (r"\frac12", "1/2"),
     (r"\sqrt{}", "√"), (r"\not=", "≠"), (r"\(n \ge\)", "n ≥"), ("5!=120", "5! =120"),
     (r"\unknown", "unknown")],
)  # fmt: skip
def test_what_is_drawn_above_or_below_has_a_sign(tex, letters):
    assert letters_of(tex) == letters
