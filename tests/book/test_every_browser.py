"""What matters to readers, in Chromium, in WebKit, which every iPhone has, and in Firefox.

The checks are in checks.py; a failure names its browser and its check.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from checks import CHECKS, Check

from browser import framed, served
from webdriver import Driven, Played, Value, chromium, firefox, webkit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

PATIENCE = 30.0  # seconds until what is to be seen is there
WINDOW = (1280, 900)
IN_PAGE = """(() => {{
  const frame = document.querySelector('iframe.framed');
  const page = frame ? frame.contentDocument : document;
  const $ = what => page.querySelector(what);
  const $$ = what => [...page.querySelectorAll(what)];
  return {expression};
}})()"""
MIDDLE = """(element => {{
  if (!element) return null;
  element.scrollIntoView({{ block: 'center', behavior: 'instant' }});
  const box = element.getClientRects()[0];
  return box ? [box.left + box.width / 2, box.top + box.height / 2].map(Math.round) : null;
}})({element})"""
STARTED = "!page.getElementById('after-first-frame')"
SAID = "page.documentElement.dataset.said ?? ''"


OTHERS = pytest.mark.parametrize("driven", ["webkit", "firefox"], indirect=True)


@pytest.fixture(scope="module")
def root(site: Path) -> Iterator[str]:
    """Where the site is served by a server whose pages note what goes wrong in them."""
    with served(site, watched=True) as url:
        yield url


@pytest.fixture(scope="module", params=["chromium", "webkit", "firefox"])
def driven(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driven | Played]:
    """One browser after the other, each begun once."""
    begin: dict[str, AbstractContextManager[Driven | Played]] = {
        "chromium": chromium(),
        "webkit": webkit(),
        "firefox": firefox(tmp_path_factory.mktemp("firefox")),
    }
    with begin[request.param] as browser:
        browser.resize(*WINDOW)
        yield browser


def asked(browser: Driven | Played, expression: str) -> Value:
    """The value of an expression in the page, or in the one that is in a frame."""
    return browser.evaluate(IN_PAGE.format(expression=expression))


def seen(browser: Driven | Played, expression: str, expected: Value) -> None:
    """Asks for the value of an expression until it is what it should be."""
    end = time.monotonic() + PATIENCE
    while (value := attempted(browser, expression)) != expected:
        assert time.monotonic() < end, f"{browser.name}: {expression}\n  is {value!r}"
        time.sleep(0.05)


def attempted(browser: Driven | Played, expression: str) -> Value:
    """The value, or what is said instead of it: an element may come later, or a page be left."""
    try:
        return asked(browser, expression)
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def middle(browser: Driven | Played, element: str) -> tuple[int, int]:
    """The middle of an element that is scrolled into sight, once it stays there."""
    end = time.monotonic() + PATIENCE
    before = None
    while (place := attempted(browser, MIDDLE.format(element=element))) != before or place is None:
        assert time.monotonic() < end, f"{browser.name}: {element} is at {place!r}"
        before = place
        time.sleep(0.05)
    assert isinstance(place, list), f"{browser.name}: {element}: {place}"
    return tuple(place)


def done(browser: Driven | Played, url: str, check: Check) -> None:
    """Does what a check says, and looks at what it says."""
    for verb, what, *expected in check.steps:
        if verb == "click":
            browser.click(*middle(browser, what))
        elif verb == "point":
            browser.point(*middle(browser, what))
        elif verb == "press":
            browser.press(what)
        elif verb == "type":
            for sign in what:
                browser.press(sign)
        elif verb == "do":
            asked(browser, f"(void ({what}), null)")
        elif verb == "reload":
            browser.open(url)
            seen(browser, STARTED, True)
        else:
            seen(browser, what, expected[0])


def failing(browser: Driven | Played, root: str, checks: Sequence[Check]) -> str:
    """What readers don't find, a line for each check."""
    found = []
    for check in checks:
        url = root + check.page
        if check.width or check.still:
            url = framed(root, check.page, width=check.width, still=check.still)
        browser.open(url)
        try:
            if not check.still:
                seen(browser, STARTED, True)
            done(browser, url, check)
            if said := asked(browser, SAID):
                found.append(f"{check.name}: {said}")
        except Exception as error:
            found.append(f"{check.name}: {error}")
        finally:
            asked(browser, "localStorage.clear()")
    return "\n".join(found)


def test_readers_find_what_they_need(driven: Driven | Played, root: str) -> None:
    is_first = isinstance(driven, Played)
    failures = failing(driven, root, [one for one in CHECKS if is_first or one.everywhere])
    assert not failures, failures


@pytest.mark.nightly
@OTHERS
def test_readers_find_all_they_need(driven: Driven, root: str) -> None:
    failures = failing(driven, root, [one for one in CHECKS if not one.everywhere])
    assert not failures, failures


def test_what_goes_wrong_in_a_page_is_noted(driven: Driven | Played, tmp_path: Path) -> None:
    wrong = """<!doctype html><html lang="en"><head><title>x</title></head><body>
    <script src="none.js"></script><script>nowhere.at.all</script>
    <script>Promise.reject(new Error("for no reason"))</script>
    <script>console.error("said")</script><img alt="" src="http://elsewhere.invalid/x.png">"""
    (tmp_path / "index.html").write_text(wrong)
    with served(tmp_path, watched=True) as url:
        driven.open(url)
        for part in ("none.js", "nowhere", "for no reason", "said", "elsewhere.invalid"):
            seen(driven, f"({SAID}).includes({part!r})", True)
