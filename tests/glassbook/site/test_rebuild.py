"""All plugins together, on a throwaway book that is built, edited, and built again."""

import re
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

CONFIG = """\
site_name: A throwaway book
theme: {name: material, font: false}
markdown_extensions: [attr_list, def_list, md_in_html, toc]
plugins:
  - search
  - proofbook: {jobs: 1}
  - glassbook/source-pages: {packages: [src/made], tests: tests}
  - glassbook/page-source
  - glassbook/opening
  - glassbook/api: {packages: [src/made]}
  - glassbook/bibliography: {page: bibliography.md, works: works.bib}
  - glassbook/glossary: {page: reference/glossary.md, without: [reference/]}
  - glassbook/outline: {glossary: reference/glossary.md}
  - glassbook/whole-book
nav:
  - map.md
  - Part:
      - part/one.md
      - part/two.md
  - Reference:
      - api.md
      - all.md
      - bibliography.md
      - reference/glossary.md
      - whole.md
"""
FILES = {
    "src/made/__init__.py": "",
    "src/made/things.py": '''\
"""Things."""


def turn(x: int) -> int:
    """Turn it."""
    return x
''',
    "tests/made/test_things.py": "def test_turn(): ...\n",
    "docs/map.md": '# Map\n\n<div data-outline="map"></div>\n',
    "docs/part/one.md": """\
---
title: One
summary: how it begins.
modules: [made.things]
---

# The first

*You will know:* one.
*You need:* nothing.

## How

A logit, and `made.things.turn`.

```python show="made.things:turn"
```

## Sources

[Somebody (1999)](../bibliography.md#somebody1999)
""",
    "docs/part/two.md": """\
---
title: Two
summary: how it goes on.
modules: []
---

# The second

*You will know:* two.
*You need:* [One](one.md).

## How

[How](one.md#how), a logit.
""",
    "docs/api.md": "---\napi: [made.things]\n---\n\n# Things\n",
    "docs/all.md": "---\napi: []\n---\n\n# All\n\n<div data-api></div>\n",
    "docs/bibliography.md": '# Works\n\n<div data-bibliography=""></div>\n',
    "docs/works.bib": "@book{somebody1999,\n  author = {Body, Some},\n  title = {Logits},\n"
    "  year = {1999},\n}\n",
    "docs/reference/glossary.md": "# Glossary\n\nLogit { #logit }\n"
    ":   A raw vote. [Two](../part/two.md)\n",
    "docs/whole.md": "---\nwhole_book:\n  without: [all]\n---\n\n# Whole\n\n"
    "<div data-whole-book></div>\n",
    "mkdocs.yml": CONFIG,
}


class Book:
    """A book whose plugins outlive a build, as MkDocs has them do within a process."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for name, text in FILES.items():
            self.write(name, text)

    def write(self, name: str, text: str) -> None:
        (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / name).write_text(text, encoding="utf-8")

    def edit(self, name: str, old: str, new: str) -> None:
        text = (self.folder / name).read_text(encoding="utf-8")
        assert old in text
        self.write(name, text.replace(old, new))

    def build(self) -> None:
        config = load_config(str(self.folder / "mkdocs.yml"))
        config.plugins.on_startup(command="build", dirty=False)
        try:
            build(config)
        finally:
            config.plugins.on_shutdown()

    def page(self, name: str) -> str:
        html = (self.folder / "site" / name / "index.html").read_text(encoding="utf-8")
        return html.partition("<article")[2].partition("</article>")[0]


def caption(name: str) -> str:
    """What stands below the shown source of a function."""
    return (
        f'<p class="proofbook-source"><a class="symbol" href="../../api/#made.things.{name}">'
        f'<code>{name}</code></a> in <a href="../../source/made/things/#L4">src/made/things.py, '
        "lines 4 to 6</a></p>"
    )


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Book:
    made = Book(tmp_path_factory.mktemp("book"))
    made.build()
    return made


def test_a_chapter_has_its_opening_its_terms_and_its_links(book):
    html = book.page("part/one")
    assert '<p class="opening"><em>You will know:</em> one.' in html
    assert '<ol><li><a href="#how">How</a></li><li><a href="#sources">' in html
    assert re.search(r'<a class="term" data-aid="A raw vote\." href="[^"]*#logit">logit</a>', html)
    assert '#made.things.turn"><code>made.things.turn</code></a>' in html
    assert caption("turn") in html
    assert 'class="term"' not in book.page("part/two")  # the chapter that explains it


def test_what_is_made_of_other_pages_is_in_its_place(book):
    assert book.page("map").count("<path") == 1
    assert 'id="made.things.turn"' in book.page("api")
    assert re.search(r"Shown in</dt><dd><p[^>]*><a href=\"../part/one/\">One</a>", book.page("api"))
    assert '<h3><a href="../api/">Things</a></h3>' in book.page("all")
    assert '<a class="symbol" href="../api/#made.things"' in book.page("all")
    works = book.page("bibliography")
    assert 'Some Body (1999). <em>Logits</em>. <span class="cited">Cited in' in works
    assert '<a href="../part/one/#sources">The first</a>' in works
    assert '<span class="line" id="L6">' in book.page("source/made/things")
    whole = book.page("whole")
    assert [*re.findall('<section id="([^"]*)"', whole)][:3] == ["map", "part-one", "part-two"]
    assert '<a href="#part-one--how">How</a>' in whole
    assert "data-api" not in whole


def test_an_edit_shows_wherever_it_is_told(book):
    book.edit("src/made/things.py", "def turn(x: int)", "def spin(y: int)")
    book.edit("docs/part/one.md", "turn", "spin")
    book.edit("docs/part/one.md", "# The first", "# The very first")
    book.edit("docs/reference/glossary.md", "A raw vote", "A vote")
    book.edit("docs/works.bib", "{Logits}", "{On logits}")
    book.build()
    assert "turn" not in book.page("api")
    assert 'id="made.things.spin"' in book.page("api")
    assert caption("spin") in book.page("part/one")
    assert 'data-aid="A vote."' in book.page("part/one")
    assert "<em>On logits</em>" in book.page("bibliography")
    assert ">The very first</a>" in book.page("bibliography")
    assert "The very first" in book.page("whole")


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("docs/all.md", "data-api", "data-x", "docs/all.md: '<div data-api></div>' occurs"),
        ("docs/whole.md", "-whole-book>", "-x>", "docs/whole.md: '<div data-whole-book></div>'"),
        ("docs/api.md", "made.things", "made.x", "api: made.x: there is no such module"),
        ("docs/reference/glossary.md", "{ #", "{ ", "docs/reference/glossary.md: an entry is not"),
    ],
)
def test_what_cannot_be_made_fails_the_build(tmp_path, name, old, new, message):
    book = Book(tmp_path)
    book.edit(name, old, new)
    with pytest.raises(Abort, match="BuildError") as error:
        book.build()
    assert message in str(error.value.__context__)
