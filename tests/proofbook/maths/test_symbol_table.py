"""The table of symbols."""

import pytest

from proofbook.maths.symbol_table import Symbol, read_symbols
from tables import table

TABLE = r"""
| symbol | meaning | code | from |
|---|---|---|---|
| $d_k$ { #d_k } | width of a `head`, see [there](x.md#y) | `head_dim` | [One](one.md) |
|$\frac{a}{b}${#a-b}| *a* half | | |
| $k$ { #k .local } | a step | [Two](../deep/two.md#part) |
| $z$ | no anchor | [One](one.md) |
"""


def test_rows_are_read_with_what_they_mean():
    assert read_symbols(TABLE, "reference/notation.md") == [
        Symbol("d_k", "d_k", "width of a head, see there"),
        Symbol("a-b", r"\frac{a}{b}", "a half"),
        Symbol("k", "k", "a step", home="deep/two.md"),
    ]


@table(
    ("table", "message"),
    [
        ("| $a$ { #a } | x |\n| $b$ { #a } | y |", "n.md: two symbols have the anchor 'a'"),
        ("| $a$ { #a .local } | x | [there](#b) |", "n.md: 'a' is local, but its row links to no"),
    ],
)
def test_a_table_that_cannot_be_used_is_refused(table, message):
    with pytest.raises(ValueError, match=message):
        read_symbols(table, "n.md")
