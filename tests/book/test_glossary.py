"""Terms are explained where chapters first mention them, and nowhere else."""

import importlib.util
import re
from html import unescape
from pathlib import Path

import markdown
import pytest
from pages import Page

from browser import launched, served

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs/reference/glossary.md"

pytestmark = pytest.mark.xdist_group("site")

spec = importlib.util.spec_from_file_location("glossary", ROOT / "hooks/glossary.py")
glossary = importlib.util.module_from_spec(spec)
spec.loader.exec_module(glossary)

ENTRIES = """
Beam search { #beam-search data-forms="beam search|beams" }
:   Several at once. [Writing](../a/writing.md#how)

Logit { #logit }
:   A raw vote, "so to say". [Choosing](../a/choosing.md)

Value { #value data-forms="-" }
:   What is handed over. [Looking](../a/looking.md)

GELU { #gelu data-forms="GELU" }
:   A bend. [Bends](../a/bends.md)
"""


def converted(text: str, page: str = "b/page.md", entries: str = ENTRIES) -> str:
    links = glossary.TermLinks()
    links.glossary, links.page = glossary.read(entries), page
    return markdown.markdown(text, extensions=["attr_list", "md_in_html", "tables", links])


def linked(html: str) -> list[tuple[str, str]]:
    """Key and text of each link to a term."""
    return re.findall(r'<a class="term"[^>]* href="[^"#]*#([\w-]+)">([^<]*)</a>', html)


def test_the_first_mention_carries_the_definition():
    html = converted("## How\n\nTwo logits, then a logit.")
    assert html.count("<a") == 1
    assert linked(html) == [("logit", "logits")]
    assert 'href="../reference/glossary.md#logit"' in html
    assert "Two <a" in html
    assert "</a>, then a logit." in html
    assert unescape(html.split('data-aid="')[1].split('"')[0]) == 'A raw vote, "so to say".'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Beam\nsearch, Beam search", [("beam-search", "Beam\nsearch")]),
        ("A GELU, not gelu", [("gelu", "GELU")]),
        ("a gelu", []),
        ("a value", []),
        ("pre-logit, logit-like, logitic", []),
        ("**a logit** *and beams*, then", [("logit", "logit"), ("beam-search", "beams")]),
        ("*x* logits *y* beams *z*", [("logit", "logits"), ("beam-search", "beams")]),
        ("- one\n- a logit", [("logit", "logit")]),
        ("`logit` [logit](x.md) then logit", [("logit", "logit")]),
        ("### Logit\n\nx", []),
        ("| logit |\n|---|\n| a logit |", [("logit", "logit")]),
        ('<div class="proofbook-end" markdown>a logit</div>', []),
    ],
)
def test_forms_and_places(text, found):
    assert linked(converted(f"## How\n\n{text}")) == found


def test_order_and_text_stay_as_they_were():
    text = "A *b* logit c beams **d logit** e GELU f."
    html = converted(f"## How\n\n{text}")
    plain = re.sub("<[^>]+>", "", html).replace("How", "").strip()
    assert plain == text.replace("*", "")
    assert [key for key, _ in linked(html)] == ["logit", "beam-search", "gelu"]


def test_nothing_is_linked_before_the_first_section_at_a_terms_home_or_outside_chapters():
    assert linked(converted("A logit.\n\n## How\n\nA GELU.")) == [("gelu", "GELU")]
    assert linked(converted("## How\n\nA logit, beams.", "a/choosing.md")) == [
        ("beam-search", "beams")
    ]
    assert linked(converted("## How\n\nA logit.", None)) == []


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("Logit\n:   A raw vote. [C](../c.md)\n", "an entry is not"),
        ("Logit { #logit }\n:   A raw vote.\n", "an entry is not"),
        (ENTRIES + "Beams { #b }\n:   Rays. [C](../c.md)\n", "'beams' is a form of beam-search"),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused(entries, message):
    with pytest.raises(ValueError, match=message):
        glossary.read(entries)


def test_the_terms_stand_once_and_lead_to_a_chapter_that_has_them():
    text = GLOSSARY.read_text(encoding="utf-8")
    entries = list(glossary.ENTRY.finditer(text))
    assert len(entries) > 60
    for group in text.split("\n## ")[1:]:
        assert group.count("\n:   ") > 5
    keys = [entry["key"] for entry in entries]
    assert len(set(keys)) == len(keys)
    for entry in entries:
        chapter = (ROOT / "docs" / entry["home"]).read_text(encoding="utf-8")
        title = re.search(r"^# (.+)$", chapter, flags=re.MULTILINE)[1]
        assert f"[{title}](../{entry['home']}" in entry[0], entry["key"]
        words = [word for word in re.findall(r"\w{3,}", entry["name"]) if word != "and"]
        said = [word for word in words if re.search(rf"\b{word}", chapter, re.IGNORECASE)]
        assert said, (entry["key"], entry["home"])


def test_links_of_the_site_lead_to_their_entries(site):
    entries = Page(site / "reference/glossary/index.html")
    known = {tag.attributes["id"] for tag in entries.named("dt")}
    total = 0
    for file in sorted((ROOT / "docs").rglob("*.md")):
        where = file.relative_to(ROOT / "docs").with_suffix("")
        page = site / (where.parent if where.name == "index" else where) / "index.html"
        if where.name == "whole-book":
            continue
        html = page.read_text(encoding="utf-8")
        keys = re.findall(r'<a class="term"[^>]* href="[^"]*glossary/#([\w-]+)"', html)
        assert html.count('class="term"') == len(keys) == len(set(keys)), where
        assert {*keys} <= known
        assert not keys or not f"{where}.md".startswith(glossary.WITHOUT), where
        total += len(keys)
    assert total > 80


@pytest.mark.browser
def test_definitions_open_on_pointing_on_focus_and_on_the_first_tap(site):
    with served(site) as address, launched() as browser:
        page = browser.new_page()
        page.goto(f"{address}decoder/translation/")
        term, tip = page.locator("a.term").first, page.locator("#aid")
        term.hover()
        assert tip.inner_text() == term.get_attribute("data-aid")
        tip.hover()
        page.wait_for_timeout(400)
        assert tip.is_visible()
        page.mouse.move(2, 2)
        page.wait_for_timeout(400)
        assert tip.is_hidden()
        term.evaluate("e => e.previousSibling && e.scrollIntoView({block: 'center'})")
        page.keyboard.press("Tab")
        term.focus()
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Tab")
        assert tip.is_visible()
        assert term.get_attribute("aria-describedby") == "aid"
        page.keyboard.press("Escape")
        assert tip.is_hidden()
        page.close()
        finger = browser.new_context(has_touch=True, viewport={"width": 360, "height": 780})
        page = finger.new_page()
        page.goto(f"{address}decoder/translation/")
        term, tip = page.locator("a.term").first, page.locator("#aid")
        term.tap()
        assert tip.is_visible()
        box = tip.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        tip.locator("a").tap()
        page.wait_for_url("**/reference/glossary/**")
        finger.close()
