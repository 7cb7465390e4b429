"""The catalogue of mistakes is whole, and each entry that it leads to measures something."""

import re
from functools import cache
from pathlib import Path

from markdown.extensions.toc import slugify

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
CATALOGUE = DOCS / "appendix/notebooks.md"

# What has been met and measured: numbers are names, the words begin the entry.
ROWS = {
    1: "Embeddings as query, key, and value",
    2: "“Identical words attract each other”",
    3: "“Softmax makes the columns sum to one”",
    4: "“The matrix is often symmetric”",
    5: "Scores without the division",
    6: "Scores divided by the width of the whole model",
    7: "An assertion that values must be as wide",
    8: "“A loop over heads equals one product”",
    9: "The number of heads passed as the width",
    10: "Which number must divide which",
    11: "The wrong one of two similar names",
    12: "Attention as averaging",
    13: "A new table mistaken for BERT's",
    14: "An embedding as a one-to-one map",
    15: "“Dense” as “without zeros”",
    16: "Words counted where tokens are meant",
    17: "Special tokens confused with padding",
    18: "“Invariant” to order",
    19: "Position ids left on the CPU",
    20: "Sinusoids: the formula is right",
    21: "One vector for both meanings of a word",
    22: "An encoder that can't tell the two sentences",
    23: "An additive mask given to code that hides zeros",
    24: "Minus a billion for minus infinity",
    25: "Minus infinity in a row that may see nothing",
    26: "Padding without a mask",
    27: "A heading “decoder” over layers",
    28: "A padding mask applied to the queries",
    29: "One triangle, four conventions",
    30: "Masks “for training,”",
    31: "A layer's second addition forgotten",
    32: "Training mode never left",
    33: "Dropout at its default",
    34: "A layer norm described as a batch norm",
    35: "A pre-norm stack without its last norm",
    36: "The feed-forward network is a convolution",
    37: "Embeddings normalized twice",
    38: "“Post-norm needs a warm-up”",
    39: "No dropout in attention",
    40: "A misspelled parameter",
    41: "A random answer mistaken for a prediction",
    42: "“This is BERT,” and it isn't",
    43: "Configuration fields that nobody reads",
    44: "PyTorch's encoder with the batch as the sequence",
    45: "PyTorch's encoder with its defaults",
    46: "A head that reads a word instead of `[CLS]`",
    47: "An encoder-decoder that's defined but never built",
    48: "“GPT is the decoder”",
    49: "“Common words get less attention”",
    50: "A cross-attention map drawn transposed",
    51: "A picture with special tokens, above code without",
    52: "A viewer's own model that finds no weights",
    53: "Attentions requested at the call",
    54: "Exported notebooks without their pictures",
    55: "Weights called scores",
    56: "One head shown for the whole model",
    57: "A picture's size",
    58: "A comment whose numbers differ",
    59: "A layer made from one size",
    60: "A model loaded for a picture",
    61: "A batch's transpose applied to a vector",
    62: "Outputs that no single run produced",
}

LINK = re.compile(r"\[((?:[^\[\]]|\[\w+\])+)\]\(([\w/.-]*)#([\w-]+)\)")


NUMBER = r"^\| \[?(\d+)(?:\]\{.*?\})? \| "
WAYS = {"change", "compare", "measure", "error", "read"}
TRUE = {8, 12, 21, 36, 38}
"""Statements that look like mistakes."""


@cache
def listed() -> dict[int, tuple[str, str]]:
    """What is met, and where it is measured, by the number of its row."""
    row = re.compile(NUMBER + r"(.+?) \| (?:[a-z, ]+ \| )?(.+?) \|$", flags=re.MULTILINE)
    found = row.findall(CATALOGUE.read_text(encoding="utf-8"))
    assert len({number for number, _, _ in found}) == len(found)
    return {int(number): (met, where) for number, met, where in found}


@cache
def prose(path: Path) -> str:
    """A page without its code: a comment in it is no heading."""
    fence = r"^([ \t]*)(`{3,})[^\n]*\n.*?^\1\2[ \t]*$"
    return re.sub(fence, "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)


@cache
def headings(path: Path) -> dict[str, str]:
    """The headings of a page below its title, by their anchors."""
    lines = re.findall(r"^#{2,3} (.+?)(?: \{ #([\w-]+)[^{}]*\})?$", prose(path), flags=re.MULTILINE)
    return {anchor or slugify(text.replace("`", ""), "-"): text for text, anchor in lines}


def entries() -> dict[str, str]:
    """The entries that the page measures itself, each with its text."""
    text = CATALOGUE.read_text(encoding="utf-8").split("\n## Slips of the pen\n")[0]
    parts = re.split(r"^### (.+?)(?: \{ #[\w-]+ \})?$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def target(number: int) -> tuple[Path, str, str]:
    """File, anchor, and words of the link of a row."""
    link = LINK.fullmatch(listed()[number][1])
    assert link, f"row {number}: the place is written '[Words](file.md#heading)'"
    there = (CATALOGUE.parent / link[2]).resolve() if link[2] else CATALOGUE
    return there, link[3], link[1]


def test_each_mistake_stands_once_under_its_number():
    rows = listed()
    assert sorted(rows) == list(ROWS)
    assert [number for number in rows if number not in TRUE] == sorted(ROWS.keys() - TRUE)
    assert set([*rows][-len(TRUE) :]) == TRUE
    for number, (met, _) in rows.items():
        assert met.startswith(ROWS[number]), number


def test_each_mistake_says_how_it_is_found_and_a_true_statement_does_not():
    row = re.compile(NUMBER + r".+? \| ([a-z, ]+) \| ", flags=re.MULTILINE)
    found = dict(row.findall(CATALOGUE.read_text(encoding="utf-8")))
    assert {int(number) for number in found} == ROWS.keys() - TRUE
    assert {way for ways in found.values() for way in ways.split(", ")} == WAYS


def test_each_row_leads_to_a_heading():
    wrong = []
    for number in ROWS:
        path, anchor, words = target(number)
        found = headings(path)
        if anchor not in found or (path == CATALOGUE and found[anchor] != words):
            wrong.append(f"{number}: {path.name}#{anchor} is not {words!r}")
    assert not wrong, "\n".join(wrong)


def test_each_entry_is_in_the_catalogue_runs_measures_and_leads_on():
    places = {words for there, _, words in map(target, ROWS) if there == CATALOGUE}
    found = entries()
    assert set(found) | {"Slips of the pen"} == places
    for name, body in found.items():
        assert re.search(r"^```(python|pycon)$", body, flags=re.MULTILINE), name
        assert re.search(r"\{ (equals|holds)[ =]", body), name
        assert re.search(r"\]\([\w./-]+\.md#[\w-]+\)", body), name
