"""A served book is, after each edit, what a clean build of it would be, byte for byte."""

import itertools
import os
import random
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from books import make_book
from jinja2 import Template
from markdown import Markdown
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer

from proofbook.integrations import live

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
STATES = itertools.count(1_500_000_000)  # each edit has a time of its own, however fast it comes
PLUGINS = MkDocsConfig.plugins.plugin_cache  # of all sites that a process builds
ADDRESS = "http://127.0.0.1:8123/"


class Session:
    """A book as `mkdocs serve` builds it: again and again, in one process.

    Attributes:
        early: What was served when the whole site began to be built.
        meanwhile: What is done to the book at that moment.
    """

    def __init__(self, book: Path, dirty: bool = False) -> None:
        self.book = book
        self.dirty = dirty
        self.early: dict[str, bytes] = {}
        self.meanwhile: Callable[[Path], None] | None = None
        self.config = self._load("served")
        self.config.plugins.on_startup(command="serve", dirty=dirty)
        root = self.config.site_dir
        self.server = LiveReloadServer(self._build, "127.0.0.1", 8123, root)
        self._build(self.config)
        self.server.watch(self.config.docs_dir)
        self.server.watch(self.config.config_file_path)
        self.server.watch(str(book / "overrides"))
        with patch.object(live, "watch_closely", lambda *_: lambda: None):  # nobody listens here
            self.config.plugins.on_serve(self.server, config=self.config, builder=self._build)

    def _load(self, site: str) -> MkDocsConfig:
        config = load_config(str(self.book / "mkdocs.yml"), site_dir=str(self.book / site))
        config.site_url = ADDRESS
        return config

    def _build(self, config: MkDocsConfig | None = None) -> None:
        """Do what MkDocs does after an edit, with what is served as it is by then."""
        self.early = contents(Path(self.server.root))
        if self.meanwhile:
            self.meanwhile(self.book)
            self.server._want_rebuild = True  # as the watcher says
        mkdocs_build(config or self._load("served"), serve_url=ADDRESS, dirty=self.dirty)

    def build(self) -> dict[str, bytes]:
        """Build after an edit; gives the files of the site."""
        self.server._want_rebuild = False
        self.server.builder()
        return contents(Path(self.server.root))

    def clean(self) -> dict[str, bytes]:
        """Build with nothing kept but the runs, as the first build of a session would."""
        with patch.dict(PLUGINS, clear=True):
            config = self._load("clean")
            config.plugins.on_startup(command="serve", dirty=False)
            try:
                mkdocs_build(config, serve_url=ADDRESS)
            finally:
                config.plugins.on_shutdown()
        return contents(Path(config.site_dir))

    def close(self) -> None:
        self.config.plugins.on_shutdown()


def contents(site: Path) -> dict[str, bytes]:
    files = {path.relative_to(site).as_posix(): path for path in site.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in files.items()}


def differing(one: dict[str, bytes], other: dict[str, bytes]) -> list[str]:
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


@pytest.fixture
def book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1500000000")
    monkeypatch.setenv("NO_MKDOCS_2_WARNING", "1")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    return make_book(tmp_path, PAGES, FILES, CONFIG)


@pytest.fixture(params=[False, True], ids=["clean", "dirty"])
def session(book: Path, request: pytest.FixtureRequest) -> Iterator[Session]:
    with patch.dict(PLUGINS, clear=True):
        opened = Session(book, request.param)
        yield opened
        opened.close()


def changed(book: Path, name: str, change: Callable[[str], str]) -> None:
    path = book / name
    path.write_text(change(path.read_text()))
    state = next(STATES)
    os.utime(path, (state, state))


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
    """Make an edit; the site must be that of a clean build, but for which pages ran in it."""
    EDITS[kind](session.book)
    served, clean = session.build(), session.clean()
    assert set(differing(served, clean)) <= RUN_NOW, kind
    changed(session.book, "docs/extra.txt", lambda before: before + "One more build.")
    assert differing(session.build(), session.clean()) == [], kind


@pytest.mark.parametrize("session", [False], indirect=True)
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


READS = "from pathlib import Path\n\nHERE = Path(__file__).parent\n\n\n"
STATEFUL = {
    "an extension": {
        "lib/stateful.py": READS + "from markdown import Extension\n"
        "from markdown.postprocessors import Postprocessor\n\n\n"
        "class Says(Postprocessor):\n    def run(self, text):\n"
        "        return text + (HERE / 'state.txt').read_text()\n\n\n"
        "class Stateful(Extension):\n    def extendMarkdown(self, md):\n"
        "        md.postprocessors.register(Says(md), 'says', 0)\n\n\n"
        "def makeExtension(**options):\n    return Stateful(**options)\n",
        "mkdocs.yml": CONFIG.replace("  - abbr\n", "  - abbr\n  - stateful\n"),
    },
    "a filter": {
        "lib/stateful.py": READS + "def on_env(env, **_):\n"
        "    env.filters['said'] = lambda text: text + (HERE / 'state.txt').read_text()\n",
        "mkdocs.yml": CONFIG + "hooks: [lib/stateful.py]\n",
        "overrides/main.html": '{% extends "base.html" %}{% block footer %}'
        '{{ "It is " | said }}{% endblock %}\n',
    },
    "what a plugin tells templates": {
        "lib/stateful.py": READS + "def on_page_context(context, **_):\n"
        "    context['said'] = (HERE / 'state.txt').read_text()\n    return context\n",
        "mkdocs.yml": CONFIG + "hooks: [lib/stateful.py]\n",
        "overrides/main.html": '{% extends "base.html" %}{% block footer %}'
        "{{ said }}{% endblock %}\n",
    },
    "the text of another page": {
        "lib/stateful.py": "",
        "overrides/main.html": '{% extends "base.html" %}{% block footer %}'
        "{{ nav.pages[0].content | striptags }}{% endblock %}\n",
    },
}


@pytest.mark.parametrize("files", STATEFUL.values(), ids=STATEFUL)
def test_nothing_is_kept_that_depends_on_what_nobody_can_compare(book, files, monkeypatch):
    monkeypatch.syspath_prepend(book / "lib")
    monkeypatch.delitem(sys.modules, "stateful", raising=False)
    for name, text in {"lib/state.txt": "Before.", **files}.items():
        (book / name).write_text(text)
    with patch.dict(PLUGINS, clear=True):
        session = Session(book)
        (book / "lib/state.txt").write_text("Afterwards.")
        changed(book, "docs/index.md", lambda text: text + "\nAfterwards.\n")
        served = session.build()
        assert b"Afterwards." in served["useless/index.html"]
        assert set(differing(served, session.clean())) <= RUN_NOW
        session.close()


def test_an_edited_page_is_served_before_the_site_is_built(session):
    EDITS["prose"](session.book)
    served = session.build()
    assert b"More prose." in session.early["one/index.html"]
    assert session.early["one/index.html"] == served["one/index.html"]
    assert differing(served, session.clean()) == []


@pytest.mark.parametrize("session", [False], indirect=True)
def test_what_changes_more_than_a_page_waits_for_the_site(session):
    for kind in ("added page", "settings", "module"):
        before = contents(Path(session.server.root))
        EDITS[kind](session.book)
        session.build()
        assert session.early == before


@pytest.mark.parametrize("session", [False], indirect=True)
def test_a_build_that_fails_says_so_on_each_page_until_one_passes(session):
    before = contents(Path(session.server.root))
    settings = (session.book / "mkdocs.yml").read_text()
    changed(session.book, "mkdocs.yml", lambda text: f"{text}theme: [")
    for _ in range(2):
        pages = {name: one for name, one in session.build().items() if name.endswith(".html")}
        assert {one.count(b"The last edit could not be built") for one in pages.values()} == {1}
        changed(session.book, "docs/one.md", lambda text: text + "\nMore.\n")
    changed(session.book, "mkdocs.yml", lambda text: settings)
    changed(session.book, "docs/one.md", lambda text: text.replace("\nMore.\n", ""))
    assert set(differing(session.build(), before)) <= RUN_NOW


@pytest.mark.parametrize("session", [False], indirect=True)
def test_a_newer_edit_ends_the_build_behind_an_edited_page(session):
    EDITS["prose"](session.book)
    session.meanwhile = EDITS["link"]
    root = session.server.root
    assert b"More prose." in session.build()["one/index.html"]
    assert session.server.root == root
    assert session.server._want_rebuild
    session.meanwhile = None
    assert differing(session.build(), session.clean()) == []
    assert session.server.root != root


@pytest.mark.parametrize("session", [False], indirect=True)
def test_a_file_that_an_editor_puts_there_for_a_moment_ends_no_build(session):
    def swap(book):
        (book / "docs/.one.md.swp").write_text("")
        (book / "docs/.one.md.swp").unlink()

    EDITS["prose"](session.book)
    session.meanwhile = swap
    root = session.server.root
    assert differing(session.build(), session.clean()) == []
    assert session.server.root != root


@pytest.mark.parametrize("session", [False], indirect=True)
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
