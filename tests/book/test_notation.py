"""Every letter of the book's formulas is in the table, and the table has no others."""

import re
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from browser import visit
from proofbook.maths.symbol_table import read_symbols

ROOT = Path(__file__).parents[2]
NOTATION = "reference/notation.md"
SYMBOLS = read_symbols((ROOT / "docs" / NOTATION).read_text(encoding="utf-8"), NOTATION)
NAMES = {
    *("sin", "cos", "tanh", "log", "ln", "min", "max", "erf", "exp", "π"),
    *("Embed", "Layer", "head", "RMSNorm", "SwiGLU", "SiLU", "GELU", "score", "lens", "norm"),
}
"""Functions that say themselves what they are, and a number."""


class Letters(HTMLParser):
    """What the letters of a page's formulas carry; None where that is nothing."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, str | None]] = []
        self.found: list[tuple[str, str | None]] = []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.open.append((tag, dict(attrs).get("data-aid")))

    def handle_endtag(self, tag):
        while self.open and self.open.pop()[0] != tag:
            pass

    def handle_data(self, data):
        tags = [tag for tag, _ in self.open]
        if "math" in tags and tags[-1] == "mi" and data.isalpha() and "details" not in tags:
            carried = [aid for _, aid in self.open if aid]
            self.found.append((data, carried[-1] if carried else None))


@pytest.fixture(scope="module")
def letters(site) -> dict[str, list[tuple[str, str | None]]]:
    found = {}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        if "$" not in file.read_text(encoding="utf-8"):  # or it repeats what others say
            continue
        name = file.relative_to(ROOT / "docs").as_posix()
        html = site / ("index.html" if name == "index.md" else f"{name[:-3]}/index.html")
        read = Letters(html.read_text(encoding="utf-8")).found
        if read and name != NOTATION:
            found[name] = read
    return found


def test_every_letter_of_every_formula_is_explained(letters):
    assert len(letters) > 15
    for page, found in letters.items():
        bare = {letter for letter, aid in found if aid is None} - NAMES
        assert not bare, page


def test_every_symbol_of_the_table_stands_in_a_formula(site, letters):
    carried = {}
    for page in letters:
        html = (site / page[:-3] / "index.html").read_text(encoding="utf-8")
        aids = re.findall(r'data-aid="([^"]*)"', html)
        carried[page] = {unescape(aid).partition("; here ")[0] for aid in aids}
    everywhere = set().union(*carried.values())
    for symbol in SYMBOLS:
        assert symbol.meaning in (carried[symbol.home] if symbol.home else everywhere), symbol


def test_letters_without_a_chapter_of_their_own_mean_one_thing(letters):
    shared = [symbol.tex for symbol in SYMBOLS if not symbol.home]
    assert len(shared) == len(set(shared)) > 50
    local = [(symbol.tex, symbol.home) for symbol in SYMBOLS if symbol.home]
    assert len(local) == len(set(local)) > 20


def test_values_come_from_the_run(letters):
    aids = {aid for _, aid in letters["encoder/attention.md"] if aid}
    assert "width of a head: numbers in a query or a key; here 32" in aids
    assert "queries, one in each row; here [7, 32]" in aids
    given = [
        page for page, found in letters.items() if any("; here " in (a or "") for _, a in found)
    ]
    assert len(given) > 10


@pytest.mark.browser
def test_a_letter_opens_on_pointing_and_the_list_on_a_key(browser, address):
    with visit(browser, f"{address}encoder/attention/") as seen:
        page, tip = seen.page, seen.page.locator("#aid")
        letter = page.locator(".maths-block [data-aid]", has_text="K").first
        letter.hover()
        assert tip.inner_text() == letter.get_attribute("data-aid")
        page.locator("details.symbols summary").first.focus()
        page.keyboard.press("Enter")
        shown = page.locator("details.symbols").first
        assert "queries, one in each row; here [7, 32]" in shown.inner_text()
        assert shown.locator("dt a").first.is_visible()
