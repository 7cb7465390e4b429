"""The table of symbols, and the values that pages give for theirs."""

import pytest

from proofbook.page import parse
from proofbook.symbols import Symbol, given_values, read_symbols

TABLE = r"""
| symbol | meaning | code | from |
|---|---|---|---|
| $d_k$ { #d_k } | width of a `head`, see [there](x.md#y) | `head_dim` | [One](one.md) |
|$\frac{a}{b}${#a-b}| *a* half | | |
| $k$ { #k .local } | a step | [Two](../deep/two.md#part) |
| $z$ | no anchor | [One](one.md) |
"""
PAGE = """\
---
title: A page
symbols:
  d_k: width
  Q: "list(range(width))"
---

# Here

```python
width = 7
```

[7]{ equals="width" }
"""


def test_rows_are_read_with_what_they_mean():
    assert read_symbols(TABLE, "reference/notation.md") == [
        Symbol("d_k", "d_k", "width of a head, see there"),
        Symbol("a-b", r"\frac{a}{b}", "a half"),
        Symbol("k", "k", "a step", home="deep/two.md"),
    ]


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("| $a$ { #a } | x |\n| $b$ { #a } | y |", "n.md: two symbols have the anchor 'a'"),
        ("| $a$ { #a .local } | x | [there](#b) |", "n.md: 'a' is local, and its row links to no"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        read_symbols(table, "n.md")


def test_values_are_claims_at_the_end_of_the_page():
    page = parse("page.md", PAGE)
    assert not page.problems
    assert page.claims == {0: 0}
    assert page.symbols == {"d_k": 1, "Q": 2}
    claims = [page.chapter.claims[number] for number in page.symbols.values()]
    assert [claim.expressions for claim in claims] == [("width",), ("list(range(width))",)]
    assert [(claim.line, claim.place) for claim in claims] == [(4, 1), (5, 1)]


@pytest.mark.parametrize(
    ("header", "fault"),
    [
        ("symbols:\n  a: 3 +", (3, "symbols: a: no expression", "3 +")),
        ("x: 1\nsymbols:\n  a: [b, c]", (4, "symbols: a: no expression", "")),
    ],
)
def test_what_is_no_expression_is_a_problem_with_its_line(header, fault):
    line, message, code = fault
    [problem] = parse("page.md", f"---\n{header}\n---\n\n# Here\n").problems
    assert (problem.path, problem.line, problem.code) == ("page.md", line, code)
    assert problem.message.startswith(message)


@pytest.mark.parametrize(
    "text",
    [
        "# Here\n\nsymbols:\n  a: b\n",
        "---\ntitle: symbols: x\n---\n",
        "---\nsymbols: a\n---\n",
        "---\nother:\n  symbols:\n    a: b\n---\n",
        "---\n- symbols:\n---\n",
    ],
)
def test_nothing_else_gives_values(text):
    assert given_values(text, 3) == ({}, [])
