"""A chapter's notebook: each kind of cell, what its claims assert, where its links lead."""

import base64
import json
import re
from importlib.metadata import version

import nbformat
import pytest
from books import ABOUT, build, make_book, opened, rendered
from markdown import Markdown
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError

from proofbook.checking.book import Book
from proofbook.integrations.markdown import makeExtension
from proofbook.integrations.reading import load
from proofbook.notebook.export import Notebooks, notebook
from proofbook.notebook.plain_markdown import pieces
from tables import table

CONFIG = """\
site_name: A throwaway book
site_url: https://example.org/book/
plugins:
  - proofbook: {sources: [lib]}
markdown_extensions:
  - attr_list
  - proofbook.maths
"""
HELPER = 'def greet(*names):\n    print("hello")\n    return list(names)\n'
OTHER = "---\ntitle: Not this\n---\n\n# The *other* page\n"


def made(folder, page, config=CONFIG, name="a/page.md", files=None):
    """The notebook of one page of a throwaway book."""
    helpers = {"lib/helper.py": HELPER, "helper.py": HELPER}
    pages = {name: page, "b/other.md": OTHER}
    with opened(folder, pages, helpers | (files or {}), config) as book:
        [checked] = book.check({f"docs/{name}": page})
        assert not checked.problems
        text = notebook(checked, book.settings, ABOUT)
        assert text == notebook(checked, book.settings, ABOUT)
    nbformat.validate(json.loads(text))
    return nbformat.reads(text, as_version=4)


def body(book):
    """The cells of the page itself."""
    return [cell for cell in book.cells if cell.id not in ("about", "install", "start")]


def prose(book):
    return [cell.source for cell in body(book) if cell.cell_type == "markdown"]


def codes(book):
    return [cell.source for cell in body(book) if cell.cell_type == "code"]


def test_blocks_are_cells_with_what_they_showed(tmp_path):
    page = """\
# Page

```python title="x.py" hl_lines="1"
from helper import greet
names = greet("ä", "<b>")
names
```

```python
class Card:
    def _repr_html_(self):
        return "<b>card</b>"
    def __repr__(self):
        return "card in words"

Card()
```

```python
class Bare:
    def _repr_html_(self):
        return "x" * 30_000

Bare()
```

```python
from pathlib import Path

class View:
    def _repr_page_(self):
        Path("view.js").write_text("draw()")
        return '<script src="asset://view.js"></script>', {"view.js": Path("view.js").resolve()}
    def __repr__(self):
        return "view"

View()
```
"""
    first, second, third, fourth = body(made(tmp_path, page))[1:]
    assert first.source == 'from helper import greet\nnames = greet("ä", "<b>")\nnames'
    printed, shown = first.outputs
    assert (printed.output_type, printed.name, printed.text) == ("stream", "stdout", "hello\n")
    assert shown.data == {"text/plain": "['ä', '<b>']"}
    assert second.outputs[0].data == {
        "text/html": "<b>card</b>", "text/plain": "card in words"
    }  # fmt: skip
    assert third.outputs[0].data == {"text/plain": "<Bare>"}  # too large to be carried along
    assert fourth.outputs[0].data == {"text/plain": "view"}  # it needs files of the site


FIGURE = """\
```python
import matplotlib.pyplot as plt
figure, axes = plt.subplots()
figure
```
"""


@table(("more", "is_closed"), [("", True), ("\n```python\nplt.plot([1, 2])\n```\n", False)])
def test_a_figure_is_drawn_once_unless_one_is_left_open(tmp_path_factory, more, is_closed):
    cells = {cell.id: cell for cell in made(tmp_path_factory.mktemp("book"), FIGURE + more).cells}
    assert cells["block-1"].outputs[0].data["image/svg+xml"].startswith("<svg")
    assert ("start" in cells and "plt.ioff()" in cells["start"].source) is is_closed


def test_doctests_are_cells_without_prompts_that_end_with_an_output(tmp_path):
    page = """\
```pycon
>>> x = 2
>>> def double(n):
...     return 2 * n
>>> double(x)
4
>>> print("ü")
ü
>>> x / 0
Traceback (most recent call last):
ZeroDivisionError: division by zero
>>> y = 3
```
"""
    cells = body(made(tmp_path, page))
    assert [cell.source for cell in cells] == [
        "x = 2\ndef double(n):\n    return 2 * n\ndouble(x)",
        'print("ü")',
        "try:\n    x / 0\nexcept Exception as error:\n"
        '    print(f"{type(error).__name__}: {error}")',
        "y = 3",
    ]
    assert cells[0].outputs[0].data == {"text/plain": "4"}
    assert cells[1].outputs[0].text == "ü\n"
    assert cells[2].outputs[0].text.strip() == "ZeroDivisionError: division by zero"
    assert cells[3].outputs == []


def test_source_that_is_shown_and_code_that_is_off_are_prose(tmp_path):
    page = """\
```python
x = 1
```

```python show="helper:greet"
```

```python exec="off" reason="it would never end"
while True: pass
```

````markdown
```python
pasted { .not-an-attribute }
```
````
"""
    [text] = prose(made(tmp_path, page))
    assert f"```python\n{HELPER}```\n\n*`lib/helper.py`, lines 1 to 3*" in text
    assert "```python\nwhile True: pass\n```\n\n*Not run: it would never end*" in text
    assert "````markdown\n```python\npasted { .not-an-attribute }\n```\n````" in text


CLAIMS = """\
# Page with [three]{ equals="len(names)" } names

Before: [two]{ equals="n" }, on a line with `n < 3`{ holds }.

```python
names = ["a", "b", "c"]
n = 2
```

Half: […]{ value="f'{n / 2:.1f}'" holds="n / 2 < 9" }, `[3]`{ equals="[len(names)]" } and
*…*{ value="'y*' * (n == 2)" holds="n == 2" }.

## Next

The number is [even]{ equals="word(n % 2 == 0, 'even', 'odd')" }, "[7]{ .literal reason="source" }".

```python
n = 5
```

| a | [5]{ equals="n" } |
|---|---|
"""


def test_claims_are_text_and_are_asserted_before_anything_changes(tmp_path):
    book = made(tmp_path, CLAIMS)
    assert [(c.cell_type, c.source) for c in body(book)] == [
        ("markdown", "# Page with three names\n\nBefore: two, on a line with `n < 3`."),
        ("code", 'names = ["a", "b", "c"]\nn = 2'),
        ("markdown", "Half: 1.0, `[3]` and\n*y\\**."),
        (
            "code",
            "assert len(names) == 3\nassert n == 2\nassert n < 3\n"
            "assert n / 2 < 9  # the page says 1.0\nassert [len(names)] == [3]\n"
            "assert n == 2  # the page says y*",
        ),
        ("markdown", '## Next\n\nThe number is even, "7".'),
        ("code", "assert str(word(n % 2 == 0, 'even', 'odd')) == \"even\""),
        ("code", "n = 5"),
        ("markdown", "| a | 5 |\n|---|---|"),
        ("code", "assert n == 5"),
    ]
    tagged = [cell.source for cell in book.cells if "checks" in cell.metadata.get("tags", [])]
    assert tagged == [source for source in codes(book) if source.startswith("assert")]


SYNTAX = """\
# Page { #own }

```python
x = 1
```

Lead with `{ .kept }`, $\\frac{a}{b=1}$ and **bold**{ .gone } :material-home: text. <!-- gone -->
{ .lead }

!!! note "A *title*"

    Within.

??? success "Solution"

    Try:

    ```python
    y = 2
    ```

    So [it]{ equals="word(y == 2, 'it', '')" } is.

=== "Tab"

    In it.

- an item

    ```python
    z = 3
    ```

    goes on
- another
"""


def test_syntax_of_the_site_becomes_plain_markdown(tmp_path):
    assert [(c.cell_type, c.source) for c in body(made(tmp_path, SYNTAX))] == [
        ("markdown", "# Page"),
        ("code", "x = 1"),
        (
            "markdown",
            "Lead with `{ .kept }`, $\\frac{a}{b=1}$ and **bold** text. \n\n"
            "> **A *title***\n>\n> Within.\n\n**Solution**\n\nTry:",
        ),
        ("code", "y = 2"),
        ("markdown", "So it is.\n\n> **Tab**\n>\n> In it.\n\n- an item"),
        ("code", "assert str(word(y == 2, 'it', '')) == \"it\""),
        ("code", "z = 3"),
        ("markdown", "goes on\n- another"),
    ]


LINKS = """\
# Page

```python
x = 1
```

[Other](../b/other.md#here "t"), [`x[0]`](../index.md), [self](#own), [root](/x/), [file](data.csv),
[out](https://example.com/a_(b)), ![alt](pic.png).
"""


@table(
    ("directory_urls", "page", "other", "home"),
    [("true", "a/page/", "b/other/", ""), ("false", "a/page.html", "b/other.html", "index.html")],
)
def test_links_lead_to_where_the_book_is_published(tmp_path, directory_urls, page, other, home):
    book = made(tmp_path, LINKS, f"{CONFIG}use_directory_urls: {directory_urls}\n")
    base = "https://example.org/book"
    assert f"the page [Page]({base}/{page}) of *A throwaway book*" in book.cells[0].source
    assert prose(book)[-1] == (
        f'[Other]({base}/{other}#here "t"), [`x[0]`]({base}/{home}), [self]({base}/{page}#own), '
        f"[root](https://example.org/x/), [file]({base}/a/data.csv),\n"
        f"[out](https://example.com/a_(b)), ![alt]({base}/a/pic.png)."
    )


def test_without_an_address_links_name_their_page(tmp_path):
    page = LINKS + "\nSee [the other page](../b/other.md).\n"
    book = made(tmp_path, page, "site_name: A throwaway book\nplugins: [proofbook]\n")
    assert "from the page “Page” (`a/page`) of *A throwaway book*" in book.cells[0].source
    assert prose(book)[-1] == (
        "Other (“The *other* page”), `x[0]`, self, root, file,\n"
        "[out](https://example.com/a_(b)), *alt*.\n\nSee the other page (“The *other* page”)."
    )


def test_it_begins_as_the_page_began(tmp_path):
    page = "```python\nimport random\n```\n\n```python\nrandom.random()\n```\n"
    start = next(cell for cell in made(tmp_path, page).cells if cell.id == "start")
    assert start.source == "# Start in the page's initial state.\nimport random\n\nrandom.seed(0);"
    plain = made(tmp_path / "2", "```python\nimport random\n```\n")
    assert [cell.id for cell in plain.cells] == ["about", "block-1"]


PROJECT = """\
[project]
name = "some-book"
version = "1.2.3"
dependencies = ["Markdown>=3", "not-there; python_version<'3'"]
"""


def test_what_is_missing_is_installed_where_nothing_is(tmp_path):
    page = "```python\nimport os, yaml, markdown, helper\nfrom pygments import lexers\n```\n"
    book = made(tmp_path, page, files={"pyproject.toml": PROJECT})
    [install] = [cell.source for cell in book.cells if cell.id == "install"]
    needed = re.search(r"%pip install --quiet (.*)", install)[1].split()
    pins = {name: version(name) for name in ("PyYAML", "Pygments")}
    assert sorted(one.lower() for one in needed) == sorted(
        ["some-book==1.2.3", *(f"{name}=={pin}".lower() for name, pin in pins.items())]
    )
    assert '"google.colab" in sys.modules' in install


@pytest.mark.slow
def test_it_runs_and_its_assertions_hold(tmp_path):
    book = made(tmp_path, CLAIMS)
    NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()
    source = next(cell for cell in book.cells if cell.source.startswith("names ="))
    source.source = source.source.replace('"c"', '"c", "d"')
    with pytest.raises(CellExecutionError, match=r"assert len\(names\) == 3"):
        NotebookClient(book, timeout=60, resources={"metadata": {"path": str(tmp_path)}}).execute()


# -- The page offers it ----------------------------------------------------------------------


@table(("urls", "file"), [("true", "a/page/page"), ("false", "a/page")])
def test_a_page_links_to_its_notebook_beside_it(tmp_path, urls, file):
    pages = {"index.md": "# Home\n", "a/page.md": CLAIMS, "b/other.md": OTHER}
    book = make_book(tmp_path, pages, config=f"{CONFIG}use_directory_urls: {urls}\n")
    site = build(book)
    written = nbformat.read(site / f"{file}.ipynb", as_version=4)
    assert [cell.id for cell in written.cells][:2] == ["about", "start"]
    page = (site / "a" / ("page/index.html" if urls == "true" else "page.html")).read_text()
    link = '<a href="page.ipynb" download="page.ipynb">notebook</a>'
    assert page.index("Verified when this page was built") < page.index(link)
    assert "proofbook-download" not in (site / "index.html").read_text()
    assert len(list(site.rglob("*.ipynb"))) == 1


def test_without_a_builder_that_takes_files_the_page_holds_it(tmp_path):
    text = "# Page\n\n```python\nx = 'ü'\n```\n"
    book = make_book(tmp_path, {"index.md": text})
    extension = makeExtension(config_file=str(book / "mkdocs.yml"), timeout=9)
    shown = Markdown(extensions=["toc", extension]).convert(text)
    href = re.search(r'<a href="data:([^"]+)" download="index.ipynb">', shown)[1]
    kind, _, data = href.partition(";base64,")
    assert kind == "application/x-ipynb+json"
    cells = nbformat.reads(base64.b64decode(data).decode(), as_version=4).cells
    assert cells[-1].source == "x = 'ü'"


def test_a_page_that_does_not_pass_offers_none(book):
    assert "ipynb" not in rendered(book, "# Page\n\n```python\nx = 1\n```\n\n[2]{ equals='x' }\n")


@pytest.fixture
def kept(tmp_path):
    """Gives a page's notebook as a book that is served has it, and whether it was made anew."""
    pages = {"page.md": "", "other.md": OTHER}
    folder = make_book(tmp_path, pages, config="site_name: A throwaway book\n")
    notebooks = Notebooks()

    def now(text="See [there](other.md).\n\n```python\n1 + 1\n```\n", about=ABOUT):
        book.renew(load(folder / "mkdocs.yml"))
        [checked] = book.check({"docs/page.md": text})
        with pytest.MonkeyPatch.context() as patch:
            calls = []
            patch.setattr(
                "proofbook.notebook.export.pieces", lambda *of: calls.append(of) or pieces(*of)
            )
            shown = notebooks.of(checked, book.settings, about)
        assert shown == notebook(checked, book.settings, about)
        return shown, bool(calls)

    with Book(load(folder / "mkdocs.yml")) as book:
        now()
        now()  # from here on, the run comes from the cache
        yield folder, now


def test_a_notebook_is_kept_until_its_page_what_it_names_or_its_circumstances_change(kept):
    folder, now = kept
    shown, anew = now()
    assert "The *other* page" in shown
    assert not anew
    (folder / "docs" / "other.md").write_text("# A new title\n")
    for change, sign in (
        ({}, "A new title"),
        ({"text": "```python\n2 + 2\n```\n"}, "2 + 2"),
        ({"about": {**ABOUT, "versions": {"python": "3.12.0"}}}, "python 3.12.0"),
    ):
        shown, anew = now(**change)
        assert anew
        assert sign in shown
