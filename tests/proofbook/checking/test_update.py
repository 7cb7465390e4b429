"""Outputs and claims are rewritten in the style that they have."""

import pytest

from proofbook.checking.book import Checked
from proofbook.checking.compare import prints, says
from proofbook.checking.update import reprinted, rewritten, updated
from proofbook.model import BlockResult, Example, Run, Value
from proofbook.parsing.page import parse


@pytest.mark.parametrize(
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


@pytest.mark.parametrize(
    ("want", "got", "new"),
    [
        ("tensor([0.1, 0.2])", "tensor([0.1000, 0.3000])", "tensor([0.1, 0.3])"),
        ("1.235", "2.3461", "2.346"),
        ("tensor([1.])", "tensor([2.])", "tensor([2.])"),
        ("1", "2.5", "2.5"),
        ("[1, 2]", "[1, 3]", "[1, 3]"),
        ("tensor([1.])", "tensor([1., 2.])", "tensor([1., 2.])"),
        ("1.2e-05", "3.4567e-06", "3.5e-06"),
    ],
)
def test_an_output_is_written_with_as_many_digits(want, got, new):
    assert reprinted(want, got) == new
    assert prints(new, got)


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


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
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
    with pytest.raises(ValueError, match="holds fences or claims that its file does not"):
        updated("# Nothing\n", checked(TEXT))
