"""Markdown, TeX and pictures that blocks show: on the page, in notebooks, in copied programs."""

import json
import re
import subprocess
import sys

import nbformat
import pytest
from books import ABOUT, make_book, rendered

from proofbook.execution.names import reads_builtin
from proofbook.integrations.reading import load
from proofbook.model import Block, BlockResult, Output
from proofbook.notebook.export import notebook
from proofbook.notebook.programs import program_of
from proofbook.rendering.html import outputs_html
from proofbook.rendering.rich_text import rich_text
from tables import table

FORMULAS = """\
site_name: x
plugins: [proofbook]
markdown_extensions:
  - footnotes
  - proofbook.maths: {symbols: notation.md}
  - toc: {permalink: true}
"""


@pytest.fixture(scope="module", params=[True, False], ids=["formulas", "none"])
def settings(request, tmp_path_factory):
    config = FORMULAS if request.param else "site_name: x\nplugins: [proofbook]\n"
    folder = make_book(tmp_path_factory.mktemp("book"), {}, config=config)
    return load(folder / "mkdocs.yml")


def has_formulas(settings):
    return "proofbook.maths" in settings.extensions


@table("tex", ["$x^2$", "$$x^2$$", r"\[x^2\]", "\n$\\displaystyle x^2$\n"])
def test_tex_goes_through_the_converter_of_the_book(settings, tex):
    html = rich_text(Output("latex", tex), settings, "a")
    assert ("<math" in html) is has_formulas(settings)
    assert ("<pre" in html) is not has_formulas(settings)
    assert has_formulas(settings) or "x^2" in html


def test_tex_that_cannot_be_converted_and_marks_of_markdown_are_shown_as_they_are(settings):
    assert "<code>$\\nosuch{&lt;x&gt;$</code>" in rich_text(
        Output("latex", "$\\nosuch{<x>$"), settings, "a"
    )


def test_markdown_is_written_with_the_extensions_of_the_book(settings):
    text = "# Head\n\n| a |\n|---|\n| *b* |\n\n```python\n1 / 0\n```\n\n$x$\n"
    html = rich_text(Output("markdown", text), settings, "a")
    assert "<h1>Head</h1>" in html  # no id, no link: the contents of the page are its own
    assert "<td><em>b</em></td>" in html
    assert "highlight" in html
    assert ("<math" in html) is has_formulas(settings)


def test_ids_in_markdown_are_no_others_of_the_page(settings):
    shown = [rich_text(Output("markdown", "a[^1]\n\n[^1]: b"), settings, p) for p in ("a", "b")]
    ids = [one for html in shown for one in re.findall(r'\bid="([^"]+)"', html)]
    used = [one for html in shown for one in re.findall(r'href="#([^"]+)"', html)]
    assert len(ids) == len(set(ids)) == (4 if "footnotes" in settings.extensions else 0)
    assert set(used) <= set(ids)


def test_the_search_finds_the_words_and_reads_no_picture():
    held = []
    outputs = (Output("markdown", "a <b>"), Output("image", "<img>"), Output("latex", "$x$"))
    outputs_html(BlockResult(outputs), str, lambda html, words: held.append(words) or html)
    assert held == ["a &lt;b&gt;", "", "$x$"]


PAGE = """\
```python
from IPython.display import Markdown

PNG = bytes.fromhex("89504e470d0a1a0a0000000d494844520000000200000003")


class Dot:
    def _repr_png_(self):
        return PNG

    def __repr__(self):
        return "a dot"


class Formula:
    def _repr_latex_(self):
        return "$x$"

    def __repr__(self):
        return "x"
```

```python
display(Markdown("**bold**"), Formula())
print("between")
Dot()
```

```python
1 + 1
```
"""


@pytest.fixture(scope="module")
def shown(book):
    """A page that displays: its HTML, its programs, its notebook."""
    [checked] = book.check({"docs/p.md": PAGE})
    assert checked.problems == []
    programs = program_of(checked.page.chapter.blocks, checked.run.blocks)
    return rendered(book, PAGE), programs, notebook(checked, book.settings, ABOUT)


def test_all_stand_on_the_page_in_their_order(shown):
    order = ["<strong>bold</strong>", "<code>$x$</code>", "between<", "<img src=", "<code>2<"]
    places = [shown[0].find(one) for one in order]
    assert places == sorted(places)
    assert -1 not in places
    assert 'alt="a dot" width="2" height="3"></figure>' in shown[0]


def test_a_copied_program_that_displays_runs_in_plain_python(shown):
    displaying = shown[1].script()
    assert displaying.startswith("from IPython.display import display\n")
    done = subprocess.run(
        [sys.executable, "-c", displaying], capture_output=True, text=True, check=True
    )
    assert re.fullmatch(r"<IPython.*Markdown object> x\nbetween\n2\n", done.stdout)


def test_a_notebook_has_each_as_jupyter_would(shown):
    book = nbformat.reads(shown[2], as_version=4)
    nbformat.validate(json.loads(shown[2]))
    cells = {cell.id: cell for cell in book.cells}
    assert "from IPython.display import display" in cells["start"].source
    bold, formula, between, dot = cells["block-2"].outputs
    assert bold.data["text/markdown"] == "**bold**"
    assert (formula.data["text/latex"], formula.data["text/plain"]) == ("$x$", "x")
    assert between.text == "between\n"
    assert dot.data["image/png"].startswith("iVBORw0KGgo")
    kinds = [output.output_type for output in cells["block-2"].outputs]
    assert kinds == ["display_data", "display_data", "stream", "execute_result"]


@table(
    ("codes", "calls"),
    [
        (["display(1)"], True),
        (["def f():\n    display(1)"], True),
        ([">>> display(1)\n1"], True),
        (["from IPython.display import display\ndisplay(1)"], False),
        (["def display(x): ...", "display(1)"], False),
        (["a.display(1)"], False),
        (["'display'"], False),
    ],
)
def test_what_displays_by_the_page_s_own_means_needs_no_import(codes, calls):
    blocks = [Block("pycon" if code[0] == ">" else "python", code, 1) for code in codes]
    assert reads_builtin(blocks, "display") is calls
