"""Outputs and claims are rewritten in the style that they have."""

import re
from doctest import DocTestParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofbook.checking.book import Checked
from proofbook.checking.compare import says
from proofbook.checking.judge import judge
from proofbook.checking.update import rewritten, updated
from proofbook.model import BlockResult, Example, Run, Value
from proofbook.parsing.page import parse
from tables import table


@table(
    ("text", "value", "new"),
    [
        ("five", 6, "six"),
        ("Five", 21, "Twenty-one"),
        ("five", 30522, "30522"),
        ("30,522", 31000, "31,000"),
        ("1,234.5", 9876.54, "9,876.5"),
        ("0.94", 0.9051, "0.91"),
        ("94%", 0.9051, "91%"),
        ("1.2e-6", 3.456e-5, "3.5e-05"),
        ("yes", False, "no"),
        ("True", False, "False"),
        ("symmetric", "not symmetric", "not symmetric"),
        ("[1, 5, 5]", [1, 7, 7], "[1, 7, 7]"),
        ("(1, 5)", [2, 3], "(2, 3)"),
        ("1 × 5", [2, 3], "2 × 3"),
        ("[0.12, 0.30]", [0.123, 0.5678, 0.9], "[0.12, 0.57, 0.90]"),
        ("['a', 'b']", ["c"], "['c']"),
    ],
)
def test_a_value_is_written_as_the_text_was(text, value, new):
    assert rewritten(text, value) == new
    assert says(new, value)


TEXT = """\
---
title: x
---

- item

    ```pycon
    >>> [x,
    ...  y]
    [1, 2]
    >>> z
    0.5
    >>> print("a")
    a
    ```

`[1, 5]`{ equals="a" } and **five**{ equals="b" }, [5]{ equals="c" } `d`{ holds }
"""


def checked(text: str) -> Checked:
    examples = (
        Example("[x,\n y]\n", "[1, 2]\n", "[3, 4]\n", 0),
        Example("z\n", "0.5\n", "0.7312\n", 3),
        Example('print("a")\n', "a\n", "b\n\nc\n", 5),
    )
    values = {"a": [2, 7], "b": 6, "c": 5, "d": False}
    run = Run((BlockResult(examples=examples),), {(n, 1): Value(v) for n, v in values.items()})
    return Checked(parse("p.md", text), run, [], {})


@table("ends", ["\n", "\r\n"])
def test_only_what_differs_changes(ends):
    text = TEXT.replace("\n", ends)
    new = (
        TEXT.replace("    [1, 2]\n", "    [3, 4]\n")
        .replace("    0.5\n", "    0.7\n")
        .replace("    a\n", "    b\n    <BLANKLINE>\n    c\n")
        .replace("`[1, 5]`", "`[2, 7]`")
        .replace("**five**", "**six**")
        .replace("\n", ends)
    )
    assert updated(text, checked(text)) == new


def test_a_page_made_of_more_than_its_file_is_refused():
    with pytest.raises(ValueError, match="has fences or claims that its file doesn't"):
        updated("# Nothing\n", checked(TEXT))


def run_of(text: str, outputs: list[str], values: list[object]) -> Checked:
    """A page whose prompts gave these outputs, and whose claims `c0`, `c1` … these values."""
    page = parse("p.md", text)
    found = DocTestParser().get_examples(page.chapter.blocks[0].code)
    examples = tuple(
        Example(one.source, one.want, got, one.lineno)
        for one, got in zip(found, outputs, strict=True)
    )
    known = {(f"c{index}", 1): Value(value, 1) for index, value in enumerate(values)}
    run = Run((BlockResult(examples=examples),), known)
    return Checked(page, run, judge(page, run), {})


DOCTEST = "```pycon\n>>> a\n1\n>>> b\nTraceback (most recent call last):\nValueError: no\n```\n"
RAISED = "Traceback (most recent call last):\n"


@table(
    ("got", "written"),
    [
        (f"{RAISED}KeyError: 'x'\n", f"{RAISED}KeyError: 'x'\n"),
        (f"so\n\n{RAISED}ValueError: yes\n", f"so\n<BLANKLINE>\n{RAISED}ValueError: yes\n"),
        ("2\n", "2\n"),
        ("", ""),
        ("\n", "<BLANKLINE>\n"),
        ("  2\n", "  2\n"),
    ],
)
@table("stack", ["", "  ...\n"])
def test_an_exception_is_written_with_its_traceback(got, written, stack):
    text = DOCTEST.replace(RAISED, f"{RAISED}{stack}")
    new = updated(text, run_of(text, ["1\n", got], []))
    assert new == DOCTEST.replace(f"{RAISED}ValueError: no\n", written)


def test_the_outputs_of_a_doctest_in_a_python_fence_are_written_too():
    text = DOCTEST.replace("pycon", "python")
    new = updated(text, run_of(text, ["7\n", f"{RAISED}ValueError: no\n"], []))
    assert new == text.replace("\n1\n", "\n7\n")


@table("got", ["```\n", ">>> x\n", "... x\n", "a\n>>> x\n", "~~~\n```\nx\n"])
def test_an_output_that_would_be_read_as_something_else_is_left_to_the_author(got):
    new = updated(DOCTEST, run_of(DOCTEST, ["1\n", got], []))
    assert new == DOCTEST


@table("value", ["*a*", "a]{ b", "a`b", "<b>", "&lt;", "a\\*", "[b](c)"])
@table("target", ["[so]", "`so`", "*so*"])
def test_a_text_is_written_only_where_it_would_be_read_as_it_is(value, target):
    text = f'{DOCTEST}\nIt is {target}{{ equals="c0" }} here.\n'
    checked = run_of(text, ["1\n", f"{RAISED}ValueError: no\n"], [value])
    new = updated(text, checked)
    after = run_of(new, ["1\n", f"{RAISED}ValueError: no\n"], [value])
    assert new == text or after.problems == []


OUTPUTS = st.text(">.` ~ab1.5\n'[],", max_size=16).map(
    lambda text: text if not text or text.endswith("\n") else f"{text}\n"
)
VALUES = st.one_of(
    st.booleans(), st.integers(-(10**6), 10**6), st.floats(allow_nan=False), st.text(max_size=6),
    st.lists(st.integers(-9, 9), max_size=3), st.lists(st.floats(-9, 9), min_size=1, max_size=3),
)  # fmt: skip
TARGETS = ["five", "5", "0.50", "−0.5", "50%", "5e-3", "30,522", "[1, 2]", "1 × 2", "[0.5, 0.25]"]
TARGETS += ["yes", "True", "so", "`so`", "`5`", "*5*", "'a'"]


@given(OUTPUTS, OUTPUTS, VALUES, VALUES, st.sampled_from(TARGETS), st.sampled_from(TARGETS))
def test_what_is_updated_once_is_updated(first, second, one, other, target, last):
    claims = [f"[{target}]" if target[0] not in "`*" else target for target in (target, last)]
    prose = " and ".join(f'{claim}{{ equals="c{n}" }}' for n, claim in enumerate(claims))
    text = f"{DOCTEST}\nSo {prose} it is.\n"
    before = run_of(text, [first, second], [one, other])
    new = updated(text, before)
    after = run_of(new, [first, second], [one, other])
    assert updated(new, after) == new
    assert len(after.problems) <= len(before.problems)
    for example in after.run.blocks[0].examples:  # what passes is what a reader sees
        if not any(problem.code == example.source for problem in after.problems):
            lines = [line.rstrip() for line in example.got.split("\n")]
            shown = [line.replace("<BLANKLINE>", "") for line in example.want.split("\n")]
            assert [re.sub(r"[\d.]+", "", line) for line in shown] == [
                re.sub(r"[\d.]+", "", line) for line in lines
            ]


BOUND = """\
Each row has [two]{ equals="n" } numbers.

```facts
Each row has two numbers: n == 2
```

```python
n = 3
```
"""


def test_a_phrase_is_never_rewritten():
    page = parse("page.md", BOUND)
    values = {("n", 0): Value(3, after=1), ("n == 2", 0): Value(False, after=1)}
    run = Run((BlockResult(),), values)
    new = updated(BOUND, Checked(page, run, judge(page, run), {}))
    assert new == BOUND.replace("[two]", "[three]")
    [problem] = parse("page.md", new).problems
    assert (problem.line, problem.message) == (
        4,
        "these words are not above the fence (- the fact, + the page)",
    )
