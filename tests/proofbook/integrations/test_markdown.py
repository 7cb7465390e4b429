"""The Markdown extension alone runs the page that it is given, and stops at what is wrong."""

import pytest
from books import make_book, run_in
from markdown import Markdown

from proofbook.integrations.markdown import makeExtension
from proofbook.problems import ChapterError

PAGE = "---\ntitle: x\n---\n\n# Page\n\n```python\nx = 2\nx\n```\n\n[two]{ equals='x' }\n"
BODY = PAGE.split("---\n\n")[1]


def convert(book, text: str) -> str:
    extension = makeExtension(config_file=str(book / "mkdocs.yml"), timeout=9)
    return Markdown(extensions=["toc", extension]).convert(text)


def test_it_finds_the_file_and_line(tmp_path):
    book = make_book(tmp_path, {"a/b.md": PAGE.replace("two", "three")})
    with pytest.raises(ChapterError, match=r"docs/a/b\.md:12: the page says 'three'"):
        convert(book, BODY.replace("two", "three"))


def test_a_text_that_is_no_file_is_run_too(tmp_path):
    with pytest.raises(ChapterError, match=r"<page>:1: this claim cannot be checked"):
        convert(make_book(tmp_path, {}), "[1]{ equals='undefined' }")


def test_an_asset_travels_within_the_page(tmp_path):
    code = """\
```python
from pathlib import Path

class View:
    def _repr_page_(self):
        Path("view.js").write_text("draw()")
        return '<script src="asset://view.js"></script>', {"view.js": Path("view.js").resolve()}

View()
```
"""
    shown = convert(make_book(tmp_path, {}), code)
    assert 'src="data:text/javascript;base64,ZHJhdygp"' in shown


def test_it_is_enough_in_a_builder_without_plugins(tmp_path):
    config = "site_name: x\nplugins: []\nmarkdown_extensions: [proofbook]\n"
    book = make_book(tmp_path, {"index.md": PAGE, "other.md": PAGE}, config=config)
    done = run_in(book, "mkdocs", "build", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert 'proofbook-claim">two' in (book / "site" / "other" / "index.html").read_text()
    (book / "docs" / "other.md").write_text(PAGE.replace("two", "three"))
    done = run_in(book, "mkdocs", "build", "-q")
    assert done.returncode == 1
    assert "docs/other.md:12: the page says 'three', this run gives 2" in done.stderr
