"""What could be a claim and is not is found; what is one, or states no value, is not."""

import re

import pytest
from books import make_book

from proofbook.__main__ import main
from proofbook.checking.book import Book
from proofbook.coverage.coverage import Coverage, cover
from proofbook.coverage.links import broken_links
from proofbook.integrations.reading import load
from proofbook.parsing.source import read
from tables import table

CONFIG = """\
site_name: A throwaway book
markdown_extensions: [footnotes, proofbook.maths, tables]
plugins:
  - proofbook:
      environment: [BOOK_DEVICE]
      coverage: {names: [GPT-2, GPT-2 XL, float32]}
"""
LIBRARY = "class Layer:\n    def __init__(self, d_inner):\n        self.d_inner = d_inner\n"
BLOCK = """
```python
import math

from lib import Layer

x, tiny = [2, 3, 5], 1e-6
share = x[0] / sum(x)
sorted(x, key=lambda one: -one)
```
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    files = {"src/lib.py": LIBRARY, "sitecustom/none": "", "data/run-7.json": "{}"}
    folder = make_book(tmp_path_factory.mktemp("book"), {"there.md": "# There\n"}, files, CONFIG)
    (folder / "lib.py").symlink_to(folder / "src" / "lib.py")
    with Book(load(folder / "mkdocs.yml"), covers=True) as made:
        yield made


def judged(book: Book, text: str) -> Coverage:
    """The coverage of a page whose block comes first and whose text stands on line 12."""
    [checked] = book.check({"docs/page.md": f"{BLOCK}\n{text}\n"})
    assert checked.problems == []
    return cover(checked, book.settings)


def left(book: Book, text: str) -> list[tuple[str, str]]:
    """Kind and text of what is uncovered."""
    return [(kind, found) for _, kind, found in judged(book, text).uncovered]


NUMERALS = [
    "3", "0.75", "30,522", "94%", "1e-6", "−0.3", "2×", "12-layer", "٣", "½", "x²", "¼", "３", "Ⅳ",
    "3rd", "W1", "1936",
]  # fmt: skip


@table("numeral", NUMERALS)
def test_a_bare_numeral_is_found_whatever_its_script(book, numeral):
    assert left(book, f"It is {numeral}.") == [("numeral", numeral)]


@table(
    ("bare", "claimed", "kind"),
    [
        ("There are 3.", "There are [3]{ equals='len(x)' }.", "numeral"),
        ("**3** of them", "**3**{ equals='len(x)' } of them", "numeral"),
        ("## The 3 of them", "## The [3]{ equals='len(x)' } of them", "numeral"),
        ("- 3 items", "- [3]{ equals='len(x)' } items", "numeral"),
        ("> 3 said", "> [3]{ equals='len(x)' } said", "numeral"),
        ("!!! note\n    3 here", "!!! note\n    [3]{ equals='len(x)' } here", "numeral"),
        ("| n |\n|---|\n| 3 |", "| n |\n|---|\n| [3]{ equals='len({*x} | {*x})' } |", "numeral"),
        ("| n | m |\n|---|---|\n| a | `x|3` |", "| n | m |\n|---|---|\n| a | b |", "code"),
        (
            "<figcaption markdown>All 3</figcaption>",
            "<figcaption markdown>All [3]{ equals='len(x)' }</figcaption>",
            "numeral",
        ),
        ("A.[^1]\n\n[^1]: It is 3.", "A.[^1]\n\n[^1]: It is [3]{ equals='len(x)' }.", "numeral"),
        ("[3 of them](there.md)", "[[3]{ equals='len(x)' } of them](there.md)", "numeral"),
        ("$3$", "$x_3$", "numeral"),
        ("$$\n0.75\n$$", "$$\n\\frac{3}{4}\n$$", "numeral"),
        ("![Head 8](there.md)", "![A head](there.md)", "alternative text"),
        ('<img src="there.md" alt="Head 8">', '<img src="8.png" alt="A head">', "alternative text"),
        ("`[2, 3]`", "`[2, 3]`{ equals='x[:2]' }", "shape"),
        ("`(batch, seq)`", "batch by seq", "shape"),
        ("`f(7)`", "`len(x) < 7`{ holds }", "name"),
        ("`Layer(7)`", "`Layer(d_inner)`", "code"),
        ("`x[7:]`", "`tiny = [2, 3, 5], 1e-6`", "code"),
        ("`7`", "`7`{ equals='x[0] + x[2]' }", "code"),
        ("`1e-6`", "`1e-6`{ equals='tiny' }", "code"),
        ("`2`", "`2`{ equals='x[0]' }", "code"),
        ("`data/run-8.json`", "`data/run-7.json`", "code"),
    ],
)  # fmt: skip
def test_each_kind_is_found_when_bare_and_silent_when_claimed(book, bare, claimed, kind):
    assert [found for found, _ in left(book, bare)] == [kind]
    assert left(book, claimed) == []


@table(
    ("words", "kind"),
    [
        ("seven", "number word"),
        ("Twenty-one", "number word"),
        ("two hundred and five", "number word"),
        ("half", "number word"),
        ("a third", "number word"),
        ("twice", "number word"),
        ("tenfold", "number word"),
        ("more", "comparative"),
        ("larger", "comparative"),
        ("lowest", "comparative"),
        ("equal", "comparative"),
        ("most", "comparative"),
    ],
)
def test_words_are_found_in_a_sentence_that_names_a_value(book, words, kind):
    found = words.removeprefix("a ")
    for value in ("[3]{ equals='len(x)' }", "*one*{ equals='1 + 0 * x[0]' }", "7"):
        assert (kind, found) in left(book, f"Of {value} they are {words}.")
    claim = "[3]{ equals='len(x)' }"
    assert left(book, f"They are {words}. Another has {claim}.") == []
    bound = f"""[{words}]{{ equals="word(len(x) == 3, '{words}', 'not so')" }}"""
    assert left(book, f"Of {claim} they are {bound}.") == []


def test_number_words_in_sentences_without_a_value_are_counts(book):
    claim = "[3]{ equals='len(x)' }"
    text = (
        f"# Twelve heads\n\nThey have twelve heads.\n\n| two | b |\n|---|---|\n| a | {claim} |\n"
        "\nTwice is `sorted`. ![Six dots](there.md) Larger.\n\n"
        '[Four]{ .literal reason="example" } of them.\n'
    )
    found = judged(book, text)
    assert found.counts == ((14, "twelve"), (20, "Twice"), (20, "Six"))
    assert (found.uncovered, found.exempt) == ((), 1)


@table("words", ["at most 7", "no longer", "*larger*", "half of them"])
def test_what_holds_binds_is_covered(book, words):
    holds = f"{words.strip('*')}: max(x) < 7"
    assert left(book, f'They are [{words}]{{ holds="{holds}" }}.') == []


def test_a_value_that_is_filled_in_is_one(book):
    text = "Of […]{ value='x[0]' holds='x[0] > 0' } two."
    assert left(book, text) == [("number word", "two")]


def test_a_claim_about_a_word_names_no_value(book):
    for text in ("sorted", "within float32's rounding", "in triples"):
        claim = f'[{text}]{{ holds="{text}: x[0] < 9" }}'
        assert left(book, f"It is {claim} in two senses, or more.") == []


def test_an_abbreviation_or_a_cell_ends_no_sentence_too_late(book):
    table = "| [3]{ equals='len(x)' } | two |\n|---|---|\n| more | less |"
    assert left(book, table) == []
    assert left(book, "- [3]{ equals='len(x)' }\n- two") == []
    assert left(book, "Of [3]{ equals='len(x)' }, e.g. the two.") == [("number word", "two")]


@table(
    "text",
    [
        "GPT-2, GPT-2 XL's and float32",
        "Vaswani et al. (2017), or (Shazeer 2019; Xiong et al., 2020)",
        "Vaswani et al. 2017, [arXiv:1706.03762](https://arxiv.org/abs/1706.03762)",
        "known since 2018, and in 1951.",
        "section 3.2.1, figures 1 and 2, § 4, Table A.3, doi 10.1000/182, RFC 8259",
        "version 5, v2.6 and 1.26.4",
        "1. one\n2. two",
        "## 3.1 A heading\n\n## 4. Another",
        "| | name |\n|---|---|\n| 1 | a |\n| 2 | b |\n| 3 | c |",
        "[there](there.md 'page 3') and <https://a.b/3> and https://a.b/3",
        "[there][3]\n\n[3]: there.md",
        "*so*{ #id-3 } &#123; <span class='c3'>so</span> <!-- 3 -->",
        "Formulas $d^{2}$, \\(x_1\\) and\n\n$$\n\\frac{1}{2}\n$$",
        "```sh\nmake 3\n```",
        "```text\nno numbers, no code\n```",
        "~~~markdown\n```python\n3\n```\n~~~",
        "<!--\n3\n-->",
    ],
)
def test_what_states_no_value(book, text):
    assert left(book, text) == []


@table(
    "text",
    [
        "(2017 tokens)",
        "of 2000",
        "(we drew 2000)",
        "in 2017 steps",
        "(12)",
        "table",
        "2048",
        "GPT-21",
        "3.5",
    ],
)
def test_what_only_looks_exempt(book, text):
    assert len(left(book, f"We see {text} of [it](there.md).")) == len(re.findall(r"\d+", text)[:1])


@table("number", ["1. one\n3 more", "Text\n2. two", "| a |\n|---|\n| 3 |\n| 5 |"])
def test_numbers_that_begin_a_line_and_no_list(book, number):
    assert left(book, number) != []


@table(
    "name",
    [
        "x", "sum", "math.cos", "math.cos()", "math.floor(x)", "share.is_integer", ".is_integer()",
        "Layer", "lib.Layer", "Layer.mro", "d_inner", "json.decoder.JSONDecoder", "BOOK_DEVICE",
        "key=lambda one: -one", "[5, 3, 2]", "cos", "None", "config.json", "flies",
    ],
)  # fmt: skip
def test_names_that_exist_and_code_that_ran_are_covered(book, name):
    found = judged(book, f"See `{name}`.")
    assert [kind for _, kind, _ in found.uncovered] == (["shape"] if name[0] == "[" else [])


@table(
    "name",
    ["math.cosinus", "lib.Layers", "Layers", "d_outer", "x.shape", "json.decoder.No", ".no_such()",
     "OTHER_DEVICE", "no_such(x)"],
)  # fmt: skip
def test_names_that_do_not_exist_are_found(book, name):
    assert left(book, f"See `{name}`.") == [("name", name)]


def test_a_page_without_blocks_may_name_the_book_s_own(book):
    [checked] = book.check({"docs/bare.md": "`lib.Layer`, `Layer`, `d_inner` and `lib.No`"})
    assert cover(checked, book.settings).uncovered == ((1, "name", "lib.No"),)


@table("language", ["", "text", "console", "plaintext", "Text"])
@table("code", ["3.14", "y = x", ">>> y", "import y", "print(y)"])
def test_a_fence_that_escapes_running_is_found(book, language, code):
    if (language, code) == ("", ">>> y"):  # which is a problem, even without coverage
        [checked] = book.check({"docs/bare.md": f"```\n{code}\n```"})
        assert "a doctest outside of a fence does not run" in checked.problems[0].message
        return
    assert left(book, f"```{language}\n{code}\n```") == [
        ("fence that does not run", f"```{language}")
    ]


def test_the_title_of_a_fence_is_a_caption(book):
    assert left(book, '```python title="All 3"\nx\n```') == [("caption", "All 3")]
    assert left(book, '```python title="All"\nx\n```') == []


def test_a_link_to_nothing_is_found(book):
    assert left(book, "[a](nowhere.md#b) and [b](there.md#a), `[c](no.md)`") == [
        ("link", "nowhere.md#b")
    ]


@table(
    "claim",
    [
        "`x > 2`{ holds='x > 2: [x][0](a)' }",
        "[x]{ value='d[x](b)' holds='x' }",
        "*x*{ holds=\"x: f('[a](no.md)')\" }",
    ],
)
def test_an_expression_holds_no_link(tmp_path, claim):
    source = read(f"{claim} and [a](nowhere.md)\n")
    assert source.spans
    assert [one.text for one in broken_links(source, tmp_path)] == ["nowhere.md"]


def test_a_literal_exempts_what_it_holds_and_is_counted_apart(book):
    found = judged(
        book,
        "He said [2 of 7]{ .literal reason='quotation' }, not `f(7)`{ .literal reason='example' }.",
    )
    assert (found.covered, found.exempt, found.uncovered) == (0, 3, ())


def test_a_fence_that_must_not_run_is_exempt(book):
    found = judged(book, '```python exec="off" reason="it would not end"\n3\n```')
    assert (found.covered, found.exempt, found.uncovered) == (0, 1, ())


def test_a_literal_that_exempts_nothing_is_found(book):
    text = "He said [so]{ .literal reason='quotation' }, with [GPT-2]{ .literal reason='name' }."
    assert [kind for kind, _ in left(book, text)] == ["literal that exempts nothing"] * 2


def test_lines_are_those_of_the_file(book):
    text = "---\ntitle: A 3\n---\n\n# Page\n\n```python\nx = 3\n```\n\nSo\nit is 3.\n"
    [checked] = book.check({"docs/page.md": text})
    assert cover(checked, book.settings).uncovered == ((12, "numeral", "3"),)


def test_covered_is_what_is_claimed_or_checked(book):
    found = judged(book, "[3]{ equals='len(x)' }, `math.cos`, `3`{ equals='len(x)' }, 7")
    assert (found.covered, found.exempt, found.candidates) == (3, 0, 4)


@pytest.fixture
def small(tmp_path, monkeypatch):
    whole = f"{BLOCK}\n[3]{{ equals='len(x)' }} of `math`.\n".replace("from lib import Layer\n", "")
    folder = make_book(tmp_path, {"whole.md": whole, "part.md": "# Part\n\nIt is 3.\n"}, {}, CONFIG)
    monkeypatch.chdir(folder)
    return folder


def test_the_command_lists_counts_and_fails(small, capsys):
    assert main(["check", "--coverage"]) == 1
    told = capsys.readouterr().out
    assert "\ndocs/part.md:3: numeral: 3\n" in told
    assert re.search(r"^docs/part\.md +1 +0 +0 +1 +0% +1 +0$", told, re.MULTILINE)
    assert re.search(r"^docs/whole\.md +2 +2 +0 +0 +100% +0 +0$", told, re.MULTILINE)
    assert re.search(r"^all +3 +2 +0 +1 +66% +1 +0$", told, re.MULTILINE)
    assert main(["check"]) == 0


def test_the_command_lists_sentences_when_asked_and_fails_for_none(small, capsys):
    said = "It is never " + "very " * 40 + "long."
    claim = "[so]{ equals='y' }"
    block = "```python\ny = 'so'\n```"
    text = f"# All\n\n{said}\nThat is what we\nsay. It is {claim}.\n\n{block}\n"
    (small / "docs" / "part.md").write_text(text)
    assert main(["check", "--coverage"]) == 0
    told = capsys.readouterr().out
    assert "sentence" not in told
    assert re.search(r"^docs/part\.md +1 +1 +0 +0 +100% +2 +0$", told, re.MULTILINE)
    assert main(["check", "--sentences"]) == 0
    told = capsys.readouterr().out
    listed = [line for line in told.splitlines() if ": sentence: " in line]
    assert listed[1] == "docs/part.md:4: sentence: That is what we say."
    assert re.fullmatch(r"docs/part\.md:3: sentence: It is never very (very )+…", listed[0])
    assert len(listed) == 2
    assert len(listed[0]) < len(said)
    assert re.search(r"^docs/part\.md +1 +1 +0 +0 +100% +2 +0$", told, re.MULTILINE)


def test_a_page_that_does_not_pass_is_not_judged(small, capsys):
    (small / "docs" / "part.md").write_text("It is 3.\n\n```python\n1 / 0\n```\n")
    assert main(["check", "--coverage"]) == 1
    told = capsys.readouterr().out
    assert "docs/part.md:4: ZeroDivisionError" in told
    assert "numeral" not in told


def test_too_many_exemptions_fail(small, capsys):
    exempt = "It is [3]{ .literal reason='example' }.\n"
    (small / "docs" / "part.md").write_text(exempt)
    assert main(["check", "--coverage"]) == 1
    assert "more than 10% of the candidates are exempt" in capsys.readouterr().out
    claims = "[3]{ equals='len(x)' } " * 8
    (small / "docs" / "whole.md").write_text(f"```python\nx = [1, 2, 3]\n```\n\n{claims}")
    assert main(["check", "--coverage"]) == 1
    (small / "docs" / "whole.md").write_text(f"```python\nx = [1, 2, 3]\n```\n\n{claims * 2}")
    assert main(["check", "--coverage"]) == 0
