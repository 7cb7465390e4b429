"""A page's code, copied with what it needs, runs as a script and prints what the page shows.

Only the whole script of a page is run: the other copies are beginnings of it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

import pytest
from pages import CHAPTERS, ROOT

from proofbook.checking.book import Book
from proofbook.integrations.reading import load
from proofbook.model import BlockResult
from proofbook.notebook.programs import program_of

SOME = ("docs/encoder/attention.md", "docs/gpt/masks.md", "docs/reference/shapes.md")
"""Pages whose scripts run at each change, with doctests and an error among them."""
CLOCK = re.compile(r"perf_counter|cpu_time_total")  # who prints times shows others in each run
DATA = re.compile(r'class="proofbook-program">(.*?)</script>', re.DOTALL)
PRINTED = re.compile(
    r'<pre class="proofbook-(?:stdout|text)"[^>]*><code>(.*?)</code></pre>', re.DOTALL
)


@pytest.fixture(scope="module")
def environment() -> dict[str, str]:
    """As the engine's own, so that numbers come out alike to the last digit."""
    sources = f"{ROOT / 'src'}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    return {
        **os.environ,
        **load(ROOT / "mkdocs.yml").child_environment(),
        "PYTHONPATH": sources,
        "PYTHONIOENCODING": "utf-8",
    }


def texts(result: BlockResult) -> Iterator[str]:
    """What a block shows that a script prints."""
    for output in result.outputs:
        if output.kind in ("stdout", "text", "raised"):
            yield output.data
    for example in result.examples:
        got = example.got.rstrip("\n")
        yield got.rpartition("\n")[2] if got.startswith("Traceback") else got


def lacking(code: str, shown: Sequence[str], environment: Mapping[str, str]) -> list[str]:
    """The lines that a script should print, in their order, and doesn't; all if it fails."""
    done = subprocess.run(
        [sys.executable, "-"],
        input=code,
        env=environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    if done.returncode:
        return [*shown, done.stderr[-2000:]]
    rest = iter([plain(line) for line in done.stdout.splitlines()])
    lines = [plain(line) for text in shown for line in text.splitlines()]
    return [line for line in lines if not any(line == one for one in rest)]


def plain(line: str) -> str:
    """A line without what tells a value's repr from how it's printed: its quotes."""
    return line.strip().strip("'\"").rstrip()


def nothing_is_lacking(
    scripts: Mapping[str, tuple[str, Sequence[str]]], environment: Mapping[str, str]
) -> None:
    """Run scripts, two at a time; fail with those that don't print what they should."""
    with ThreadPoolExecutor(2) as pool:
        every = pool.map(lambda one: lacking(*one, environment), scripts.values())
        found = {name: lines[:3] + lines[-1:] for name, lines in zip(scripts, every, strict=True)}
    assert not {name: lines for name, lines in found.items() if lines}


def scripts_of(book: Book, paths: Sequence[str]) -> dict[str, tuple[str, list[str]]]:
    """The script of each page, and what it should print."""
    found = {}
    for one in book.check({path: (ROOT / path).read_text(encoding="utf-8") for path in paths}):
        assert not one.problems
        blocks = one.page.chapter.blocks
        code = program_of(blocks, one.run.blocks).script()
        is_timed = CLOCK.search(code)
        shown = [text for result in one.run.blocks for text in texts(result)]
        found[one.page.chapter.path] = code, [] if is_timed else shown
    return found


@pytest.mark.slow
def test_some_scripts_print_what_their_pages_show(book, environment):
    nothing_is_lacking(scripts_of(book, SOME), environment)


@pytest.mark.nightly
@pytest.mark.timeout(5 * 3600)
def test_every_script_prints_what_its_page_shows(book, environment):
    nothing_is_lacking(scripts_of(book, CHAPTERS), environment)


@pytest.mark.slow
def test_the_program_of_each_lab_prints_what_the_lab_shows(site: Path, environment):
    scripts = {}
    for lab in ("anatomy", "heads"):
        html = (site / "labs" / lab / "index.html").read_text(encoding="utf-8")
        program = json.loads(DATA.findall(html)[-1])
        assert len(program["steps"]) > 8
        parts = [program["start"], *(step[-1] for step in program["steps"])]
        scripts[lab] = "\n\n".join(parts), [unescape(text) for text in PRINTED.findall(html)]
    nothing_is_lacking(scripts, environment)
