"""What folds in a shown source: docstrings after their first line, and checks that come first."""

import json
from html import unescape
from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st
from markdown import Markdown

from proofbook.rendering.asides import Aside, asides, folded
from tables import table

ONE = '''\
def halve(number: int) -> int:
    """Halve an even number.

    Raises:
        ValueError: it's odd.
    """
    if number % 2:
        raise ValueError(f"{number} is odd")
    # what is left
    return number // 2
'''


def highlighted(code: str) -> str:
    return Markdown(extensions=["pymdownx.superfences", "pymdownx.highlight"]).convert(
        f"````python\n{code}````"
    )


def test_a_docstring_after_its_first_line_and_the_checks_behind_it():
    assert asides(ONE) == [Aside(3, 8, "Docstring and checks, 6 lines")]


@table(
    ("code", "found"),
    [
        ('def f():\n    """One line."""\n    return 2\n', []),
        ('def f():\n    """Two\n    lines."""\n', []),
        ('"""A module.\n\nIt has.\nMore.\n"""\n', [Aside(2, 5, "Docstring, 4 lines")]),
        (
            "def f(a):\n    if a:\n        raise ValueError\n    elif not a:\n"
            "        raise KeyError\n    return a\n",
            [Aside(2, 5, "Checks, 4 lines")],
        ),
        ("def f(a):\n    if a:\n        a += 1\n        raise ValueError\n    return a\n", []),
        (
            "def f(a):\n    b = a\n    if b:\n        raise ValueError(\n            b\n"
            "        )\n",
            [],
        ),
        ("def f(a):\n    if a:\n        raise ValueError\n    else:\n        return a\n", []),
        ('x = """\nA text,\nno docstring,\nof a name.\n"""\n', []),
        ("return x ~ 2", []),
        (
            'class A:\n    """A.\n\n    b\n    c\n    """\n\n    def f(self):\n'
            '        """F.\n\n        d\n        e\n        """\n',
            [Aside(3, 6, "Docstring, 4 lines"), Aside(10, 13, "Docstring, 4 lines")],
        ),
    ],
)
def test_what_folds_and_what_does_not(code, found):
    assert asides(code) == found


class Seen(HTMLParser):
    """What is in view, what is folded, and all of it."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.view = self.all = self.labels = self.script = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "summary" in self.open:
            self.labels += data
        elif "script" in self.open:
            self.script += data
        elif "code" in self.open:
            self.all += data
            self.view += "" if "details" in self.open else data


def test_signature_first_line_and_body_are_in_view():
    seen = Seen(folded(highlighted(ONE), ONE.rstrip("\n")))
    assert seen.view.split("\n") == [
        "def halve(number: int) -> int:",
        '    """Halve an even number.    # what is left',
        "    return number // 2",
    ]
    assert seen.labels == "Docstring and checks, 6 lines"
    assert json.loads(seen.script) == ONE.rstrip("\n")


TEXTS = st.text(
    st.characters(
        codec="utf-8", exclude_characters='\r\n\\"\x00', exclude_categories=["Cc", "Cs", "Zl", "Zp"]
    ),
    max_size=9,
)


@given(
    lines=st.lists(TEXTS, min_size=1, max_size=6),
    checks=st.integers(0, 2),
    body=st.sampled_from(["", "    return a < 2 > 1\n", "    b = '</code></pre>'\n    return b\n"]),
)
def test_nothing_is_lost_whatever_is_in_it(lines, checks, body):
    code = "def f(a):\n" + '    """' + "\n".join(["A", *lines]) + '"""\n'
    code += "    if a < 2:\n        raise ValueError('<b>')\n" * checks + body
    code = code.rstrip("\n")
    html = folded(highlighted(code + "\n"), code)
    seen = Seen(html)
    assert seen.all.replace("\n", "") == code.replace("\n", "")
    assert html.count("<details") == len(asides(code))
    if asides(code):
        assert json.loads(unescape(seen.script)) == code


def test_markup_whose_lines_are_not_whole_is_left_as_it_is():
    html = '<pre><span></span><code><span class="hll">a\n</span>b</code></pre>'
    assert folded(html, ONE.rstrip("\n")) == html
