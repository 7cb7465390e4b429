"""The command line checks and updates files, folders, or the whole book."""

import pytest
from books import make_book

from proofbook.__main__ import main
from tables import table

RIGHT = "```python\nx = 2\n```\n\n[two]{ equals='x' }\n"
WRONG = "# B\n\n```python\ny = 3\n```\n\n```pycon\n>>> y\n4\n```\n\n[two]{ equals='y' }\n"


@pytest.fixture
def book(tmp_path, monkeypatch):
    monkeypatch.chdir(make_book(tmp_path, {"right.md": RIGHT, "part/wrong.md": WRONG}))
    return tmp_path


def test_check_tells_file_line_code_and_difference(book, capsys):
    assert main(["check"]) == 1
    told = capsys.readouterr().out
    assert "docs/right.md: 1 block, 1 claim, " in told
    assert "docs/part/wrong.md:8: the output differs" in told
    assert "    | y\n    - 4\n    + 3" in told
    assert "docs/part/wrong.md:12: the page says 'two', this run gives 3\n    | y" in told
    assert told.endswith("2 chapters, 2 problems\n")
    assert not (book / "site").exists()


@table(
    ("path", "status", "count"),
    [("docs/right.md", 0, "1 chapter, 0"), ("docs/part", 1, "1 chapter, 2"), ("no.md", 1, "1")],
)
def test_check_takes_a_file_or_a_folder(book, capsys, path, status, count):
    assert main(["check", path]) == status
    assert f"{count} problem" in capsys.readouterr().out.splitlines()[-1]


def test_update_rewrites_what_differs_and_then_all_passes(book, capsys):
    assert main(["update", "docs"]) == 0
    assert (book / "docs" / "right.md").read_text() == RIGHT
    assert (book / "docs" / "part" / "wrong.md").read_text() == WRONG.replace("4\n", "3\n").replace(
        "[two]", "[three]"
    )
    assert "docs/part/wrong.md: updated" in capsys.readouterr().out


def test_update_cannot_make_a_fact_hold(book):
    page = book / "docs" / "right.md"
    page.write_text(RIGHT + "\n`x > 5`{ holds }\n")
    assert main(["update", "docs/right.md"]) == 1
    assert "`x > 5`{ holds }" in page.read_text()


def test_check_reads_pages_of_every_ending_and_tells_what_it_cannot_read(book, capsys):
    (book / "docs" / "other.markdown").write_text(WRONG)
    (book / "docs" / "latin.mkd").write_bytes("é".encode("latin-1"))
    assert main(["check"]) == 1
    told = capsys.readouterr().out
    assert "docs/other.markdown:12: the page says 'two', this run gives 3" in told
    assert "docs/latin.mkd:1: this file cannot be read" in told
    assert told.endswith("4 chapters, 5 problems\n")


def test_settings_of_no_use_are_told_in_a_line(book, capsys):
    (book / "mkdocs.yml").write_text("site_name: x\na: !unknown x\n")
    assert main(["check"]) == 1
    assert capsys.readouterr().out.startswith(
        "mkdocs.yml:2: these settings cannot be used: MkDocs encountered an error"
    )
