"""A page of the book says what the whole book has verified."""

import json
import re

import pytest
from books import build, build_error, make_book

from proofbook.rendering.summary import PARTS, filled
from tables import table

LEDGER = {
    "totals": {"blocks": 2, "doctests": 0, "claims": 1234, "exempt": 3},
    "exemptions": {"name": 1, "not run": 2},
    "versions": {"python": "3.99.1"},
    "data": {"weights": "abcdef"},
    "variables": ["BOOK_DEVICE"],
    "commit": "",
    "built": "2017-07-14 02:40 UTC",
    "devices": ["cpu", "cuda"],
    "problems": 0,
    "labs": {"docs/lab.py": {"cells": 7, "assertions": 1235}},
    "pages": {
        "docs/none.md": {
            "blocks": 0,
            "doctests": 0,
            "claims": 0,
            "exempt": 0,
            "kept": False,
            "device": None,
        },
        "docs/b.md": {
            "blocks": 0,
            "doctests": 1,
            "claims": 0,
            "exempt": 0,
            "kept": False,
            "device": None,
        },
        "docs/a.md": {
            "blocks": 2,
            "doctests": 0,
            "claims": 1234,
            "exempt": 3,
            "kept": True,
            "device": "cpu",
        },
    },
}


def place(name: str) -> str:
    return f'<div data-verified="{name}"></div>'


def rows(html: str) -> list[list[str]]:
    """The cells of all rows below the head, without markup."""
    body = html.split("<tbody>")[1]
    cells = (re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", body))
    return [[re.sub("<[^>]+>", "", cell) for cell in row] for row in cells]


def test_each_place_has_its_table_and_all_else_stays():
    html = filled(f"<p>a</p>{place('totals')}<p>b</p>", LEDGER, {})
    assert html.startswith('<p>a</p><div data-verified="totals"><table>')
    assert html.endswith("</table></div><p>b</p>")
    assert rows(html) == [
        ["pages", "3"], ["blocks", "2"], ["doctests", "0"], ["claims", "1,234"], ["exempt", "3"],
    ]  # fmt: skip


def test_circumstances_that_are_not_known_are_left_out():
    assert rows(filled(place("circumstances"), LEDGER, {})) == [
        ["device", "cpu, cuda"],
        ["python", "3.99.1"],
        ["weights", "abcdef"],
        ["variables set", "BOOK_DEVICE"],
        ["built", "2017-07-14 02:40 UTC"],
        ["pages kept from an earlier run", "1 of 1"],
    ]


def test_pages_that_verify_anything_stand_in_reading_order_and_the_rest_below():
    links = {"docs/no.md": ("N", "n"), "docs/none.md": ("O", "o"), "docs/b.md": ("<B>", "../b/")}
    html = filled(place("pages"), LEDGER, links)
    assert rows(html) == [["&lt;B&gt;", "0", "1", "0", "0"], ["docs/a.md", "2", "0", "1,234", "3"]]
    assert '<a href="../b/">&lt;B&gt;</a>' in html


@table("name", PARTS)
def test_a_book_that_does_not_pass_has_verified_nothing(name):
    html = filled(place(name), {**LEDGER, "problems": 1}, {})
    assert "does not pass" in html
    assert "<table>" not in html


def test_a_table_that_there_is_none_of_is_an_error():
    with pytest.raises(ValueError, match="data-verified='total' is unknown; known: totals, "):
        filled(place("total"), LEDGER, {})


PAGE = """\
# A page

```python
x = 2
```

[two]{ equals="x" }, and [3]{ .literal reason="example" }
"""
HOME = "# Home\n\n" + "\n\n".join(place(name) for name in PARTS)


def test_a_page_that_comes_first_knows_those_that_come_after_it(tmp_path):
    config = "site_name: x\nplugins: [proofbook]\nnav: [index.md, z.md, part/a.md]\n"
    book = make_book(tmp_path, {"index.md": HOME, "z.md": PAGE, "part/a.md": PAGE}, config=config)
    site = build(book)
    html = (site / "index.html").read_text()
    tables = [rows(part) for part in html.split('<div data-verified="')[1:]]
    assert tables[0] == [
        ["pages", "3"], ["blocks", "2"], ["doctests", "0"], ["claims", "2"], ["exempt", "2"],
        ["scripts", "2"], ["notebooks", "2"],
    ]  # fmt: skip
    assert tables[1] == [["example", "2"]]
    one = ["1", "0", "1", "1"]
    assert tables[3] == [["A page", *one], ["A page", *one]]
    assert '<a href="part/a/">A page</a>' in html
    assert json.loads((site / "verified.json").read_text())["totals"]["claims"] == 2


def test_an_unknown_place_fails_the_build_and_names_the_page(tmp_path):
    book = make_book(tmp_path, {"index.md": place("all")})
    assert "docs/index.md: data-verified='all' is unknown" in build_error(book)
