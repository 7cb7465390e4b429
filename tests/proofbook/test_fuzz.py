"""Random pages: nothing crashes, nothing false passes, what is right does.

Each night makes ten thousand (`pytest -m nightly`). A page that fails is made again by
`wrong_pages.make_page(number)`.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from random import Random

import pytest
from books import make_book, rendered
from markdown import Markdown
from mkdocs.utils.meta import get_data
from wrong_pages import Falsehood, WrongPage, make_page

from proofbook.caching import fingerprint
from proofbook.checking.book import Book
from proofbook.integrations.reading import load
from proofbook.parsing.page import normal
from proofbook.problems import ChapterError, Problem
from proofbook.settings import ADDED_EXTENSIONS

# Judged once: all of its tests go to one worker.
pytestmark = [pytest.mark.timeout(3600), pytest.mark.xdist_group("fuzz")]

BATCH = 150
OPTIONS = re.compile(r"(?m)^([> ]*(?:`{3,}|~{3,}) ?(?:python|pycon)) .*$")
"""Options of a fence, for which Markdown by itself would not take it for one."""
FILES = {"src/lib.py": "def f(n):\n    return n + 1\n", "lib.txt": "read\n"}


@dataclass
class Outcome:
    """What became of the pages, each list with what a reader needs to look into it."""

    pages: int = 0
    passed: int = 0
    right: int = 0
    met: int = 0
    crashed: list[str] = field(default_factory=list)
    unplaced: list[str] = field(default_factory=list)
    passed_falsely: list[str] = field(default_factory=list)
    refused_falsely: list[str] = field(default_factory=list)


def wrong_in_one_thing() -> Iterator[int]:
    """Find a page for each kind of falsehood in which nothing else is wrong."""
    kinds = set()
    for page in map(make_page, range(1000)):
        kind = page.falsehoods[0].what.partition(":")[0] if page.falsehoods else ""
        is_only = page.is_plain and len(page.falsehoods) == 1
        if is_only and kind not in kinds and "'" not in kind:  # values in quotes are met anyway
            kinds.add(kind)
            yield page.number


@pytest.fixture(scope="module", params=[150, pytest.param(10_000, marks=pytest.mark.nightly)])
def outcome(request, tmp_path_factory) -> Outcome:
    root = make_book(tmp_path_factory.mktemp("fuzzed"), {}, FILES)
    found = Outcome()
    numbers = sorted({*range(request.param), *wrong_in_one_thing()})
    for first in range(0, len(numbers), BATCH):
        pages = [make_page(number) for number in numbers[first : first + BATCH]]
        with Book(load(root / "mkdocs.yml")) as book:
            for page, problems in checked(book, pages, found):
                judge(page, problems, book, found)
    return found


def checked(
    book: Book, pages: list[WrongPage], found: Outcome
) -> Iterator[tuple[WrongPage, list[Problem]]]:
    """Check pages together; where that crashes, one by one, to say which it was."""
    try:
        results = book.check({page.path: page.text for page in pages})
    except Exception as error:
        if len(pages) > 1:
            for page in pages:
                yield from checked(book, [page], found)
        elif not isinstance(error, ChapterError):
            found.crashed.append(f"{told(pages[0])}: check raises {error!r}")
        return
    yield from zip(pages, [result.problems for result in results], strict=True)


def judge(page: WrongPage, problems: list[Problem], book: Book, found: Outcome) -> None:
    """Compare what the engine says of a page with how it was made."""
    found.pages += 1
    found.passed += not problems
    found.right += page.is_plain and not page.falsehoods
    lines = normal(page.text).count("\n") + 1
    for problem in problems:
        if not (problem.path == page.path and 1 <= problem.line <= lines and problem.message):
            found.unplaced.append(f"{told(page)}: {problem!r}")
    body = get_data(normal(page.text))[0]
    try:
        html = rendered(book, body, page.path, ADDED_EXTENSIONS)
    except ChapterError:
        return
    except Exception as error:
        found.crashed.append(f"{told(page)}: rendering raises {error!r}")
        return
    if problems and page.is_plain and not page.falsehoods:
        found.refused_falsely.append(f"{told(page)}: {problems[0]}")
    met = [one for one in page.falsehoods if is_met(one, html, body)]
    found.met += len(met)
    if not problems:
        found.passed_falsely += [f"{told(page)}: {one.what}" for one in met]


def told(page: WrongPage) -> str:
    return f"make_page({page.number})"


# -- What a reader meets, as a browser has it ------------------------------------------------------


class Reader(HTMLParser):
    """Reads a page: its prose, in which code is told apart, and the text of each `pre`."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.prose = ""
        self.listings: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("pre", "code", "script", "style"):
            self.open.append(tag)
        if tag == "pre":
            self.listings.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self.open:
            self.open.remove(tag)

    def handle_data(self, data: str) -> None:
        if "pre" in self.open:
            self.listings[-1] += data
        self.prose += re.sub(r"zq", "", data) if self.open else data


def is_met(falsehood: Falsehood, html: str, body: str) -> bool:
    """Tell whether a reader takes something false for what the page says."""
    mark = falsehood.mark
    if falsehood.shown_as == "prose":
        between = re.findall(rf"{mark}\b(.*?){mark}\b", Reader(html).prose, re.DOTALL)
        return any("{" not in text for text in between)
    if falsehood.shown_as == "fence":
        bare = OPTIONS.sub(r"\1", body)
        plain = Markdown(extensions=[*ADDED_EXTENSIONS]).convert(bare)
        return any(
            mark in code and not re.search(r"```|~~~", code) for code in Reader(plain).listings
        )
    return True


# -- What holds of all pages -----------------------------------------------------------------------


def test_nothing_but_a_chapter_error_is_raised(outcome):
    assert outcome.crashed == []


def test_each_problem_has_its_page_a_line_of_it_and_a_message(outcome):
    assert outcome.unplaced == []


def test_nothing_false_passes(outcome):
    assert outcome.passed_falsely == []


def test_what_is_right_passes(outcome):
    assert outcome.refused_falsely == []


def test_neither_do_all_pages_pass_nor_are_all_refused(outcome):
    assert outcome.passed > 0.3 * outcome.pages
    assert outcome.met > 0.3 * outcome.pages


# -- Entries of the cache that somebody else has written -------------------------------------------

BODIES = ["", "[]", "{}", "null", '{"run": null, "seen": null}', '{"run": {}, "seen": []}']


def tampered(rng: Random, name: str, content: bytes, other: bytes) -> bytes:
    """What may become of an entry; its checksum may be right all the same."""
    at = rng.randrange(len(content))
    body = rng.choice(BODIES)
    summed = body if name == "texts.json" else f"{name.partition('-')[0]}\n{body}"
    return rng.choice(
        [
            content[:at],
            content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :],
            content[at:] + content[:at],
            content.replace(b"true", b"false").replace(b"True", b"False"),
            rng.randbytes(100),
            f"{fingerprint.digest(summed.encode())}\n{body}".encode(),
            other,
            other,
            other,
        ]
    )


def verdicts(root: Path, pages: list[WrongPage]) -> list[tuple[str, list[str]]]:
    with Book(load(root / "mkdocs.yml")) as book:
        results = book.check({page.path: page.text for page in pages})
    return [(one.page.chapter.path, [str(problem) for problem in one.problems]) for one in results]


NIGHTLY = [pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 20)]


@pytest.mark.parametrize("seed", [0, *NIGHTLY])
def test_no_entry_of_the_cache_changes_a_verdict(tmp_path, seed):
    rng = Random(f"cache {seed}")
    root = make_book(tmp_path, {}, FILES)
    pages = [make_page(number) for number in range(20 * seed, 20 * seed + 20)]
    right = verdicts(root, pages)
    entries = sorted((root / ".cache").rglob("*.json"))
    assert len(entries) > len(pages) / 3
    contents = {entry: entry.read_bytes() for entry in entries}
    for entry in entries:
        entry.write_bytes(tampered(rng, entry.name, contents[entry], contents[rng.choice(entries)]))
    assert verdicts(root, pages) == right
