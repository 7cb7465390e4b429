"""A number in words that an expression binds is one of the expression's own."""

from proofbook.parsing.bounds import loose_number
from proofbook.parsing.source import read
from tables import table


@table(
    ("words", "expression", "loose"),
    [
        ("at most 5 of them", "x < 5", ""),
        ("at most 5 of them", "x < 6", "5"),
        ("in 82% of cases", "share > 0.82", ""),
        ("in 82% of cases", "share > 82 / n", ""),
        ("in 3.9% of cases", "share > 0.39", "3.9"),
        ("all 49,152 pieces", "n == 49_152", ""),
        ("all 49,152 pieces", "n == 49_153", "49,152"),
        ("GPT-2 in 4-bit blocks of $2^{16}$ and `x[7]` in UTF-8", "x > 0", ""),
        ("between 2 and 7", "2 < x < 8", "7"),
        ("it says 12 drummers", "said == '12 drummers'", ""),
        ("1.5 times 2.5", "x > 1.5", "2.5"),
        ("At 3.", "x > 0", "3"),
    ],
)
def test_each_number_of_the_words_is_one_of_the_expression(words, expression, loose):
    assert loose_number(words, expression) == loose


def test_a_number_in_a_fact_may_have_a_claim_of_its_own():
    facts = "\n\n```facts\nThey are 5 of 7: x > 2\n```\n"
    bound = "They are [5]{ equals='x' } of [7]{ equals='y' }." + facts
    assert read(bound).faults == []
    [(line, message, phrase)] = read("They are [5]{ equals='x' } of 7." + facts).faults
    assert (line, phrase) == (4, "They are 5 of 7")
    assert message.startswith("7 is no number of this expression")
