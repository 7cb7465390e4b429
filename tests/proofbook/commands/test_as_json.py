"""`check --format json` writes one document, which says all that the text says."""

import json

import pytest
from books import make_book

from proofbook.__main__ import main
from proofbook.problems import Problem
from tables import table

RIGHT = "# A\n\n```python\nx = 2\n```\n\n[two]{ equals='x' } and 3\n"
WRONG = "# B\n\n```python\ny = 3\n```\n\nÄ [two]{ equals='y + 0' }\n\n[`y`]{ equals='z' }\n"
FACT = "# C\n\n```python\nz = [1]\n```\n\nIt is short.\n\n```facts\nIt is short: len(z) < 2\n```\n"


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.chdir(make_book(tmp_path, {"right.md": RIGHT, "wrong.md": WRONG}))
    return tmp_path


def document(capsys, *arguments):
    """The exit status, and what stdout has, parsed."""
    capsys.readouterr()
    status = main(["check", "--format", "json", *arguments])
    told = capsys.readouterr()
    return status, json.loads(told.out), told.err


def test_it_says_what_the_text_says(book, capsys):
    assert main(["check"]) == 1
    text = capsys.readouterr().out
    status, found, progress = document(capsys)
    assert status == 1
    assert {name: found[name] for name in ("version", "passes", "coverage", "facts")} == {
        "version": 1,
        "passes": False,
        "coverage": None,
        "facts": None,
    }
    keys = ["path", "line", "column", "message", "code", "detail"]
    assert [list(one) for one in found["problems"]] == [keys, keys]
    for one in found["problems"]:
        assert one.pop("column") == WRONG.split("\n")[one["line"] - 1].index(one["code"]) + 1
        assert str(Problem(**one)) in text
    assert "docs/right.md: 1 block, 1 claim, cached\n" in progress


def test_it_tells_how_each_page_was_run(book, capsys):
    (book / "docs/run.md").write_text("```python\nimport os\nos.system('')\n```\n")
    pages = {one["path"]: one for one in document(capsys)[1]["pages"]}
    assert 0 < pages["docs/right.md"].pop("seconds") < 60
    assert pages["docs/right.md"] == {
        "path": "docs/right.md",
        "blocks": 1,
        "claims": 1,
        "cached": False,
        "unkept": [],
    }
    assert ["reads:" in reason for reason in pages["docs/run.md"]["unkept"]] == [True]
    pages = {one["path"]: one for one in document(capsys)[1]["pages"]}
    assert pages["docs/right.md"]["cached"]
    assert not pages["docs/run.md"]["cached"]


def test_coverage_is_there_when_asked_for(book, capsys):
    status, found, _ = document(capsys, "--coverage", "docs/right.md")
    assert status == 1
    assert found["problems"] == []
    assert not found["passes"]
    [page] = found["coverage"].pop("pages")
    assert found["coverage"] == {"whole": False}
    assert page["uncovered"] == [{"line": 7, "kind": "numeral", "text": "3"}]
    assert (page["path"], page["candidates"], page["covered"]) == ("docs/right.md", 2, 1)
    (book / "docs/right.md").write_text(RIGHT.replace(" and 3", ""))
    status, found, _ = document(capsys, "--coverage", "docs/right.md")
    assert (status, found["passes"], found["coverage"]["whole"]) == (0, True, True)


def test_facts_are_there_when_errors_are_planted(book, capsys):
    (book / "docs/fact.md").write_text(FACT)
    status, found, _ = document(capsys, "--against", "docs/fact.md")
    assert status == 1
    assert not found["passes"]
    fact = {"path": "docs/fact.md", "line": 10, "text": "It is short"}
    assert found["facts"] == [{**fact, "noticed": False, "survived": []}]


@table(
    ("name", "content", "line"),
    [("docs/latin.md", "é".encode("latin-1"), 1), ("mkdocs.yml", b"site_name: x\na: !no x\n", 2)],
)
def test_what_cannot_be_read_is_a_problem_too(book, capsys, name, content, line):
    (book / name).write_bytes(content)
    status, found, _ = document(capsys)
    assert status == 1
    assert {(one["path"], one["line"], one["column"]) for one in found["problems"]} >= {
        (name, line, None)
    }


def test_a_code_that_is_twice_in_its_line_has_no_column(book, capsys):
    (book / "docs/wrong.md").write_text("# B\n\n```python\ny = 3\n```\n\nby [two]{ equals='y' }\n")
    [problem] = document(capsys)[1]["problems"]
    assert (problem["line"], problem["code"], problem["column"]) == (7, "y", None)


def test_it_is_alone_whatever_hooks_print(book, capsys):
    (book / "hook.py").write_text("print('loaded')\ndef on_config(config):\n    print('opened')\n")
    with (book / "mkdocs.yml").open("a") as config:
        config.write("hooks: [hook.py]\n")
    status, found, progress = document(capsys)
    assert (status, len(found["problems"])) == (1, 2)
    assert "loaded\nopened\n" in progress
