"""What the copy button gives runs in a fresh process and shows what the page shows.

A ninth of each page's programs, and each night all, are run by the engine; some, and each night
all, as a reader runs them: as a script, and pasted at Python's prompt.
"""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from pathlib import Path

import pytest

from proofbook.checking.book import Book
from proofbook.execution.slicing import program
from proofbook.model import Block, BlockResult, Chapter
from proofbook.settings import load

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))


EVERY = 9  # of a page's programs, one in so many is run at each change, the last among them
FEW = 30  # programs that are run as processes at each change
TEXTS = ("stdout", "text")
NUMBERED = re.compile(r"block-\d+(?:-d\d+)?")  # in ids: the block, and which of its pictures
# Python's prompts, and what torch.distributed puts in front of each line of an error.
PROMPTS = re.compile(r"^(?:>>> |\.\.\. |\[rank\d+\]: )+")
CELL = re.compile(
    r'<div class="proofbook-block">(?P<shown>(?:(?!proofbook-block).)*?)<script '
    r'type="application/json" class="proofbook-payload">(?P<program>.*?)</script>',
    re.DOTALL,
)
PRINTED = re.compile(
    r'<pre class="proofbook-(?:stdout|text)"[^>]*><code>(.*?)</code></pre>', re.DOTALL
)


def unquoted(text: str) -> str:
    """A string, where a page shows its repr: a program prints it."""
    try:
        value = ast.literal_eval(text)
    except (SyntaxError, ValueError):
        return text
    return value if isinstance(value, str) else text


def shown(result: BlockResult) -> list[tuple[str, str]]:
    """All that a block showed, texts one after the other; its number is left out of ids."""
    told: list[tuple[str, str]] = []
    for output in result.outputs:
        if output.kind not in TEXTS:
            told.append((output.kind, NUMBERED.sub("block", output.data)))
            continue
        text = f"{unquoted(output.data)}\n" if output.kind == "text" else output.data
        before = told.pop()[1] if told and told[-1][0] == "stdout" else ""
        told.append(("stdout", f"{before}{text}"))
    return told + [("example", example.got) for example in result.examples]


def alone(chapter: Chapter, index: int, result: BlockResult) -> Chapter:
    """A page that holds one block's program and nothing else."""
    block = chapter.blocks[index]
    before, code = result.payload
    # A doctest keeps its prompts, so that each of its outputs is compared.
    last = code if block.kind == "python" else block.code
    blocks = (Block("python", before, 1, 600), Block(block.kind, last, 1, 600, block.raises))
    return Chapter(f"{chapter.path}, block {index + 1}", blocks, ())


@pytest.fixture(scope="module")
def book() -> Iterator[Book]:
    """One for all pages: what it forks programs from takes seconds to start."""
    with Book(load(ROOT / "mkdocs.yml")) as book:
        yield book


@pytest.mark.parametrize("path", CHAPTERS)
def test_programs_show_what_their_page_shows(book: Book, path: str) -> None:
    same_as_on_the_page(book, path, EVERY)


@pytest.mark.nightly
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("path", CHAPTERS)
def test_every_program_shows_what_its_page_shows(book: Book, path: str) -> None:
    same_as_on_the_page(book, path, 1)


def same_as_on_the_page(book: Book, path: str, every: int) -> None:
    """Run one in so many of a page's programs, the last among them, each by itself."""
    (checked,) = book.check({path: (ROOT / path).read_text(encoding="utf-8")})
    assert not checked.problems
    chapter, results = checked.page.chapter, checked.run.blocks
    chosen = [n for n in range(len(results)) if (len(results) - 1 - n) % every == 0]
    results = [results[n] for n in chosen]
    programs = [alone(chapter, n, one) for n, one in zip(chosen, results, strict=True)]
    runs = book.runs(programs)
    for chapter_alone, result in zip(programs, results, strict=True):
        run = runs[chapter_alone.path]
        code = "\n\n".join(block.code for block in chapter_alone.blocks)
        assert not run.failure, f"{chapter_alone.path}: {run.failure}\n{code}"
        assert not run.blocks[-1].failure, f"{chapter_alone.path}: {run.blocks[-1].failure}\n{code}"
        assert shown(run.blocks[-1]) == shown(result), f"{chapter_alone.path}\n{code}"


def texts(result: BlockResult) -> Iterator[str]:
    """What a block's program prints, piece by piece."""
    for output in result.outputs:
        text = output.data if output.kind in TEXTS else output.plain
        yield unquoted(text) if output.kind == "text" else text
    for example in result.examples:
        got = example.got.rstrip("\n")
        yield got.rpartition("\n")[2] if got.startswith("Traceback") else unquoted(got)
    yield result.raised  # a program ends with the error that its page shows


def programs() -> Iterator[tuple[str, str, list[str]]]:
    """Each program of the chapters: its place, what is copied, and the lines that it shows."""
    with Book(load(ROOT / "mkdocs.yml")) as book:
        chapters = {path: (ROOT / path).read_text(encoding="utf-8") for path in CHAPTERS}
        for path, checked in zip(chapters, book.check(chapters), strict=True):
            assert not checked.problems
            for number, result in enumerate(checked.run.blocks, start=1):
                if result.payload[1]:
                    lines = [line for text in texts(result) for line in text.splitlines()]
                    yield f"{path}, block {number}", program(*result.payload), lines


@pytest.fixture(scope="module")
def every() -> list[tuple[str, str, list[str]]]:
    found = list(programs())
    assert len(found) > 10 * FEW
    return found


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


def said(code: str, environment: dict[str, str], *, prompt: bool) -> list[str]:
    """The lines that a program prints as a script, or where it is pasted at a prompt."""
    command = [sys.executable, "-u", *(["-i", "-q", "-c", ""] if prompt else ["-"])]
    done = subprocess.run(
        command,
        input=f"{code}\n",
        env=environment,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return [PROMPTS.sub("", line) for line in done.stdout.splitlines()]


def wrong(code: str, lines: list[str], environment: dict[str, str]) -> dict[str, list[str]]:
    """What is missing of the lines that a program should print, in their order."""
    found = {}
    for name, prompt in (("script", False), ("prompt", True)):
        printed = said(code, environment, prompt=prompt)
        rest = iter(printed)
        lost = [line for line in lines if not any(line.rstrip() == one.rstrip() for one in rest)]
        fails = any(line.startswith("Traceback") for line in printed)
        if lost or (
            fails and not any(re.match(r"[\w.]*(Error|Exception)\b", one) for one in lines)
        ):
            found[name] = [*lost[:3], "...", *printed[-5:]]
    return found


def nothing_wrong(some: list[tuple[str, str, list[str]]], environment: dict[str, str]) -> None:
    """Runs programs, two at a time; fails with those that do not show what they should."""
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda one: wrong(one[1], one[2], environment), some)
        lost = {place: what for (place, _, _), what in zip(some, found, strict=True) if what}
    assert not lost, json.dumps(lost, indent=1)


@pytest.mark.slow
@pytest.mark.timeout(3600)  # its first run has all pages run too
def test_some_programs_run_as_scripts_and_at_a_prompt(every, environment):
    """Every so many of them, so that they are of all parts of the book."""
    few = [every[len(every) * k // FEW] for k in range(FEW)]
    assert len({place.partition(",")[0] for place, _, _ in few}) >= FEW * 2 // 3
    nothing_wrong(few, environment)


@pytest.mark.nightly
@pytest.mark.timeout(5 * 3600)
def test_all_programs_run_as_scripts_and_at_a_prompt(every, environment):
    nothing_wrong(every, environment)


@pytest.mark.slow
@pytest.mark.xdist_group("site")
@pytest.mark.parametrize("lab", ["anatomy", "heads"])
def test_the_last_programs_of_a_lab_run_and_show_what_it_shows(site, environment, lab):
    html = (site / "labs" / lab / "index.html").read_text(encoding="utf-8")
    cells = [
        (json.loads(cell["program"]), [unescape(text) for text in PRINTED.findall(cell["shown"])])
        for cell in CELL.finditer(html)
    ]
    assert len(cells) > 8
    for code, printed in cells[-3:]:
        lines = [line for text in printed for line in unquoted(text).splitlines()]
        assert not wrong(code, lines, environment), code
