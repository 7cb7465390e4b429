"""What a page shows at a click, or not at all, is run, checked, copied and found all the same."""

import json
from html import unescape

import pytest
from books import ABOUT, build, make_book, opened, rendered

from browser import launched, served, visit
from proofbook.__main__ import main
from proofbook.coverage.coverage import cover
from proofbook.notebook.export import notebook
from proofbook.parsing.fences import scan
from tables import table

PAGE = """\
```python {}
x = 2
print("wombat", x)
x + 3
```

It is [{}]{{ equals="x" }} and `wombat 2`.
"""


def shown(book, page):
    """A page as it is checked, and its HTML."""
    [checked] = book.check({"docs/p.md": page})
    return checked, rendered(book, page)


def test_folded_code_is_one_click_away_and_its_output_none(book):
    checked, html = shown(book, PAGE.format('fold="code" title="A title"', 2))
    assert checked.problems == []
    before, rest = html.split('<details class="proofbook-fold"><summary>Show the code</summary>')
    code, after = rest.split("</details>", 1)
    assert "<code>wombat 2</code></pre>" in before  # what it gave comes first
    assert "print" not in before
    assert "A title" in code
    assert "wombat" in code
    assert "<pre" not in after
    assert before.startswith('<div class="proofbook-block">')  # its height is not known beforehand
    plain, _ = shown(book, PAGE.format("", 2))
    assert notebook(checked, book.settings, ABOUT) == notebook(plain, book.settings, ABOUT)


def test_hidden_output_is_not_on_the_page_and_is_checked(book):
    checked, html = shown(book, PAGE.format('hide="output"', 2))
    assert checked.problems == []
    assert "proofbook-output" not in html
    assert '"wombat"' in unescape(html)  # its code is there
    assert '--lines: 3; --parts: 1"' in html
    cells = json.loads(notebook(checked, book.settings, ABOUT))["cells"]
    assert cells[1]["outputs"][0]["text"] == ["wombat 2\n"]
    false, _ = shown(book, PAGE.format('hide="output"', 3))
    assert [problem.line for problem in false.problems] == [7]


def test_what_is_wrong_with_a_block_whose_output_is_hidden_is_shown_at_its_place(book):
    checked, html = shown(book, "```python hide='output'\nprint('so')\n1 / 0\n```\n")
    assert len(checked.problems) == 1
    assert html.count("ZeroDivisionError") > 1
    assert "<code>so" not in html


def test_a_quotation_of_what_no_reader_sees_is_not_covered(tmp_path):
    with opened(tmp_path, covers=True) as book:
        found = [
            cover(book.check({"p.md": PAGE.format(options, 2)})[0], book.settings).uncovered
            for options in ("", 'hide="output"')
        ]
    assert found == [(), ((7, "code", "wombat 2"),)]


COUNT = 'with open("runs.txt", "a") as file:\n    file.write("x")\nprint(open("runs.txt").read())'


@table(("options", "status"), [("", 1), ("hide='output'", 0)])
def test_hidden_output_may_be_another_at_a_second_run(tmp_path_factory, options, status):
    book = make_book(
        tmp_path_factory.mktemp("book"), {"p.md": f"```python {options}\n{COUNT}\n```\n"}
    )
    assert main(["-f", str(book / "mkdocs.yml"), "check", "--twice"]) == status


@table(
    ("header", "fault"),
    [
        ('python hide="code"', 'hide="code" cannot be read'),
        ('python fold="output"', 'fold="output" cannot be read'),
        ('python fold="code" source="below"', "cannot be combined"),
        ('pycon fold="code"', "unknown option 'fold'"),
        ('python show="m" hide="output"', "unknown option 'hide'"),
    ],
)
def test_what_hides_nothing_that_is_known_is_a_fault(header, fault):
    code = ">>> 1\n1" if "pycon" in header else ""
    assert [fault in message for _, message in scan(f"```{header}\n{code}\n```").faults] == [True]


SOURCE = '''\
def half(number):
    """Halve it.

    Raises:
        ValueError: the wombat is odd.
    """
    if number % 2:
        raise ValueError("odd")
    return number // 2  # the body
'''


THEMES = ["mkdocs", "{name: material, features: [content.code.copy]}"]


@pytest.mark.browser
def test_what_folds_opens_without_a_script_and_is_printed_found_and_copied(tmp_path_factory):
    folded = PAGE.format('fold="code"', 2) + '\n```python raises="KeyError: 1"\n{}[1]\n```\n'
    pages = {"index.md": '# A\n\n```python show="halves:half"\n```\n', "b.md": folded}
    with launched() as browser:
        for theme in THEMES:
            config = f"site_name: x\ntheme: {theme}\nplugins: [search, proofbook]\n"
            folder = tmp_path_factory.mktemp("book")
            site = build(make_book(folder, pages, {"src/halves.py": SOURCE}, config))
            index = json.loads((site / "search/search_index.json").read_text())["docs"]
            for words in ("the wombat is odd", 'print("wombat", x)'):
                assert any(words in unescape(one["text"]) for one in index)
            with served(site) as root:
                look_at_a_fold(browser, f"{root}b/")
                look_at_a_source(browser, root)
                if theme != "mkdocs":
                    with visit(browser, root) as seen:
                        buttons = seen.page.locator("[data-clipboard-target]")
                        assert [one.is_visible() for one in buttons.all()].count(True) == 1
                        buttons.first.click()
                        copied = buttons.first.get_attribute("data-clipboard-text")
                        assert copied == SOURCE.rstrip("\n")


def look_at_a_fold(browser, url):
    with visit(browser, url, javascript=False) as seen:
        code, output = (seen.page.get_by_text(one) for one in ("x + 3", "wombat 2"))
        assert (code.is_visible(), output.first.is_visible()) == (False, True)
        seen.page.emulate_media(media="print")
        summary = seen.page.locator("summary").first
        assert (code.is_visible(), summary.is_visible()) == (True, False)
        seen.page.emulate_media(media="screen")
        seen.page.get_by_text("Show the code").click()
        assert code.is_visible()
        edge = "element => getComputedStyle(element).borderLeftColor"
        assert seen.page.locator(".proofbook-raised").evaluate(edge) == "rgb(198, 40, 40)"


def look_at_a_source(browser, url):
    with visit(browser, url, javascript=False) as seen:
        words = '"""Halve it.', "the wombat is odd", "# the body"
        head, aside, body = (seen.page.get_by_text(one).first for one in words)
        assert [one.is_visible() for one in (head, aside, body)] == [True, False, True]
        seen.page.emulate_media(media="print")
        assert aside.is_visible()
        seen.page.emulate_media(media="screen")
        seen.page.get_by_text("Docstring and checks, 6 lines").click()
        assert aside.is_visible()
