"""The front matter of a page, and the values that it gives for symbols."""

from mkdocs.utils.meta import get_data

from proofbook.parsing.front_matter import split_front_matter, symbol_values
from proofbook.parsing.page import parse
from tables import table

DEEP = "not " * 3000 + "x"
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


def test_values_are_claims_at_the_end_of_the_page():
    page = parse("page.md", PAGE)
    assert not page.problems
    assert page.claims == {0: 0}
    assert page.symbols == {"d_k": 1, "Q": 2}
    claims = [page.chapter.claims[number] for number in page.symbols.values()]
    assert [claim.expressions for claim in claims] == [("width",), ("list(range(width))",)]
    assert [(claim.line, claim.place) for claim in claims] == [(4, 1), (5, 1)]


@table(
    ("header", "fault"),
    [
        ("symbols:\n  a: 3 +", (3, "symbols: a: not an expression", "3 +")),
        (f"symbols:\n  a: {DEEP}", (3, "symbols: a: not an expression: nested too deeply", DEEP)),
        ("x: 1\nsymbols:\n  a: [b, c]", (4, "symbols: a: not an expression", "")),
    ],
)
def test_what_is_no_expression_is_a_problem_with_its_line(header, fault):
    line, message, code = fault
    [problem] = parse("page.md", f"---\n{header}\n---\n\n# Here\n").problems
    assert (problem.path, problem.line, problem.code) == ("page.md", line, code)
    assert problem.message.startswith(message)


@table(
    "text",
    [
        "# Here\n\nsymbols:\n  a: b\n",
        "---\ntitle: symbols: x\n---\n",
        "---\nsymbols: a\n---\n",
        "---\nother:\n  symbols:\n    a: b\n---\n",
        "---\n- symbols:\n---\n",
        "---\nsymbols:\n  ? [a, b]\n  : c\n---\n",
        "---\n? [symbols]\n: {a: b}\n---\n",
    ],
)
def test_nothing_else_gives_values(text):
    assert symbol_values(text, 3) == ({}, [])


def test_files_that_a_page_reads_have_their_lines():
    page = parse("page.md", "---\ntitle: A\nreads:\n  - data/b.txt\n  - 'a/*.txt'\n---\n\nText.\n")
    assert not page.problems
    assert page.reads == {"data/b.txt": 4, "a/*.txt": 5}
    assert page.chapter.reads == ("a/*.txt", "data/b.txt")


@table(
    ("header", "line"),
    [
        ("reads: data.txt", 2),
        ("x: 1\nreads:", 3),
        ("reads:\n  a: b", 3),
        ("reads:\n  - a.txt\n  - [b]", 4),
        ("reads:\n  - ''", 3),
        ("reads: [a.txt, {b: c}]", 2),
    ],
)
def test_what_names_no_files_is_a_problem(header, line):
    [problem] = parse("page.md", f"---\n{header}\n---\n\nText.\n").problems
    assert problem.message == "reads: list the files, each on its own line after `- `"
    assert problem.line == line


def test_a_file_that_is_not_there_is_a_problem_at_its_line(tmp_path):
    from proofbook.checking.book import Book
    from proofbook.settings import Settings

    (tmp_path / "here.txt").write_text("")
    text = "---\nreads:\n  - here.txt\n  - gone.txt\n  - data/*.txt\n---\n\nText.\n"
    with Book(Settings(tmp_path)) as book:
        [checked] = book.check({"page.md": text})
    assert [(problem.line, problem.message) for problem in checked.problems] == [
        (4, "reads: 'gone.txt' matches no file, starting from the project's root"),
        (5, "reads: 'data/*.txt' matches no file, starting from the project's root"),
    ]


@table(
    "header",
    ["It is so.", "", "- a", "5", "{", "a: b: c", "? [a]\n: b", "a: 2026-99-99", "a: !!x/y z"],
)
def test_what_is_no_mapping_stands_on_the_page_and_is_checked(header):
    text = f"---\n{header}\n\n[6]{{ equals='1' }}\n\n---\n"
    assert get_data(text)[0] == text
    page = parse("page.md", text)
    assert [claim.line for claim in page.chapter.claims] == [header.count("\n") + 4]


@table("header", ["a: b", "a:", "{}", "a: b\n...\n\n---"])
def test_front_matter_ends_where_mkdocs_ends_it(header):
    text = f"---\n{header}\n---\n\n\n# Here\n"
    body, lines = split_front_matter(text)
    assert body == get_data(text)[0]
    assert text.split("\n")[lines:] == body.split("\n")
