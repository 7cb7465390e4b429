"""What runs is what a reader sees as a fence; what is claimed is what a reader sees as text."""

from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

from proofbook.parsing.page import parse
from proofbook.settings import ADDED_EXTENSIONS
from tables import table

WITHIN = """\
---
title: A page
---

# Page

!!! note
    ```python
    a = 1
    ```

=== "Tab"

    ```python
    b = 2
    ```

- item

    ```python
    c = 3
    ```

> ```python
> d = 4
> ```

<div markdown>
```python
e = 5
```
</div>

````text
```python
shown = "as text"
```
````

<!--
```python
commented = "out"
```
-->
"""


def test_fences_run_where_they_show_and_nowhere_else():
    page = parse("docs/page.md", WITHIN)
    assert page.problems == ()
    assert [block.code for block in page.chapter.blocks] == [
        "a = 1",
        "b = 2",
        "c = 3",
        "d = 4",
        "e = 5",
    ]
    lines = WITHIN.split("\n")
    for block in page.chapter.blocks:
        assert lines[block.line - 1].strip("> ") == block.code


def test_claims_count_where_they_show_and_know_their_place():
    text = """\
[0]{ equals="a" } before

```python
x = 1
```

| cell |
|---|
| `x | y`{ equals="x | y" } |

    [code]{ equals="indented" }

<!-- [no]{ equals="commented" } -->

## Heading [1]{ equals="b" }

```pycon
>>> x
1
```

*Two*{ value="c" holds="d" }
"""
    page = parse("docs/page.md", text)
    assert page.problems == ()
    found = [(claim.expressions, claim.line, claim.place) for claim in page.chapter.claims]
    assert found == [
        (("a",), 1, 0),
        (("x | y",), 9, 1),
        (("b",), 15, 1),
        (("d", "c"), 22, 2),
    ]
    assert page.chapter.claims[3].text == ""


def test_the_names_of_a_page_are_those_in_its_code_outside_claims():
    text = "`a.b()`, `c_d`, `a.b`, `x + y`, `.e`, `f(1)`, `g`{ equals='h' }, `i.json`, `j/k`"
    text += "\n\n```text\n`l`\n```"
    assert parse("p.md", text).chapter.names == (".e", "a.b", "c_d", "f")


def test_footnotes_are_part_of_the_page():
    text = """\
Text.[^1]

[^1]: Note [1]{ equals="x" }

    ```python
    x = 1
    ```
"""
    page = parse("p.md", text, [*ADDED_EXTENSIONS, "footnotes"])
    assert page.problems == ()
    assert [block.code for block in page.chapter.blocks] == ["x = 1"]
    assert [claim.equals for claim in page.chapter.claims] == ["x"]


@table(
    ("text", "line", "message"),
    [
        ("a\n\n```python\nx", 3, "never closed"),
        ("---\na: b\n---\n\n[x]{ equals='y +' }", 5, "cannot parse"),
        ('![a [b]{ equals="x" } c](d.png)', 1, "cannot be in an attribute"),
        ("a\n\n<img alt=\"[b]{ equals='x' }\">", 3, "cannot be in an attribute"),
        ("```python id='a'\nx\n```\n```python id='a'\ny\n```", 4, "'a' is already used at line 1"),
        ("| a |\n|---|\n| five { equals='x|y' } |", 3, "must directly follow"),
        ("&#123; equals='x' }", 1, "a claim's braces are shown as text"),
        ("[a]: x.md '[b]{ equals=1 }'", 1, "needs an expression in quotes"),
        ("[a]: x.md\n    '[b]{ equals=\"x\" }'", 2, "does not reach the page"),
        ("a\n\n![2]{ .literal reason='name' }", 3, "must directly follow"),
        ('a\n\n![b [2]{ .literal reason="name" } c](d.png)', 3, "cannot be in an attribute"),
        ("&#123; .literal reason='name' }", 1, "braces are shown as text"),
        ("a <!-- b\n\n```python\nx\n```\n", 3, "shown and not run"),
        ("a\n\n    >>> 1 + 1\n    3\n", 3, "a doctest outside of a fence does not run"),
        ("a\n\n```\n>>> 1 + 1\n3\n```\n", 3, "a doctest outside of a fence does not run"),
        ("a <!-- b\n\n!!! n\n\n    ```python\n    x\n\n    y\n    ```\n", 5, "shown and not run"),
    ],
)
def test_what_is_wrong_has_a_line(text, line, message):
    problem = parse("docs/page.md", text).problems[0]
    assert (problem.path, problem.line) == ("docs/page.md", line)
    assert message in problem.message


class Inserting(Extension, Preprocessor):
    """Inserts a fence after the engine has read the page, as one that shows docstrings does."""

    def extendMarkdown(self, md):  # noqa: N802
        md.preprocessors.register(self, "inserting", 25.2)

    def run(self, lines):
        return [*lines, "", "```python", "inserted", "```"]


def test_a_fence_that_an_extension_inserts_is_not_the_author_s():
    page = parse("page.md", "```python\nx = 3\n```\n", [*ADDED_EXTENSIONS, Inserting()])
    assert page.problems == ()
    assert [block.code for block in page.chapter.blocks] == ["x = 3"]


def test_what_is_wrong_is_told_without_the_marks_that_stood_in_it():
    text = '```">a\n````facts\n```\nb\n````facts\nb: x\n````'
    problems = parse("page.md", text).problems
    assert [(problem.line, problem.code) for problem in problems] == [
        (2, "```\n…b…\n````facts\nb: x"),
        (5, "b: x"),
    ]


def test_as_many_blocks_as_an_author_wants_are_shown_unrun():
    fence = "```python exec='off' reason='{}'\nx / 0\n```\n\n"
    page = parse("p.md", "".join(map(fence.format, ["needs a GPU", "never ends", "never ends"])))
    assert (page.problems, page.chapter.blocks) == ((), ())
    reasons = [page.source.fences[index].options["reason"] for index in sorted(page.shown)]
    assert reasons == ["needs a GPU", "never ends", "never ends"]


def test_without_the_extension_of_a_container_its_fence_is_code():
    needed = ["pymdownx.superfences"]
    assert parse("p.md", "!!! note\n\n    ```python\n    x\n    ```", needed).chapter.blocks == ()


@table(
    "text",
    ["Text.\n\n    ```python\n    x\n    ```\n", "<pre>\n```pycon\n>>> 1\n1\n```\n</pre>\n"],
)
def test_a_fence_that_is_shown_as_text_is_a_problem(text):
    [problem] = parse("page.md", text).problems
    assert problem.line in (2, 3)
    assert "is shown as text and does not run" in problem.message
