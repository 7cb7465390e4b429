"""Claims are found whatever their expression holds, and nothing else is taken for one."""

import re

from proofbook.parsing.claims import find_claims
from tables import table


def claims(text: str):
    return find_claims(text, [(0, len(text))])


@table(
    ("text", "seen", "expressions"),
    [
        ("a [five]{ equals='len(x)' } b", "five", {"equals": "len(x)"}),
        ("`[1, 5]`{equals=\"list(x['a'].shape)\"}", "[1, 5]", {"equals": "list(x['a'].shape)"}),
        ("*so*{: equals='f({1: {2}})' }", "so", {"equals": "f({1: {2}})"}),
        ("**so**{ holds='so: a or b' }", "so", {"holds": "a or b"}),
        ("[at most 5: so]{ holds='at most 5: so: x < 5' }", "at most 5: so", {"holds": "x < 5"}),
        ("[0.5]{ holds='0.4 < x < 0.5' }", "0.5", {"holds": "0.4 < x < 0.5"}),
        ("_so_{ equals='x[0](1).__name__' }", "so", {"equals": "x[0](1).__name__"}),
        ("`a == b`{ holds }", "a == b", {"holds": "a == b"}),
        ("``a ` b``{ equals='x' }", "a ` b", {"equals": "x"}),
        ("[…]{ value='f\"{x:.0%}\"' holds='x > 0.9' }", "…",
         {"value": 'f"{x:.0%}"', "holds": "x > 0.9"}),
        ('[x]{ equals="d[\\"k\\"]" }', "x", {"equals": 'd["k"]'}),
        ("[x]{ equals='a or\n   b' }", "x", {"equals": "a or b"}),
        ("[a [b] `]` c]{ equals='x' }", "a [b] ] c", {"equals": "x"}),
        ("[**30**&nbsp;000 [of](u.md) them]{ equals='x' }", "30 000 of them", {"equals": "x"}),
        ("| a | [1|2]{ equals='x | y' } |", "1|2", {"equals": "x | y"}),
        ("[x]{ equals='f(\"`y`{ holds }\")' }", "x", {"equals": 'f("`y`{ holds }")'}),
        ("# Title [two]{ equals='x' }", "two", {"equals": "x"}),
        ("snake_case and _so_{ equals='x' }", "so", {"equals": "x"}),
    ],
)  # fmt: skip
def test_a_claim_has_its_text_and_expressions(text, seen, expressions):
    (span,), faults = claims(text)
    assert faults == []
    assert span.text == seen
    assert span.expressions == expressions
    assert text[span.end - 1] == "}"


def test_claims_have_lines_and_offsets():
    text = "One.\n\nTwo [2]{ equals='x' } and\n`y`{ holds }."
    (first, second), _ = claims(text)
    assert (first.line, second.line) == (3, 4)
    assert text[first.start : first.end] == "[2]{ equals='x' }"
    assert text[slice(*first.inner)] == "2"
    assert text[slice(*second.inner)] == "`y`"


@table(
    "text",
    [
        "`[five]{ equals='x' }` in code",
        "``` `x`{ holds } ```",
        "an attribute list: *x*{ .lead title='quotation' }",
        "escaped \\{ holds }",
        "a set {holds, keeps}",
    ],
)
def test_what_is_no_claim(text):
    assert claims(text) == ([], [])


@table("target", ["[2 of 7]", "*2 of 7*", "`2 of 7`"])
def test_a_literal_has_its_text_and_its_reason(target):
    (span,), faults = claims(f"He said {target}{{ .literal reason='quotation' }}.")
    assert faults == []
    assert (span.text, span.reason, span.expressions) == ("2 of 7", "quotation", {})


def test_claims_do_not_nest():
    (inner,), ((_, fault, _),) = claims("*All [5]{ equals='x' } of them*{ holds='y' }")
    assert inner.text == "5"
    assert "inside another's target" in fault


@table(
    ("text", "message"),
    [
        ("five { equals='x' }", "must directly follow"),
        ("[five] { equals='x' }", "must directly follow"),
        ("![five]{ equals='x' }", "must directly follow"),
        ("[five](x.md){ equals='x' }", "must directly follow"),
        ("five]{ equals='x' }", "no opening bracket"),
        ("[five]{ equals=x }", "needs an expression in quotes"),
        ("[five]{ equals='' }", "needs an expression in quotes"),
        ("[five]{ equals='x }", "needs an expression in quotes"),
        ("[five]{ equals='x' equals='y' }", "'equals' is given twice"),
        ("[five]{ equals='x' .big }", "'.big' has no meaning"),
        ("[five]{ equal='x' }", "'equal' has no meaning"),
        ("`x`{ hold }", "'hold' has no meaning"),
        ("[five]{ equals='x' ", "not closed by a brace"),
        ('[five]{ equals="d["k"]" }', """equals="d\\[" ends at its second ", .* write ', or"""),
        ("[five]{ holds='f('a')' }", "holds='f\\(' ends at its second ', .* write \", or"),
        (f"[x]{{ equals='{'(' * 300}{')' * 300}' }}", "cannot parse the expression"),
        (f"[x]{{ equals='{'-' * 99999}1' }}", "cannot parse the expression"),
        ("[five]{ equals='x +' }", "cannot parse the expression 'x \\+'"),
        ("`not code!`{ holds }", "cannot parse the expression"),
        ("[five]{ holds='x == 5' }", 'write holds="five: …"'),
        ("[six]{ holds='five: x == 5' }", 'write holds="six: …"'),
        ("[5]{ holds='1.5 < x < 64' }", "5 is no number of this expression"),
        ("[at most 5%]{ holds='at most 5%: x < 0.06' }", "5 is no number of this expression"),
        ("[five]{ holds }", "bare holds asserts inline code"),
        ("[five]{ value='x' }", "needs a holds"),
        ("[five]{ value='x' holds }", "needs a holds"),
        ("[five]{ value='x' equals='y' holds='z' }", "cannot be combined"),
        ("[]{ equals='x' }", "no text for the reader"),
        ("[*5*{ .so }]{ equals='x' }", "cannot contain attributes in braces"),
        ("[`5`{.so} b]{ equals='x' }", "cannot contain attributes in braces"),
        ("five { .literal reason='name' }", "must directly follow"),
        ("[five]{ .literal }", "with nothing else in the braces"),
        ("[five]{ reason='name' equals='x' }", "with nothing else in the braces"),
        ("[five]{ .literal reason='name' equals='x' }", "with nothing else in the braces"),
        ("[five]{ .literal reason= }", "needs an expression in quotes"),
        ("[five]{ .literal reason='lazy' }", "unknown reason 'lazy'; known: definition, ex"),
        ("[]{ .literal reason='name' }", "no text for the reader"),
    ],
)
def test_a_claim_that_cannot_be_read_is_a_fault(text, message):
    _, ((line, fault, excerpt),) = claims(f"First.\n\n{text}")
    assert line == 3
    assert re.search(message, fault)
    assert excerpt in text
