"""A served book is, after each edit, what a new server would serve, and a build write."""

import itertools
import os
import random
import re
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import pytest
from books import make_book
from markdown import Markdown
from mkdocs.commands import serve as serving
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.config.defaults import MkDocsConfig

from proofbook.integrations.live import Live

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
SCRIPT = re.compile(r"<script data-page=.*?</script>", re.DOTALL)  # reloads the page
RUNNING = 'class="proofbook-running"'
PATIENCE = 120  # seconds, after which a test fails instead of waiting


class Session:
    """A book under `mkdocs serve`, asked without a network."""

    def __init__(self, book: Path, folder: str = "served") -> None:
        self.book = book
        self.folder = folder
        self.config = self._load(folder)
        self.config.plugins.on_startup(command="serve", dirty=False)
        self.live: Live = self.config.plugins["proofbook"].live
        self.open = serving.build  # another session in this process puts its own there
        self.server = serving.LiveReloadServer(
            builder=self._build, host="127.0.0.1", port=8123, root=self.config.site_dir
        )
        self._build(self.config)
        for path in (self.config.docs_dir, self.config.config_file_path, str(book / "overrides")):
            self.server.watch(path)
        self.config.plugins.on_serve(self.server, config=self.config, builder=self._build)
        self.live.begin(self._build, list(self.server._watched_paths))

    def _load(self, site: str) -> MkDocsConfig:
        config = load_config(str(self.book / "mkdocs.yml"), site_dir=str(self.book / site))
        config.site_url = ADDRESS
        return config

    def _build(self, config: MkDocsConfig | None = None) -> None:
        self.open(config or self._load(self.folder), serve_url=ADDRESS, dirty=False)

    def get(self, path: str) -> str:
        """The answer to a request, without what only a server adds; "" if there is none."""
        statuses: list[str] = []
        answer = self.server.serve_request(
            {"PATH_INFO": f"/{path}"}, lambda status, headers: statuses.append(status)
        )
        body = b"".join(answer).decode()
        return SCRIPT.sub("", body) if statuses[0].startswith("200") else ""

    def site(self) -> dict[str, bytes]:
        """The files of the site, once all pages have run."""
        while True:
            pages = {place: self.get(place) for place in self.live.pages}
            is_running = any(RUNNING in page for page in pages.values())
            with self.live._making:  # nothing is written meanwhile
                versions = {self.live._made[place].version for place in self.live.pages}
                is_newest = versions == {self.live._version}  # all pages know of each other
                if is_newest and not is_running and not self.live._has_work():
                    files = contents(Path(self.config.site_dir))
                    return files | {place: page.encode() for place, page in pages.items()}
            time.sleep(0.01)

    def after(self, edit: Callable[[Path], None]) -> dict[str, bytes]:
        """The files of the site after an edit."""
        edit(self.book)
        self.live.rebuild()
        return self.site()

    def fresh(self) -> dict[str, bytes]:
        """The files of a server that has just been started, with nothing kept but the runs."""
        with opened(self.book, "fresh") as session:
            return session.site()

    def built(self) -> dict[str, bytes]:
        """The files that `mkdocs build` writes."""
        with patch.dict(PLUGINS, clear=True):
            config = self._load("built")
            config.plugins.on_startup(command="build", dirty=False)
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


@pytest.fixture
def session(book: Path) -> Iterator[Session]:
    with opened(book) as session:
        yield session


@contextmanager
def opened(book: Path, folder: str = "served") -> Iterator[Session]:
    with patch.dict(PLUGINS, clear=True):
        session = Session(book, folder)
        try:
            yield session
        finally:
            session.close()


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
    """Make an edit; the site must be that of a new server, but for which pages ran in it."""
    served, fresh = session.after(EDITS[kind]), session.fresh()
    assert set(differing(served, fresh)) <= RUN_NOW, kind


def test_the_site_is_the_one_that_is_built(session):
    assert set(differing(session.site(), session.built())) <= RUN_NOW
    for kind in ("link", "code", "value", "added page"):
        session.after(EDITS[kind])
    session.after(replaced("docs/one.md", "[8]", "[9]"))
    session.after(replaced("docs/two.md", "[8]", "[9]"))
    assert set(differing(session.site(), session.built())) <= RUN_NOW


def test_after_ten_random_edits_the_site_is_that_of_a_new_server(session):
    for kind in random.Random(17).sample(sorted(EDITS), 10):
        check(session, kind)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(5))
def test_after_many_random_edits_the_site_is_that_of_a_new_server(session, seed):
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
    with opened(book) as session:
        session.site()
        (book / "lib/state.txt").write_text("Afterwards.")
        served = session.after(appended("docs/index.md", "\nAfterwards.\n"))
        assert b"Afterwards." in served["useless/index.html"]
        assert set(differing(served, session.fresh())) <= RUN_NOW


WAITING = """\
# {name}

Prose of {name}.

```python
import time
from pathlib import Path

folder = Path("{folder}")
with (folder / "order").open("a") as file:
    file.write("{name} ")
while not (folder / "go").exists():
    time.sleep(0.01)
print(*3 * ["{name}"])
```
"""
"""A page that runs until a file is there."""


def test_a_page_is_shown_before_it_has_run_and_made_again_afterwards(book):
    text = WAITING.format(name="patience", folder=book)
    (book / "docs/alone.md").write_text(text)
    with opened(book) as session:
        page = session.get("alone/")
        assert "Prose of patience." in page
        assert "folder" in page
        assert RUNNING in page
        assert "patience patience patience" not in page
        epoch = session.live.page("alone/index.html")[1]
        (book / "go").touch()
        assert session.live.wait_for_newer("alone/index.html", epoch) > epoch
        page = session.get("alone/")
        assert "patience patience patience" in page
        assert RUNNING not in page


def test_pages_run_in_the_order_of_reading_but_first_what_somebody_opens(tmp_path):
    pages = {f"{name}.md": WAITING.format(name=name, folder=tmp_path) for name in "abcd"}
    config = "site_name: x\nplugins: [{proofbook: {jobs: 1}}]\nnav: [b.md, a.md, c.md, d.md]\n"
    with opened(make_book(tmp_path, pages, {"overrides/main.html": ""}, config)) as session:
        with session.live._changed:
            assert session.live._changed.wait_for(lambda: not session.live._ahead, PATIENCE)
        order = tmp_path / "order"
        while not order.exists():  # the first one runs, the others wait
            time.sleep(0.01)
        assert session.get("d/")
        (tmp_path / "go").touch()
        with session.live._changed:
            session.live._changed.wait_for(lambda: order.read_text().count(" ") == 4, PATIENCE)
        assert order.read_text() == "b d a c "


def test_a_page_that_fails_shows_its_error_and_the_others_go_on(session):
    EDITS["failing block"](session.book)
    session.live.rebuild()
    site = session.site()
    assert b"ZeroDivisionError" in site["one/index.html"]
    assert b"proofbook-error" not in site["two/index.html"]
    assert b"<code>8</code>" in site["two/index.html"]


def test_an_edited_page_is_made_before_the_site_is_opened_again(session):
    session.site()
    build, early = session.live._build, []

    def noting() -> None:
        early.append(session.get("one/"))
        build()

    session.live._build = noting
    served = session.after(EDITS["prose"])
    assert "More prose." in early[0]
    assert early[0].encode() == served["one/index.html"]


def test_a_site_that_cannot_be_opened_says_so_on_each_page_until_it_can(session):
    before = session.site()
    settings = (session.book / "mkdocs.yml").read_text()
    changed(session.book, "mkdocs.yml", lambda text: f"{text}theme: [")
    for _ in range(2):
        session.live.rebuild()
        for place in session.live.pages:
            assert session.get(place).count("The last edit could not be built") == 1
        changed(session.book, "docs/one.md", lambda text: text + "\nMore.\n")
    changed(session.book, "mkdocs.yml", lambda text: settings)
    changed(session.book, "docs/one.md", lambda text: text.replace("\nMore.\n", ""))
    session.live.rebuild()
    assert set(differing(session.site(), before)) <= RUN_NOW


def test_the_search_finds_edits_of_many_pages_that_nobody_opens(session):
    session.site()
    names = ("index", "one", "two", "symbols", "useless")
    for name in names:
        appended(f"docs/{name}.md", "\nEverywhere new.\n")(session.book)
    session.live.rebuild()
    with session.live._changed:
        assert session.live._changed.wait_for(lambda: not session.live._has_work(), PATIENCE)
    with session.live._making:
        index = Path(session.config.site_dir, "search/search_index.json").read_text()
    assert index.count("Everywhere new.") == len(names)


def test_the_search_finds_what_a_page_that_is_looked_at_says_of_all_runs(book):
    with opened(book) as session:
        never = ("verified/index.html", 10**18)
        threading.Thread(target=session.live.wait_for_newer, args=never, daemon=True).start()
        index = Path(session.config.site_dir, "search/search_index.json")
        deadline = time.monotonic() + PATIENCE
        while not index.exists() or "Chapter two1010" not in index.read_text():  # of its table
            assert time.monotonic() < deadline, index.read_text()
            time.sleep(0.01)


def test_what_an_editor_writes_for_a_moment_changes_no_page(session):
    before = session.site()
    epochs = {place: session.live.page(place)[1] for place in session.live.pages}
    (session.book / "docs/.one.md.swp").write_text("")
    session.live.rebuild()
    (session.book / "docs/.one.md.swp").unlink()
    session.live.rebuild()
    assert differing(session.site(), before) == []
    assert {place: session.live.page(place)[1] for place in session.live.pages} == epochs


def test_an_edit_of_prose_converts_one_page(session, monkeypatch):
    session.site()
    converted = []
    convert = Markdown.convert

    def noting(md, text):
        converted.append(text)
        return convert(md, text)

    monkeypatch.setattr(Markdown, "convert", noting)
    EDITS["prose"](session.book)
    session.live.rebuild()
    assert "More prose." in session.get("one/")
    (chapter,) = {text for text in converted if text.startswith("# ")}
    assert chapter.endswith("More prose.\n")


def test_a_page_that_lacked_something_runs_again_when_it_is_there(tmp_path):
    text = (
        "# Model\n\n```python\nfrom pathlib import Path\n\n\n"
        "class MissingModelError(Exception):\n    pass\n\n\n"
        f'file = Path("{tmp_path}/model")\n'
        "try:\n    text = file.read_text()\n"
        "except FileNotFoundError:\n    raise MissingModelError('not here yet')\ntext\n```\n"
    )
    config = "site_name: x\nplugins: [{proofbook: {absences: [MissingModelError]}}]\n"
    files = {"overrides/main.html": ""}
    with opened(make_book(tmp_path, {"index.md": text}, files, config)) as session:
        assert b"not here yet" in session.site()["index.html"]
        epoch = session.live.page("index.html")[1]
        (tmp_path / "model").write_text("its weights")
        for _ in ("it runs", "it has run"):
            last, epoch = epoch, session.live.wait_for_newer("index.html", epoch)
            assert epoch > last
            if "its weights" in session.get(""):
                break
        assert "its weights" in session.get("")
