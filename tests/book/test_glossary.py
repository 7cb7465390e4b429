"""Terms are explained where chapters first mention them, and nowhere else."""

import re
from pathlib import Path

import pytest
from pages import Page

from browser import opened, visit
from glassbook.site.glossary.terms import ENTRY

ROOT = Path(__file__).parents[2]
GLOSSARY = ROOT / "docs/reference/glossary.md"
SOON = 1000  # milliseconds, more than a definition stays when nobody points at it
WITHOUT = ("reference/", "contributing.md", "index.md", "labs/", "source/")


def test_the_terms_stand_once_and_lead_to_a_chapter_that_has_them():
    text = GLOSSARY.read_text(encoding="utf-8")
    entries = list(ENTRY.finditer(text))
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
        assert not keys or not f"{where}.md".startswith(WITHOUT), where
        total += len(keys)
    assert total > 80


@pytest.mark.browser
def test_definitions_open_on_pointing_and_on_focus(browser, address):
    with visit(browser, "about:blank") as seen:
        page = seen.page
        page.clock.install()
        opened(page, f"{address}translation/translation/")
        term, tip = page.locator("a.term").first, page.locator("#aid")
        term.hover()
        assert tip.inner_text() == term.get_attribute("data-aid")
        tip.hover()
        page.clock.run_for(SOON)
        assert tip.is_visible()
        page.mouse.move(2, 2)
        page.clock.run_for(SOON)
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
        assert not seen.complaints


@pytest.mark.browser
def test_definitions_open_on_the_first_tap(browser, address):
    with visit(browser, f"{address}translation/translation/", width=360, touch=True) as seen:
        term, tip = seen.page.locator("a.term").first, seen.page.locator("#aid")
        term.tap()
        assert tip.is_visible()
        box = tip.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 360
        tip.locator("a").tap()
        seen.page.wait_for_url("**/reference/glossary/**")
        assert not seen.complaints
