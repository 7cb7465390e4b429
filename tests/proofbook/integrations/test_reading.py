"""`check` sees the pages that a build sees, with what plugins and hooks make of them."""

import pytest
from books import build, build_error, make_book

from proofbook.__main__ import main
from tables import table

BLOCK = "# T\n\n```python\nx = 3\n```\n\n"
RIGHT = BLOCK + "[three]{ equals='x' }\n"
WRONG = BLOCK + "[four]{ equals='x' }\n"
PLUGINS = "site_name: t\ntheme: mkdocs\nplugins: [proofbook]\n"
HOOK = """\
def on_page_markdown(markdown, **_):
    return "\\n\\n" + markdown.replace("@@N@@", "3")
"""


def checked(folder, monkeypatch, capsys, *arguments):
    """What `proofbook check` prints in a folder, and its status."""
    monkeypatch.chdir(folder)
    status = main(["check", *arguments])
    return status, capsys.readouterr().out


@table(
    ("files", "arguments"),
    [
        ({"mkdocs.yaml": PLUGINS + "docs_dir: chapters\n"}, []),
        ({"other.yml": PLUGINS + "docs_dir: chapters\n"}, ["-f", "other.yml"]),
        (
            {"base.yml": PLUGINS, "mkdocs.yaml": "INHERIT: base.yml\ndocs_dir: chapters\n"},
            [],
        ),
    ],
)
def test_the_settings_that_mkdocs_reads_count(tmp_path, monkeypatch, capsys, files, arguments):
    pages = {"docs/index.md": "# Other\n", "chapters/index.md": WRONG}
    for name, text in {**files, **pages}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    status, told = checked(tmp_path, monkeypatch, capsys, *arguments)
    assert status == 1
    assert "chapters/index.md:7: the page says 'four', this run gives 3" in told


def test_files_that_are_no_pages_are_left_out(tmp_path, monkeypatch, capsys):
    """What MkDocs leaves out of the site: drafts, hidden folders, templates, a second index."""
    names = ("drafts/a.md", "later/b.md", ".hidden/c.md", "templates/d.md", "README.md")
    pages = {"index.md": RIGHT, **dict.fromkeys(names, WRONG)}
    config = PLUGINS + "exclude_docs: drafts/\ndraft_docs: later/\n"
    book = make_book(tmp_path, pages, config=config)
    status, told = checked(book, monkeypatch, capsys)
    assert (status, told.splitlines()[-1]) == (0, "1 chapter, 0 problems")
    assert (build(book) / "index.html").is_file()
    status, told = checked(book, monkeypatch, capsys, "docs/drafts/a.md")
    assert (status, told.splitlines()[-1]) == (1, "1 chapter, 1 problem")


def test_pages_are_checked_as_hooks_and_plugins_leave_them(tmp_path, monkeypatch, capsys):
    page = "---\ntitle: A title\n---\n" + RIGHT.replace("x = 3", "x = @@N@@")
    config = PLUGINS + "hooks: [hook.py]\n"
    book = make_book(tmp_path, {"index.md": page}, {"hook.py": HOOK}, config)
    status, told = checked(book, monkeypatch, capsys)
    assert (status, told.splitlines()[-1]) == (0, "1 chapter, 0 problems")
    assert "this run" not in (build(book) / "index.html").read_text()
    (book / "docs" / "index.md").write_text(page.replace("[three]", "[four]"))
    status, told = checked(book, monkeypatch, capsys)
    assert status == 1
    assert "the page says 'four', this run gives 3" in told
    assert "the page says 'four', this run gives 3" in build_error(book)


def test_a_hook_that_fails_is_told_and_the_other_pages_are_checked(tmp_path, monkeypatch, capsys):
    hook = "def on_page_markdown(markdown, page, **_):\n    return 1 / len(page.file.name[1:])\n"
    hook += "    return markdown\n"
    hook = hook.replace("return 1 /", "1 /")
    config = PLUGINS + "hooks: [hook.py]\n"
    pages = {"index.md": WRONG, "a.md": RIGHT}
    book = make_book(tmp_path, pages, {"hook.py": hook}, config)
    status, told = checked(book, monkeypatch, capsys)
    assert status == 1
    assert "docs/a.md:1: a plugin or hook fails on this page: ZeroDivisionError" in told
    assert "docs/index.md:7: the page says 'four'" in told


def test_a_tag_of_mkdocs_in_the_settings_is_understood(tmp_path, monkeypatch, capsys):
    config = PLUGINS + "markdown_extensions:\n  - pymdownx.snippets: {base_path: [!relative "
    book = make_book(
        tmp_path,
        {"index.md": '--8<-- "part.md"\n'},
        {"part.md": WRONG},
        config + "$config_dir]}\n",
    )
    status, told = checked(book, monkeypatch, capsys)
    assert status == 1
    assert "the page says 'four', this run gives 3" in told


@table(
    ("setting", "message"),
    [
        ("preload: [no_such_package]", "preload: no package 'no_such_package' is installed"),
        ("first: [no.md]", "first: the book has no page no.md"),
    ],
)
def test_settings_that_name_nothing_are_refused_by_check_and_build(
    tmp_path, monkeypatch, capsys, setting, message
):
    config = f"site_name: t\nplugins:\n  - proofbook: {{{setting}}}\n"
    book = make_book(tmp_path, {"index.md": RIGHT}, config=config)
    status, told = checked(book, monkeypatch, capsys)
    assert status == 1
    assert message in told
    with pytest.raises(SystemExit):
        build(book)


def test_pages_of_other_plugins_are_named_as_unchecked(tmp_path, monkeypatch, capsys):
    notebook = '{"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    options = "{execute: true, allow_errors: false, cache: false}"
    config = f"site_name: t\nplugins:\n  - proofbook\n  - mkdocs-jupyter: {options}\n"
    book = make_book(tmp_path, {"index.md": RIGHT, "lab.ipynb": notebook}, config=config)
    status, told = checked(book, monkeypatch, capsys)
    assert (status, told.splitlines()[-1]) == (0, "1 chapter, 0 problems")
    assert "not checked: 1 page of another plugin: docs/lab.ipynb" in told
