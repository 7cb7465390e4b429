"""What only WebKit, which every iPhone has, or only Firefox draws wrong."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from pages import STICKING_OUT

from webdriver import Driven, Value, firefox, webkit

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("site")]

# What waits to be drawn until it is near the screen has no place before.
DRAW_ALL = """(() => {
  const style = document.createElement('style');
  style.textContent = '* { content-visibility: visible !important }';
  document.head.append(style);
})()"""
# Signs of formulas that hang over what stands before them; and how many signs there are.
OVERPRINTED = """() => {
  const range = document.createRange();
  const signs = [...document.querySelectorAll('math mo')];
  const over = signs.filter(sign => {
    range.selectNodeContents(sign);
    const drawn = range.getBoundingClientRect();
    return drawn.width && drawn.left < sign.getBoundingClientRect().left - 1;
  });
  return [signs.length, over.map(sign => sign.parentElement.textContent)];
}"""
# Code whose first sign hangs out of its column; and how many blocks of code there are.
HUNG = """() => {
  const range = document.createRange();
  const shown = [...document.querySelectorAll('pre > code')].filter(code => code.checkVisibility());
  const hung = shown.filter(code => {
    const first = document.createTreeWalker(code, NodeFilter.SHOW_TEXT).nextNode();
    range.setStart(first, 0);
    range.setEnd(first, 1);
    const indent = range.getBoundingClientRect().left - code.getBoundingClientRect().left;
    return indent < parseFloat(getComputedStyle(code).paddingLeft) - 1;
  });
  return [shown.length, hung.map(code => code.textContent)];
}"""
# Claims and terms without their line; and how many claims and terms there are.
BARE = """() => {
  const marked = [...document.querySelectorAll('.proofbook-claim, a.term')];
  const bare = marked.filter(e => getComputedStyle(e).textDecorationLine !== 'underline');
  return [marked.length, bare.map(e => e.textContent)];
}"""
LOOKS = {
    "overprinted": OVERPRINTED,
    "hung": HUNG,
    "bare": BARE,
    "wide": f"() => [1, ({STICKING_OUT})()]",
}


@pytest.fixture(scope="module", params=["webkit", "firefox"])
def other(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driven]:
    """One browser, then the other."""
    opened: AbstractContextManager[Driven] = (
        webkit() if request.param == "webkit" else firefox(tmp_path_factory.mktemp("firefox"))
    )
    with opened as driven:
        yield driven


@pytest.fixture(scope="module")
def found(other: Driven, site: Path, address: str) -> dict[str, dict[str, Value]]:
    """What the looks find on each page with formulas; the whole book only repeats them."""
    pages = [
        page.parent.relative_to(site).as_posix()
        for page in sorted(site.rglob("index.html"))
        if "<math" in page.read_text(encoding="utf-8") and page.parent.name != "whole-book"
    ]
    said: dict[str, dict[str, Value]] = {look: {} for look in LOOKS}
    for page in pages:
        other.open(f"{address}{page}/")
        other.evaluate(DRAW_ALL)
        for look, script in LOOKS.items():
            said[look][page] = other.evaluate(f"({script})()")
    return said


@pytest.mark.parametrize(
    ("look", "at_least"), [("overprinted", 300), ("hung", 500), ("bare", 1000), ("wide", 15)]
)
def test_pages_are_drawn_as_in_chromium(found, look, at_least):
    seen = found[look].values()
    assert sum(count for count, _ in seen) >= at_least
    assert not {page: wrong for page, (_, wrong) in found[look].items() if wrong}


def test_the_words_of_the_home_page_answer(other, address):
    other.open(address)
    assert other.evaluate("document.querySelectorAll('.glassformer-arcs.live').length") == 1
    other.evaluate("document.querySelector('.token[data-token=\"3\"]').focus()")
    assert other.evaluate("document.querySelector('.asks .word').textContent") == "like"


def test_a_mistake_in_a_script_is_told(other, address):
    other.open(address)
    with pytest.raises(RuntimeError, match="nowhere"):
        other.evaluate("nowhere.at.all")
