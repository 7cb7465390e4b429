"""A served book is, after each edit, what a clean build of it would be, byte for byte."""

import os
import random
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from books import make_book
from jinja2 import Template
from markdown import Markdown
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

CONFIG = """\
site_name: A served book
theme: {name: material, font: false, custom_dir: overrides}
use_directory_urls: true
markdown_extensions:
  - abbr
  - admonition
  - footnotes
  - tables
  - toc: {permalink: "#"}
  - proofbook.maths: {symbols: symbols.md}
plugins:
  - search
  - proofbook: {sources: [lib], environment: [BOOK_MODE]}
nav:
  - index.md
  - Part one: [one.md, two.md]
  - symbols.md
  - Summary: verified.md
"""
CHAPTER = """\
---
symbols: {{d: "width"}}
---

# Chapter {name}

The width is [8]{{ equals="width" }}, see [the other]({other}.md#more) and $d$.

```python
from helper import width

width
```

## More

A note.[^1]

```python show="helper:double"
```

[^1]: Of {name}.
"""
PAGES = {
    "index.md": "# Home\n\nTo [one](one.md), [two](two.md#more).\n",
    "one.md": CHAPTER.format(name="one", other="two"),
    "two.md": CHAPTER.format(name="two", other="one"),
    "symbols.md": "# Symbols\n\n| sign | meaning |\n|---|---|\n| $d$ { #d } | the width |\n",
    "verified.md": '# Verified\n\n<div data-verified="totals"></div>\n\n'
    '<div data-verified="pages"></div>\n',
    "useless.md": "# Useless\n\nIt goes.\n",
    "alone.md": "# Alone\n\nNothing leads here.\n",
}
HELPER = "width = 8\n\n\ndef double(x):\n    return 2 * x\n"
FILES = {
    "lib/helper.py": HELPER,
    "overrides/main.html": '{% extends "base.html" %}\n',
    "docs/extra.txt": "Copied as it is.\n",
}
RUN_NOW = {"verified.json", "verified/index.html"}  # they say which pages ran in this build
ADDRESS = "http://127.0.0.1:8123/"


class Session:
    """A book as `mkdocs serve` builds it: again and again, in one process."""

    def __init__(self, book: Path) -> None:
        self.book = book
        self.config = self._load(book / "served")
        self.config.plugins.on_startup(command="serve", dirty=False)
        self.build(self.config)

    def _load(self, site: Path) -> MkDocsConfig:
        config = load_config(str(self.book / "mkdocs.yml"), site_dir=str(site))
        config.site_url = ADDRESS
        return config

    def build(self, config: MkDocsConfig | None = None) -> dict[str, bytes]:
        """Build after an edit; gives the files of the site."""
        config = config or self._load(self.book / "served")
        mkdocs_build(config, serve_url=ADDRESS)
        return contents(Path(config.site_dir))

    def clean(self) -> dict[str, bytes]:
        """Build with nothing kept but the runs, as the first build of a session would."""
        config = self._load(self.book / "clean")
        config.plugins.on_startup(command="serve", dirty=False)
        try:
            return self.build(config)
        finally:
            config.plugins.on_shutdown()

    def close(self) -> None:
        self.config.plugins.on_shutdown()


def contents(site: Path) -> dict[str, bytes]:
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items()}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Session]:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    opened = Session(make_book(tmp_path, PAGES, FILES, CONFIG))
    yield opened
    opened.close()


def changed(book: Path, name: str, change: Callable[[str], str]) -> None:
    path = book / name
    path.write_text(change(path.read_text()))
    later = time.time() + random.uniform(2, 9)
    os.utime(path, (later, later))


def appended(name: str, text: str) -> Callable[[Path], None]:
    return lambda book: changed(book, name, lambda before: before + text)


def replaced(name: str, old: str, new: str) -> Callable[[Path], None]:
    def edit(book: Path) -> None:
        assert old in (book / name).read_text()
        changed(book, name, lambda before: before.replace(old, new))

    return edit


def added(book: Path) -> None:
    (book / "docs/new.md").write_text("# New\n\nTo [one](one.md).\n")


def removed(book: Path) -> None:
    (book / "docs/useless.md").unlink()


def moved(book: Path) -> None:
    shutil.move(book / "docs/alone.md", book / "docs/on-its-own.md")


EDITS: dict[str, Callable[[Path], None]] = {
    "prose": appended("docs/one.md", "\nMore prose.\n"),
    "title": replaced("docs/two.md", "# Chapter two", "# Chapter the second"),
    "heading": replaced("docs/two.md", "## More", "## Much more { #more }"),
    "anchor": replaced("docs/one.md", "## More", "## Less"),
    "symbol": replaced("docs/symbols.md", "the width", "how wide it is"),
    "prose of symbols": appended("docs/symbols.md", "\nNo symbol.\n"),
    "link": appended("docs/index.md", "\nTo [one again](one.md#more) and [all](verified.md).\n"),
    "broken link": appended("docs/index.md", "\nTo [nowhere](nowhere.md).\n"),
    "code": appended("docs/one.md", "\n```python\nprint(width + 1)\n```\n"),
    "figure": appended("docs/one.md", "\n```python\nprint(2 * width)\n```\n\n*Shown.*\n"),
    "failing block": appended("docs/one.md", "\n```python\n1 / 0\n```\n"),
    "false claim": replaced("docs/two.md", "[8]", "[7]"),
    "module": appended("lib/helper.py", "\n\ndef triple(x):\n    return 3 * x\n"),
    "shown source": replaced("lib/helper.py", "return 2 * x", "return x + x"),
    "value": replaced("lib/helper.py", "width = 8", "width = 9"),
    "front matter": replaced("docs/index.md", "# Home", "---\ntitle: At home\n---\n\n# Home"),
    "static file": appended("docs/extra.txt", "More of it.\n"),
    "template": appended("overrides/main.html", "{% block footer %}Foot{% endblock %}\n"),
    "settings": replaced("mkdocs.yml", "A served book", "A book that is served"),
    "added page": added,
    "removed page": removed,
    "moved page": moved,
}


def check(session: Session, kind: str) -> None:
    """Make an edit; the site must be that of a clean build, but for who ran when."""
    EDITS[kind](session.book)
    first, clean = session.build(), session.clean()
    assert set(differing(first, clean)) <= RUN_NOW, kind
    assert differing(session.build(), clean) == [], kind


def test_after_ten_random_edits_the_site_is_that_of_a_clean_build(session):
    for kind in random.Random(17).sample(sorted(EDITS), 10):
        check(session, kind)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(5))
def test_after_many_random_edits_the_site_is_that_of_a_clean_build(session, seed):
    kinds = sorted(EDITS)
    random.Random(seed).shuffle(kinds)
    for kind in kinds:
        check(session, kind)


def test_an_edit_of_prose_converts_and_fills_in_one_page(session, monkeypatch):
    converted, filled = [], []
    convert, render = Markdown.convert, Template.render

    def counting_convert(md, text):
        converted.append(text)
        return convert(md, text)

    def counting_render(template, *args, **kwargs):
        filled.append(template.name)
        return render(template, *args, **kwargs)

    monkeypatch.setattr(Markdown, "convert", counting_convert)
    monkeypatch.setattr(Template, "render", counting_render)
    EDITS["prose"](session.book)
    session.build()
    (chapter,) = {text for text in converted if text.startswith("# Chapter")}
    assert chapter.endswith("More prose.\n")
    assert filled.count("main.html") == 1
