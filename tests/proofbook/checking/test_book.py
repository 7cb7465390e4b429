"""A book checks its pages together, and again where their text has changed."""

from dataclasses import replace

import pytest
from books import make_book

from proofbook.checking.book import Book
from proofbook.integrations.reading import load
from tables import table

PAGE = "---\ntitle: x\n---\n\n```python\nx = 2\n```\n\n[two]{ equals='x' }\n"


@pytest.fixture
def book(tmp_path):
    make_book(tmp_path, {"a/b.md": PAGE})
    with Book(load(tmp_path / "mkdocs.yml")) as opened:
        yield opened


def test_a_page_is_known_by_its_text_and_checked_anew_when_that_differs(book):
    (known,) = book.check({"a.md": PAGE})
    assert book.of("a.md", known.page.source.text) is known
    other = book.of("a.md", known.page.source.text.replace("two", "three"))
    assert [problem.message for problem in other.problems] == [
        "the page says 'three', this run gives 2"
    ]


def test_a_page_that_nobody_announced_is_checked_in_every_build_once_it_holds_code(book):
    code = "```python\nx = 2\n```\n\n[three]{ equals='x' }\n"
    for _ in range(2):
        bare = book.of("made.md", "# Made\n")
        assert not bare.page.chapter.blocks
        book.renew(book.settings)
    for _ in range(2):
        assert len(book.of("made.md", code).problems) == 1
        book.renew(book.settings)
    assert book.of("made.md", "# Made\n").page.source.text == "# Made\n"


def test_other_settings_begin_anew_and_the_same_keep_what_runs(book):
    book.check({"a.md": PAGE})
    runner = book._runner
    extensions = [name for name in book.settings.extensions if name != "admonition"]
    book.renew(replace(book.settings, extensions=tuple(extensions)))
    (checked,) = book.check({"a.md": "!!! note\n\n    ```python\n    x\n    ```\n"})
    assert checked.page.chapter.blocks == ()
    assert book._runner is not runner
    runner = book._runner
    book.renew(replace(book.settings))
    assert book._runner is runner


def test_files_are_named_from_the_root_and_found_by_their_text(book, tmp_path):
    assert book.name(tmp_path / "docs" / "a" / "b.md") == "docs/a/b.md"
    assert book.name(tmp_path.parent / "b.md") == str(tmp_path.parent / "b.md")
    body = PAGE.split("---\n\n")[1]
    assert book.find(body + "\n\n") == ("docs/a/b.md", PAGE)
    assert book.find("other") == ("<page>", "other")


@table(
    ("target", "message"),
    [("no.such:f", "no source file for a module 'no.such'"), ("this:f", "defines no 'f'")],
)
def test_show_that_names_nothing_is_a_problem(book, target, message):
    (checked,) = book.check({"a.md": f'# A\n\n```python show="{target}"\n```\n'})
    (problem,) = checked.problems
    assert (problem.line, problem.code) == (3, target)
    assert message in problem.message


def test_show_of_one_statement_shows_that_or_is_a_problem(book):
    fence = '```python show="this" only="{}"\n```\n'
    (checked,) = book.check({"a.md": fence.format("d = {") + "\n" + fence.format("no such")})
    (problem,) = checked.problems
    assert (problem.line, problem.code) == (4, "this")
    assert "'no such' is nowhere in this" in problem.message
    assert [shown.code for shown in checked.sources.values()] == ["d = {}"]


@table(
    "code",
    [
        "def word(condition, one, other):\n    return other",
        "word = lambda *words: words[2]",
        "from json import dumps as word",
        "for word in ('a', 'b'):\n    pass",
        "globals()['word'] = print",
    ],
)
def test_a_pages_own_word_is_not_taken_for_the_engines(book, code):
    text = "```python\nx = 3\n{}\n```\n\nIt is [odd]{{ equals=\"word(x % 2, 'odd', 'even')\" }}.\n"
    pages = {"a.md": text.format(code), "b.md": text.format(code.replace("word", "term"))}
    own, mended = book.check(pages)
    assert "a block of the page defines word, but claims need that name" in str(own.problems[0])
    assert mended.problems == []
