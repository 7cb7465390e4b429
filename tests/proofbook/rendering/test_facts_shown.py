"""What a reader sees of a fact: its words, one sign, and how they are checked."""

import json
import re

import nbformat
import pytest
from books import build, build_error, make_book

PAGE = """\
# Page

```python
rows = [[1, 2], [3, 4]]
```

Each *row* has [two]{ equals="len(rows[0])" } numbers, and it grows from left to right.

```facts
Each row has two numbers: all(len(row) == 2 for row in rows)
it grows from left to right: all(
    row == sorted(row)
    for row in rows
    )
```
"""


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    return build(make_book(tmp_path_factory.mktemp("book"), {"index.md": PAGE}))


@pytest.fixture(scope="module")
def html(site):
    return (site / "index.html").read_text()


def test_the_words_are_read_as_before_and_the_fence_is_not(html):
    (paragraph,) = re.findall(r"<p>(<span[^>]*>Each.*?)</p>", html, re.DOTALL)
    read = re.sub(r"<button.*?</button>|<[^>]+>", "", paragraph)
    assert read == "Each row has two numbers, and it grows from left to right."
    assert "facts" not in html
    assert not re.search(r"<(p|div)>\s*</\1>", html)


def test_a_sign_stands_where_each_phrase_ends(html):
    phrases = re.findall(r'<span class="proofbook-fact">(.*?)<button[^>]*"(proof-\d)"', html)
    assert [(re.sub("<[^>]+>", "", words), sign) for words, sign in phrases] == [
        ("Each row has two", "proof-0"),
        ("it grows from left to right", "proof-2"),
    ]
    assert html.count("popovertarget") == 3


def test_the_sign_opens_the_expression_and_its_value(html):
    (proof,) = re.findall(r'id="proof-1".*?</div></div>', html)
    assert "Checked when this page was built" in proof
    assert "all(len(row) == 2 for row in rows)" in proof
    assert "True" in proof


def test_facts_count_as_claims_in_the_ledger(site):
    ledger = json.loads((site / "verified.json").read_text())
    assert ledger["totals"]["claims"] == 3


def test_a_phrase_that_names_what_its_expression_never_reads_is_refused(tmp_path):
    page = (
        "```python\na, b = 1, 2\n```\n\nThen `a` is small.\n\n```facts\n`a` is small: b < 3\n```\n"
    )
    said = build_error(make_book(tmp_path, {"index.md": page}))
    assert "docs/index.md:8: the phrase names a, which the expression never reads" in said


def test_a_fact_waits_for_a_doctest_that_can_be_read(tmp_path):
    unread = "```pycon\n>>> a = 1\n>>>b\n```\n"
    page = f"{unread}\nThen `a` is small.\n\n```facts\n`a` is small: a < 3\n```\n"
    said = build_error(make_book(tmp_path, {"index.md": page}))
    assert "docs/index.md:1: this doctest cannot be read" in said


def test_the_notebook_asserts_a_fact_with_its_phrase_as_message(site):
    book = nbformat.read(site / "index.ipynb", as_version=4)
    (checks,) = [cell.source for cell in book.cells if "checks" in cell.metadata.get("tags", [])]
    wanted = 'assert all(row == sorted(row) for row in rows), "it grows from left to right"'
    assert wanted in checks.split("\n")
    assert "```facts" not in json.dumps(book)
