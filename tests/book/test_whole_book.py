"""The book on one page: everything is there, links stay inside, and it prints."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pages import Page, read

from browser import visit

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.browser


@pytest.fixture(scope="module")
def whole(site: Path) -> Page:
    return read(site / "whole-book/index.html")


def sections(page: Page) -> list[str]:
    return [t.attributes["id"] for t in page.named("section") if "data-part" in t.attributes]


def test_every_chapter_and_lab_is_there_in_the_order_of_reading(whole):
    found = sections(whole)
    files = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "docs/labs").glob("*.py")]
    names = {p.relative_to(ROOT / "docs").with_suffix("").as_posix() for p in files}
    left_out = {n for n in names if n.startswith(("reference/", "contributing", "whole-book"))}
    assert {n.replace("/", "-") for n in names - left_out} <= set(found)
    order = ["index", "encoder-tokens", "encoder-attention", "gpt-masks", "labs-heads"]
    assert [name for name in found if name in order] == order
    assert "contributing" not in found


def test_no_word_of_a_chapter_is_lost(whole, site):
    chapter = read(site / "encoder/attention/index.html")
    (section,) = (t for t in whole.tags if t.attributes.get("id") == "encoder-attention")
    blocks = [t.text for t in chapter.named("h2", "p", "pre", "math", "td")]
    assert len(blocks) > 100
    text = "".join(section.text.split())
    lost = [b for b in blocks if "".join(b.split()) not in text]
    foot = ("Verified", "Download")  # each page has its own
    assert not [block for block in lost if not any(words in block for words in foot)]


def test_links_between_chapters_stay_inside(whole):
    inside = set(sections(whole))
    links = [t.attributes.get("href", "") for t in whole.named("a")]
    article = links[links.index("#encoder-tokens") :]
    led = [link for link in article if link.startswith("#")]
    assert {link[1:] for link in led} <= set(whole.ids)
    assert len([link for link in led if link[1:] in inside]) > len(inside)
    assert any("--" in link for link in led)


def test_it_has_one_title_and_no_level_is_skipped(whole):
    levels = [int(tag.name[1]) for tag in whole.named("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


@pytest.mark.timeout(600)
def test_it_opens_without_complaint_and_follows_a_link(browser, address):
    with visit(browser, f"{address}whole-book/#encoder-attention") as seen:
        heading = seen.page.locator("#encoder-attention h2").first
        assert heading.inner_text().startswith("Attention")
        assert seen.page.evaluate("scrollY") > 1000
        assert not seen.complaints
        assert not seen.foreign


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_its_views_are_drawn_as_those_of_the_chapters(browser, address):
    with visit(browser, f"{address}whole-book/") as seen:
        views = seen.page.locator("glassformer-view")
        assert views.count() > 3
        for view in views.all():
            view.scroll_into_view_if_needed()
            view.locator("#vis svg").first.wait_for(timeout=60_000)
        assert not seen.complaints


@pytest.mark.nightly
@pytest.mark.timeout(600)
def test_it_becomes_one_pdf(site, tmp_path):
    file = tmp_path / "book.pdf"
    command = [sys.executable, str(ROOT / "tools/pdf.py"), str(site), str(file)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    data = file.read_bytes()
    assert data.startswith(b"%PDF-")
    assert b"/Outlines" in data
    assert len(re.findall(rb"/Type\s*/Page\b", data)) > 100


# What paper shows of a page: its colours, what is opened, and what is left out.
PAPER = """() => {
  const shown = e => e.checkVisibility() && e.getBoundingClientRect().height > 0;
  const all = what => [...document.querySelectorAll(what)];
  const pages = all('article pre').filter(shown);
  return {
    ink: getComputedStyle(document.querySelector('article h2 + p')).color,
    paper: getComputedStyle(document.body).backgroundColor,
    frame: all('.md-header, .md-footer, .md-sidebar, .md-top, .headerlink, .md-code__nav')
      .filter(shown).length,
    folds: all('article details').length,
    folded: all('article details > :not(summary, .proofbook-download)')
      .filter(e => shown(e.parentElement) && !shown(e)).length,
    cut: pages.filter(e => e.scrollWidth > e.clientWidth + 1).length,
  };
}"""


@pytest.mark.parametrize("javascript", [True, False], ids=["scripts", "no scripts"])
def test_a_chapter_prints_black_on_white_with_its_folds_open(browser, address, javascript):
    page = f"{address}encoder/seeing-attention/"
    with visit(browser, page, width=700, dark=True, javascript=javascript) as seen:
        seen.page.emulate_media(media="print")
        paper = seen.page.evaluate(PAPER)
    assert paper["ink"] == "rgb(0, 0, 0)"
    assert paper["paper"] in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
    assert paper["frame"] == 0
    assert paper["folds"] > 3
    assert paper["folded"] == 0
    assert paper["cut"] == 0
