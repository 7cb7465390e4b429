"""A page that fails shows why at the very place; one that passes shows signs and a ledger."""

import json
import re

import pytest
from books import opened, rendered

from tables import table

PAGE = """\
```python id="first"
x = 2
```

[three]{ equals="x" } or [two]{ equals="x + 0" }.

```python show="lib:f"
```

```python
y = x / 0
```

`y > 0`{ holds }

He said "[2 of *7*]{ .literal reason="quotation" }".
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    files = {"src/lib.py": "def f():\n    return 1\n"}
    with opened(tmp_path_factory.mktemp("book"), files=files) as book:
        return rendered(book, PAGE)


def test_each_problem_stands_at_its_place_and_all_at_the_beginning(shown):
    division = "docs/p.md:11: ZeroDivisionError: division by zero"
    assert shown.count(division) == 2
    assert shown.index(division) < shown.index('id="first"') < shown.rindex(division)
    says = "docs/p.md:5: the page says &#x27;three&#x27;, this run gives 2"
    assert shown.count(says) == 2
    assert shown.rindex(says) < shown.index("two<button")


def test_what_holds_keeps_its_sign_and_nothing_else_has_one(shown):
    assert '<span class="proofbook-claim">two<button' in shown
    assert '<span class="proofbook-failed"><code>y &gt; 0</code></span>' in shown
    assert shown.count("popovertarget") == shown.count("popover id") == 1
    assert "Verified" not in shown
    assert 'He said "2 of <em>7</em>".' in shown
    assert "quotation" not in shown
    assert '<p class="proofbook-source">src/lib.py, lines 1 to 2</p>' in shown


TWICE = "```python\nx = 2\n```\n\n```python\nx = 2\n```\n"


@table(("options", "kept"), [({}, 1), ({"line_spans": "row"}, 0)])
def test_colors_are_kept_unless_lines_have_ids(tmp_path_factory, monkeypatch, options, kept):
    with opened(tmp_path_factory.mktemp("book")) as book:
        keep, colored = book.memo.keep, []
        monkeypatch.setattr(book.memo, "keep", lambda *one: [colored.append(one[0]), keep(*one)])
        configs = {"pymdownx.highlight": options}
        html = rendered(book, TWICE, extensions=["pymdownx.highlight"], **configs)
    assert sum('class="highlight"' in str(one) for one in colored) == kept
    assert html.count('<span class="n">x</span>') == 2
    ids = re.findall(r' id="(row[^"]*)"', html)
    assert len(ids) == len(set(ids)) == (2 if options else 0)


BLOCKS = """\
```python
class Rule:
    def _repr_html_(self):
        return "<hr>"
```

```python
x = 1
y = 2
z = 3
```

```python
for n in range(3):
    print(n)
```

```python
Rule()
```

```python
print("fold\\n" * 31)
```

```python
print("wide" * 23)
```
"""


def test_room_is_left_for_the_lines_of_a_block_unless_it_draws(book):
    rooms = re.findall(
        r'<div class="proofbook-block"(?: style="--lines: (\d+); --parts: (\d+)")?',
        rendered(book, BLOCKS),
    )
    assert rooms == [("3", "1"), ("3", "1"), ("5", "2"), ("", ""), ("", ""), ("", "")]


@table("option", ['source="left"', 'hl_lines="x"', 'linenums="-"', 'id="<"'])
def test_an_option_that_cannot_be_read_is_told_on_the_page(book, option):
    html = rendered(book, f"```python {option}\nx = 1\n```\n")
    assert f"docs/p.md:1: {option.partition('=')[0]}=" in html
    assert '<span class="n">x</span>' in html


DOCTEST = """\
```pycon title="Two"
>>> x = 2
>>> x + 1
3
```

[two]{ equals="x" }
"""


def test_a_doctest_in_a_python_fence_is_shown_as_one_in_a_pycon_fence(book):
    offered = {}, {}
    pages = DOCTEST, DOCTEST.replace("pycon", "python")
    one, other = (
        rendered(book, page, offered=its) for page, its in zip(pages, offered, strict=True)
    )
    assert one == other
    assert json.dumps("x = 2\nprint(x + 1)") in other  # copied without prompts
    assert offered[0] == offered[1] != {}
