"""A page is cut into its sentences, and nothing but its sentences."""

from proofbook.coverage.sentences import sentences, unbound
from proofbook.parsing.page import parse
from proofbook.parsing.source import read
from tables import table


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(read(text))]


@table(
    ("text", "found"),
    [
        ("One is. Two is! Three is? Four", ["One is.", "Two is!", "Three is?", "Four"]),
        ("A line\ngoes on. It ends.", ["A line\ngoes on.", "It ends."]),
        ("> A quote\n> goes on. So.", ["A quote\n> goes on.", "So."]),
        ("- one\n- two. So\n  on\n* three\n\n  Go.", ["one", "two.", "So\n  on", "three", "Go."]),
        ("1. one\n2) two\n- [ ] three", ["one", "two", "three"]),
        ("| a | b |\n|---|:-:|\n| c. D | e |\n| f | g |", ["| c. D | e |", "| f | g |"]),
        ("a | b\n--|--\nc. D | e", ["c.", "D | e"]),
        ("term\n:   Its meaning. So.", ["Its meaning.", "So."]),
        ("Term { #id }\n\n:   Its meaning.", ["Its meaning."]),
        ("He says.[^1] So.\n\n[^1]: It. Is.", ["He says.[^1]", "So.", "It.", "Is."]),
        ("<figure>\n<figcaption>It is. So.</figcaption>\n</figure>", ["It is.", "So."]),
        ('!!! note "It. Is"\n    It is. So.', ["It is.", "So."]),
        ('=== "A tab. So"\n\n    It is.', ["It is."]),
        ('He says "It is." He nods (so.) So.', ['He says "It is."', "He nods (so.)", "So."]),
        ("**It is.** So.", ["**It is.**", "So."]),
        ("[It is.]{ holds='x' } So.", ["[It is.]{ holds='x' }", "So."]),
        ("It is so:\n\n$$\nx. Y\n$$\n\nSo.", ["It is so:", "So."]),
        ("It is.\n{ .lead }\n\nSo.", ["It is.", "So."]),
        ("It is.\n\n*[API]: A Name. So\n\n[so]: http://a.b 'C. D'", ["It is."]),
    ],
)  # fmt: skip
def test_each_sentence_stands_alone(text, found):
    assert cut(text) == found


@table(
    "inside",
    [
        "`a. B`",
        "``a ` . B``",
        "$a. B$",
        "\\(a. B\\)",
        "[a. B](c.md 'D. E')",
        "[a](b.md 'C. D')",
        "[a. B]{ equals='f(\"C. D\")' }",
        "`a`{ equals='f(\"C. D\")' }",
        "[…]{ value='a' holds='\"B. C\"' }",
        "[…]{ value='a' holds='b' } GB",
        "[a]{ equals='f\"{b. C}. D\"' }",
        "*a*{ #b title='C. D' }",
        "<span title='A. B'>c</span>",
        "e.g. BERT, i.e. That",
        "Fig. 3, cf. Eq. 2",
        "3.5",
        "J. Doe",
        "etc. and so on",
        "<https://a.b/C. D>",
        "Vaswani et al. (2017)",
    ],
)
def test_nothing_inside_ends_a_sentence(inside):
    assert cut(f"It has {inside} in it. So.") == [f"It has {inside} in it.", "So."]
    assert cut(f"It has {inside}. So.") == [f"It has {inside}.", "So."]
    assert cut(f"It is. `x` has {inside}.") == ["It is.", f"`x` has {inside}."]


@table(
    "text",
    [
        "# It is. So.\n\n###### It is.",
        "It is. So.\n===\n\nIt is.\n---",
        "```python\nIt is. So.\n```",
        "~~~\nIt is.\n~~~",
        "<!-- It is. -->",
        "<!--\nIt is.\n\nSo.\n-->",
        "$$\nx. Y\n$$",
        "| a | b |\n|---|---|",
        "- - -",
        "{ .lead }",
        "3.5",
        "",
    ],
)
def test_what_is_no_sentence(text):
    assert cut(text) == []
    assert cut(f"{text}\n\nSo it is.\n\n{text}\n") == ["So it is."]


TEXT = """---
title: A page
---

# It is a heading.

```python
x = [3, 4]
```

It is a list. It holds
numbers. There are [two]{ equals="len(x)" } of them. Sort it.

<!-- It is a comment. -->
"""


def test_what_is_bound_is_left_out_and_lines_are_those_of_the_file():
    page = parse("page.md", TEXT)
    [claim] = page.source.spans
    free = [(11, "It is a list."), (11, "It holds numbers."), (12, "Sort it.")]
    assert list(unbound(page, [(claim.start, claim.end)])) == free
    for phrase in ("It is a list", "list", "I", "list."):  # any part of a sentence binds it
        first = page.source.text.index(phrase, page.source.text.index("It is a list"))
        bound = [(first, first + len(phrase)), (claim.start, claim.end)]
        assert list(unbound(page, bound)) == free[1:], phrase
