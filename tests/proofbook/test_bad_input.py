"""Bad and odd input, each on a throwaway book: told by line where it is wrong, right where not."""

import html

from books import build, build_error, make_book, run_in

from proofbook.__main__ import main
from proofbook.text import LARGEST_TEXT
from tables import table


def page(code: str, rest: str = "") -> str:
    return f"# Page\n\n```python\n{code}\n```\n\n{rest}\n"


def shown(book, name: str = "index.html") -> str:
    """A page of the built book, with its characters as they are."""
    return html.unescape((build(book) / name).read_bytes().decode())


# -- Claims that cannot be checked -----------------------------------------------------------------


@table(
    ("claim", "reason"),
    [
        ("[1]{ equals='1 / (x - 3)' }", "ZeroDivisionError: division by zero"),
        ("`x.nothing > 2`{ holds }", "AttributeError: 'int' object has no attribute 'nothing'"),
        ("[…]{ value='[][x]' holds='x > 2' }", "IndexError: list index out of range"),
        ("[1]{ equals='exit(x)' }", "SystemExit: the block called sys.exit(3)"),
        ("[1]{ equals='fail(x)' }", "ValueError: " + "é" * 499 + "…"),
    ],
)
def test_a_claim_that_raises_is_told_with_its_line_and_the_others_are_judged(
    tmp_path, claim, reason
):
    code = "x = 3\n\ndef fail(x):\n    raise ValueError('é' * 3_000_000 + '\\ud83d')"
    text = page(code, f"{claim} and\n[4]{{ equals='x' }}.")
    message = build_error(make_book(tmp_path, {"index.md": text, "b.md": page("y = 1")}))
    assert f"docs/index.md:10: this claim cannot be checked: {reason}" in message
    assert "docs/index.md:11: the page says '4', this run gives 3" in message
    assert "docs/b.md" not in message
    assert len(message) < 3 * LARGEST_TEXT


# -- Blocks that print megabytes -------------------------------------------------------------------


def test_a_block_that_prints_megabytes_is_cut_and_says_so(tmp_path):
    code = "for i in range(100_000):\n    print(f'{i:049}')\nlist(range(300_000))"
    told = shown(make_book(tmp_path, {"index.md": page(code)}))
    assert "000000000\n" in told
    assert "[… cut here: 5.0 MB in all]" in told
    assert "[0, 1, 2, " in told
    assert "[… cut here: 2.3 MB in all]" in told
    assert len(told) < 3 * LARGEST_TEXT


def test_a_doctest_that_prints_megabytes_is_told_where_it_begins_to_differ(tmp_path):
    code = ">>> for i in range(30_000):\n...     i\n" + "".join(f"{i}\n" for i in range(300))
    text = f"```pycon\n{code.replace('299', 'other')}\n```\n"
    message = build_error(make_book(tmp_path, {"index.md": text}))
    assert "docs/index.md:2: the output differs from the page" in message
    assert "    - other\n" in message
    assert "    + 299\n" in message
    assert "0\n      1\n" not in message
    assert message.count("\n") < 250


# -- Characters of all kinds -----------------------------------------------------------------------

WORLD = """\
größe = "naïve 日本語 אבג 🙂🏽 e\u0301 \u200d"
print(größe)
print("a\u2028b")
größe
"""
WORLD_CLAIM = """\
The [naïve 日本語 אבג 🙂🏽 e\u0301 \u200d]{ equals="größe" } begins with
[…]{ value="größe[:5]" holds="'日' in größe" }.

```pycon
>>> größe[6:9]
'日本語'
>>> "a\u2028b"
'a\\u2028b'
>>> 1
2
```
"""


def test_characters_of_all_scripts_are_read_run_shown_and_compared(tmp_path):
    text = page(WORLD.rstrip(), WORLD_CLAIM.replace("\n2\n", "\n1\n"))
    book = make_book(tmp_path, {"häuser & 日本/straße.md": text})
    told = shown(book, "häuser & 日本/straße/index.html")
    assert told.count("naïve 日本語 אבג 🙂🏽 e\u0301 \u200d") >= 3
    assert "a\u2028b" in told
    assert '<span class="proofbook-claim proofbook-bounded">naïve<button' in told


def test_lines_are_counted_right_behind_odd_characters(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "ascii")  # a console that cannot show them
    book = make_book(tmp_path, {"straße.md": page(WORLD.rstrip(), WORLD_CLAIM)})
    done = run_in(book, "proofbook", "check")
    assert done.returncode == 1
    assert "docs/stra\\xdfe.md:18: the output differs" in done.stdout
    assert done.stdout.endswith("1 chapter, 1 problem\n")
    assert run_in(book, "proofbook", "update").returncode == 0
    updated = (book / "docs" / "straße.md").read_text(encoding="utf-8")
    assert updated == page(WORLD.rstrip(), WORLD_CLAIM.replace("\n2\n", "\n1\n"))


def test_control_characters_and_halves_of_characters_harm_no_page(tmp_path):
    code = r"""
class Odd:
    def _repr_html_(self):
        return "<b>half \ud83d</b>"

print("\x02wzxhzdk:0\x03 \x0265\x03 \x00 \x1b[31mred\x1b[0m")
half = "\ud83d"
Odd()
"""
    claim = "[…]{ value='half' holds='len(half) == 1' }"
    told = shown(make_book(tmp_path, {"index.md": page(code, claim)}))
    assert r"\x02wzxhzdk:0\x03 \x0265\x03 \x00 red" in told
    assert r"<b>half \ud83d</b>" in told
    assert r'<span class="proofbook-claim proofbook-bounded">\ud83d<button' in told
    failing = page(code, page("raise ValueError(half)"))
    message = build_error(make_book(tmp_path / "failing", {"index.md": failing}))
    assert r"ValueError: \ud83d" in message


# -- Line ends, tabs, marks of byte order ----------------------------------------------------------

EVERYTHING = """\
---
title: Odd
---

# Odd

```python
from helper import twice

text = '''first
second'''
print(twice(text))
```

| what | says |
|---|---|
| lines | [two]{ equals="text.count(chr(10)) + 1" } |

```pycon
>>> for line in text.split():
...     print(line)
first
second
```

```python show="helper:twice"
```

It is […]{ value="len(text)"
holds="text.isascii()" }.
"""
HELPER = "import re\n\n\ndef twice(text):\n    return re.sub('s', 'ss', text)\n"


@table("ends", ["\n", "\r\n", "\r"])
@table("mark", ["", "\ufeff"])
def test_line_ends_and_marks_of_byte_order_change_nothing(tmp_path, ends, mark):
    helper = mark + HELPER.replace("\n", ends)
    text = mark + EVERYTHING.replace("\n", ends)
    config = "site_name: x\nplugins:\n  - proofbook: {sources: [.]}\n".replace("\n", ends)
    book = make_book(tmp_path, {"index.md": text}, {"helper.py": helper}, config)
    told = shown(book)
    assert "firsst\nssecond" in told
    assert '<span class="proofbook-claim">two<button' in told
    assert '<span class="proofbook-claim proofbook-bounded">12<button' in told
    assert "helper.py, lines 4 to 5" in told
    assert "\r" not in told
    wrong = text.replace("[two]", "[six]").replace(
        f"{ends}second{ends}```", f"{ends}third{ends}```"
    )
    message = build_error(make_book(tmp_path, {"index.md": wrong}, config=config))
    assert "docs/index.md:17: the page says 'six', this run gives 2" in message
    assert "docs/index.md:20: the output differs" in message


TABS = """\
1.	A list, indented with tabs:

	```python
	def f(x):
		return [x,
			x]

	print("a\tb".split())
	```

	```pycon
	>>> print("a\\tb")
	a	b
	>>> f(1)
	[1, 2]
	```

!!! note "In a note"

	[two]{ equals="f(2)[0]" }
"""


def test_tabs_indent_as_blanks_do(tmp_path):
    book = make_book(tmp_path, {"index.md": TABS})
    message = build_error(book)
    assert "docs/index.md:14: the output differs" in message
    assert "1 problem in the book" in message
    right = TABS.replace("[1, 2]", "[1, 1]")
    told = shown(make_book(tmp_path, {"index.md": right}))
    assert "['a', 'b']" in told
    assert '<span class="proofbook-claim">two<button' in told


def test_update_leaves_a_page_alone_whose_fences_stand_behind_tabs(tmp_path, capsys):
    book = make_book(tmp_path, {"index.md": TABS})
    assert main(["-f", str(book / "mkdocs.yml"), "update"]) == 1
    assert "docs/index.md: not updated" in capsys.readouterr().out
    assert (book / "docs" / "index.md").read_text() == TABS
