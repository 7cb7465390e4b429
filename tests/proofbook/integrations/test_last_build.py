"""A build ends at once if, and only if, it would make the site that is there already."""

import shutil

import pytest
from books import build, build_error, make_book, run_in

PAGES = {
    "index.md": "# Home\n",
    "a.md": "# A\n\n```python\nimport helper\n\nhelper.greet() + open('data.txt').read()\n```\n",
}
HOOK = """\
from pathlib import Path

def on_env(env, **_):
    env.globals["there"] = (Path(__file__).parents[1] / "elsewhere.txt").read_text()
"""
FILES = {
    "src/helper.py": "def greet():\n    return 'hello'\n",
    "data.txt": "seven",
    "hook.py": HOOK,
    "overrides/404.html": "<p>missing</p>\n",
}
CONFIG = """\
site_name: x
theme: {name: mkdocs, custom_dir: overrides}
hooks: [hook.py]
plugins: [search, proofbook]
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("books")
    (folder / "elsewhere.txt").write_text("there")
    book = make_book(folder / "book", PAGES, FILES, CONFIG)
    for is_said in (False, True):
        ended = run_in(book, "mkdocs", "build")
        assert (ended.returncode, "Nothing has changed" in ended.stderr) == (0, is_said)
    is_built(book)  # this process has other modules
    return book


def is_built(book, **options):
    """Build in this process; return whether that did anything."""
    try:
        build(book, **options)
    except SystemExit as end:
        return end.code != 0
    return True


def edit(name, text):
    return lambda book: (book / name).write_text(text)


CHANGES = {
    "a page's prose": edit("docs/index.md", "# Home again\n"),
    "a new page": edit("docs/b.md", "# B\n"),
    "a module": edit("src/helper.py", "def greet():\n    return 'hallo'\n"),
    "a file that a page opens": edit("data.txt", "eleven"),
    "a setting": edit("mkdocs.yml", CONFIG.replace("site_name: x", "site_name: y")),
    "a template": edit("overrides/404.html", "<p>gone</p>\n"),
    "a hook": edit("hook.py", HOOK + "    env.globals['x'] = 5\n"),
    "a file that a hook opens": edit("../elsewhere.txt", "here"),
    "an edited file of the site": edit("site/a/index.html", ""),
    "another file in the site": edit("site/other.html", ""),
    "a deleted file of the site": lambda book: (book / "site/index.html").unlink(),
    "a deleted site": lambda book: shutil.rmtree(book / "site"),
    "a damaged record": lambda book: next(book.glob(".cache/proofbook/built-*")).write_text("{"),
}


def test_a_build_ends_at_once_until_something_changes(built, subtests, monkeypatch):
    for name, change in CHANGES.items():
        with subtests.test(name):
            assert not is_built(built), "nothing has changed yet"
            change(built)
            assert is_built(built)
    monkeypatch.setenv("SOMETHING", "else")
    assert is_built(built)
    assert not is_built(built)


def test_another_command_line_is_another_build_but_for_strictness(built, subtests):
    is_built(built)
    assert not is_built(built, strict=True)
    for options in (
        {"site_dir": str(built / "site2")},
        {"use_directory_urls": False},
        {"dirty": True},
        {"theme": "readthedocs"},
    ):
        with subtests.test(str(options)):
            assert is_built(built, **options)
            is_built(built)


def test_a_build_that_warned_or_failed_is_built_again(tmp_path):
    book = make_book(tmp_path, {"a.md": "# A\n"})
    assert [is_built(book), is_built(book)] == [True, False]
    (book / "docs" / "a.md").write_text("# A\n\n[nowhere](b.md)\n")
    assert [is_built(book), is_built(book)] == [True, True]
    (book / "docs" / "a.md").write_text("# A\n\n```python\n1 / 0\n```\n")
    for _ in range(2):
        assert "ZeroDivisionError" in build_error(book)
