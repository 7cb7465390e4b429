"""The symbols of formulas carry what they mean, and what they were in the page's run."""

import re
from html import unescape
from xml.etree.ElementTree import Element

import pytest
from books import build, build_error, make_book

from proofbook.__main__ import main
from proofbook.maths.explain import Explainer, read_table
from proofbook.maths.mathml import to_mathml
from tables import table

CONFIG = """\
site_name: x
markdown_extensions: [{proofbook.maths: {symbols: notes/notation.md}}, tables]
plugins: [proofbook]
"""
NOTATION = r"""
# Notation

| symbol | meaning | from |
|---|---|---|
| $d$ { #d } | width | |
| $d_k$ { #d_k } | narrow width | |
| $x_i$ { #x_i } | row i | |
| $i$ { #i } | a place | |
| $k$ { #k } | a key | |
| $K$ { #K } | all keys | |
| $W_h^Q$ { #W_Q } | map of head h | |
| $W_1$ { #W_1 } | first map | |
| $k$ { #k-steps .local } | a step | [Steps](../steps.md) |
"""
PAGE = r"""---
symbols: {d_k: width, K: "[width, 3]"}
---

# Page

```python
width = 7
```

## One

A $d_k$, again $d_k$, and $2 d$.

$$
K^\top d_k x_{i+1}
$$

$$
d_k + d
$$

## Two

$$
K
$$
"""


@pytest.fixture
def explained(tmp_path):
    file = tmp_path / "notation.md"
    file.write_text(NOTATION)
    table = read_table(file, "notes/notation.md", 1)

    def aids(tex: str, page: str = "page.md", **values: str) -> list[tuple[str, str]]:
        root = Element("div")
        holder = Element("div", {"class": "maths-block"})
        holder.append(to_mathml(tex, display=True))
        root.append(holder)
        Explainer(table, page, values).explain(root)
        parts = [one for one in holder.iter() if one.get("data-aid")]
        return [("".join(one.itertext()), one.get("data-aid")) for one in parts]

    return aids


@table(
    ("tex", "found"),
    [
        ("d", [("d", "width")]),
        (r"\sqrt{d_k}", [("dk", "narrow width")]),
        (r"d_{\text{ff}}", [("d", "width")]),
        ("x_i", [("xi", "row i"), ("i", "a place")]),
        ("x_{i-1}", [("xi−1", "row i"), ("i", "a place")]),
        ("x_j", [("xj", "row i")]),
        ("x_1", [("x1", "row i")]),
        (r"K^\top", [("K", "all keys")]),
        (r"W_h^{Q\top}", [("WhQ⊤", "map of head h")]),
        (r"W_1^\top", [("W1⊤", "first map")]),
        (r"W_1^2 + W_1^{\top}", [("W12", "first map"), ("W1⊤", "first map")]),
        ("W_2", []),
        (r"\frac{k}{2 d}", [("k", "a key"), ("d", "width")]),
    ],
)
def test_the_largest_known_part_carries_its_meaning(explained, tex, found):
    assert explained(tex) == found


def test_a_local_meaning_counts_on_its_page_alone(explained):
    assert explained("k", "steps.md") == [("k", "a step")]
    assert explained("k", "other/steps.md") == [("k", "a key")]
    assert explained("d k", "steps.md") == [("d", "width"), ("k", "a step")]


def test_a_value_stands_behind_the_meaning(explained):
    assert explained("d_k d", d_k="7") == [("dk", "narrow width; here 7"), ("d", "width")]


def test_two_symbols_that_look_alike_are_refused(tmp_path):
    file = tmp_path / "notation.md"
    file.write_text("| $a b$ { #one } | x |\n| $ab$ { #two } | y |\n")
    with pytest.raises(ValueError, match="'one' and 'two' look alike"):
        read_table(file, "notation.md", 2)


def aids(html: str) -> list[str]:
    return [unescape(aid) for aid in re.findall(r'data-aid="([^"]*)"', html)]


def test_a_page_is_explained_with_the_values_of_its_run(tmp_path):
    pages = {"deep/page.md": PAGE, "notes/notation.md": NOTATION, "steps.md": "# Steps\n"}
    site = build(make_book(tmp_path, pages, config=CONFIG))
    html = (site / "deep/page/index.html").read_text(encoding="utf-8")
    linked = re.findall(
        r'<a aria-label="([^"]*)" class="symbol-link" data-aid="([^"]*)" href="([^"]*)">', html
    )
    assert linked == [("dk: narrow width", "narrow width; here 7", "../../notes/notation/#d_k")]
    lists = re.findall(r'<details class="symbols".*?</details>', html, re.DOTALL)
    meanings = [re.findall("<dd>(.*?)</dd>", one) for one in lists]
    assert meanings == [
        ["all keys; here [7, 3]", "narrow width; here 7", "row i", "a place"],
        ["width"],
        ["all keys; here [7, 3]"],
    ]
    assert 'href="../../notes/notation/#K"' in lists[0]
    table = (site / "notes/notation/index.html").read_text(encoding="utf-8")
    assert 'id="d_k"' in table
    assert not aids(table)


def faulty(folder, given: str):
    page = PAGE.replace('{d_k: width, K: "[width, 3]"}', f"{{{given}}}")
    pages = {"page.md": page, "notes/notation.md": NOTATION, "steps.md": "# Steps\n"}
    return make_book(folder, pages, config=CONFIG)


@table(
    ("given", "message"),
    [("d_k: height", "defines: height"), ("d_k: '7'", "a constant proves nothing")],
)
def test_a_value_that_is_none_fails_the_build(tmp_path, given, message):
    told = build_error(faulty(tmp_path, given))
    assert "docs/page.md:2: " in told
    assert message in told


def test_a_value_for_what_is_no_symbol_is_told_by_build_and_check(tmp_path, capsys):
    book = faulty(tmp_path, "d_kk: width")
    message = "docs/page.md:2: symbols: no row of notes/notation.md has the anchor 'd_kk' (did"
    assert message in build_error(book)
    assert main(["-f", str(book / "mkdocs.yml"), "check"]) == 1
    assert f"{message} you mean 'd_k'?)" in capsys.readouterr().out
    (book / "docs/notes/notation.md").unlink()
    assert main(["-f", str(book / "mkdocs.yml"), "check"]) == 1
    assert "docs/notes/notation.md:1: no table of symbols: " in capsys.readouterr().out
