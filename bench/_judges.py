"""The judges of whether a book has drifted: the engine, stock markdown-exec, doctest, the tests.

Each runs in a process forked from this one, which has imported everything they need and computed
nothing.
"""

import json
import logging
import os
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import NoReturn

import pytest

from build import configure, drop_plugins, drop_proofbook, stock_page
from proofbook.checking.book import Book
from proofbook.coverage.coverage import cover
from proofbook.parsing.front_matter import split_front_matter
from proofbook.parsing.source import read

LIMIT = 7200.0
"""Seconds after which a run counts as failed, on a machine that may be busy."""
TEST_LIMIT = 400.0
"""Seconds of processor time after which a test counts as failed; it may have to train a model."""
FAILED = sys.maxsize
"""What a run that died or did not end counts as having found."""
FAILED_EXAMPLE = re.compile(r"^(?:Expected|UNEXPECTED EXCEPTION)\b", re.MULTILINE)
START = """\
>>> import contextlib as _contextlib, io as _io, random as _random, torch as _torch
>>> _random.seed(0); _seeded = _torch.manual_seed(0)"""
QUIET = "_contextlib.redirect_stdout(_io.StringIO())"
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - |$)", re.MULTILINE)


def forked(task: Callable[[], int], folder: Path, limit: float = LIMIT) -> tuple[int, str]:
    """Run a task in a process of its own, in a folder; return its result and what it printed."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as given:
        process = os.fork()
        if process == 0:
            _work(task, folder, out.fileno(), given.fileno())
        _wait(process, limit)
        out.seek(0)
        given.seek(0)
        return int(given.read() or FAILED), out.read().decode(errors="replace")


def _work(task: Callable[[], int], folder: Path, out: int, given: int) -> NoReturn:
    """Do the child's work, and end the process whatever happens."""
    try:
        os.setsid()
        for stream in (1, 2):
            os.dup2(out, stream)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.chdir(folder)
        sys.path.insert(0, str(folder / "src"))
        os.write(given, str(int(task())).encode())
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(0)


def _wait(process: int, limit: float) -> None:
    """Wait for a process, and end everything it started when its time is up."""
    end = time.monotonic() + limit
    while os.waitpid(process, os.WNOHANG) == (0, 0):
        if time.monotonic() > end:
            os.killpg(process, signal.SIGKILL)
            os.waitpid(process, 0)
            return
        time.sleep(0.02)


class Engine:
    """`proofbook check --coverage`, with one book for all questions."""

    def __init__(self, book: Book) -> None:
        self._book = book

    def finds(self, path: str, text: str) -> str:
        """Return the first thing wrong with a page; "" if nothing is."""
        [checked] = self._book.check({path: text})
        for problem in checked.problems:
            return f"line {problem.line}: {problem.message}"
        for line, kind, found in cover(checked, self._book.settings).uncovered:
            return f"line {line}: {kind} without a claim: {found}"
        return ""

    def covers(self, pages: Mapping[str, str]) -> dict[str, int]:
        """Return how much of what could be a claim is one, is exempt, and is neither."""
        found = [cover(checked, self._book.settings) for checked in self._book.check(pages)]
        return {
            "covered": sum(page.covered for page in found),
            "exempt": sum(page.exempt for page in found),
            "uncovered": sum(len(page.uncovered) for page in found),
        }


class Stock:
    """`mkdocs build --strict` of a book with this one page, with stock markdown-exec.

    The other pages are left out, and links to them are not checked, so that only blocks can warn: a
    page whose blocks are unchanged is not built again. A block that fails on purpose warns on the
    unchanged page too, so what counts is whether there are more warnings.
    """

    def __init__(self, tree: Path, folder: Path, pages: Mapping[str, str]) -> None:
        self._tree, self._folder, self._pages = tree, folder, pages
        self._known: dict[str, int] = {}
        shutil.copy(tree / "mkdocs.yml", folder)
        configure(folder, self._configure)

    def catches(self, path: str, text: str) -> bool:
        """Return whether the build gives more warnings than for the unchanged page."""
        sound = self._pages[path]
        if _code(text) == _code(sound):
            return False
        return self._warnings(path, text) > self._warnings(path, sound)

    def _configure(self, config: dict) -> None:
        drop_proofbook(config, "markdown-exec")
        drop_plugins(config, "booksite/")
        del config["nav"]
        config["validation"] = dict.fromkeys(config["validation"], "ignore")
        config["theme"]["custom_dir"] = str(self._tree / "overrides")

    def _warnings(self, path: str, text: str) -> int:
        page = stock_page(text, f'exec="on" source="above" session="{Path(path).stem}"')
        if page not in self._known:
            shutil.rmtree(self._folder / "docs", ignore_errors=True)
            file = self._folder / path
            file.parent.mkdir(parents=True)
            file.write_text(page)
            self._known[page], _ = forked(self._build, self._tree)
        return self._known[page]

    def _build(self) -> int:
        from mkdocs.commands.build import build
        from mkdocs.config import load_config
        from mkdocs.utils import CountHandler

        counter = CountHandler()
        counter.setLevel(logging.WARNING)
        logging.getLogger("mkdocs").addHandler(counter)
        build(load_config(str(self._folder / "mkdocs.yml"), strict=False))
        return sum(count for _, count in counter.get_counts())


class Doctest:
    """Doctests of a page's examples, by pytest, with its other blocks run silently between them.

    Outputs are compared as leniently as pytest can: whitespace and written precision do not count.
    Examples that fail on the unchanged page fail here too, so what counts is whether there are
    more.
    """

    def __init__(self, tree: Path, folder: Path, pages: Mapping[str, str]) -> None:
        self._tree, self._folder, self._pages = tree, folder, pages
        self._known: dict[str, int] = {}

    def catches(self, path: str, text: str) -> bool:
        """Return whether more examples fail than on the unchanged page."""
        document, sound = _examples(text), _examples(self._pages[path])
        return document != sound and self._failures(document) > self._failures(sound)

    def _failures(self, document: str) -> int:
        if document not in self._known:
            file = self._folder / "page.txt"
            file.write_text(document)
            status, printed = forked(lambda: self._test(file), self._tree)
            ended = status in (0, 1, 5)  # passed, failed, nothing to test
            self._known[document] = len(FAILED_EXAMPLE.findall(printed)) if ended else FAILED
        return self._known[document]

    def _test(self, file: Path) -> int:
        return pytest.main(
            [
                *("-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(file.parent)),
                *("--doctest-glob=*.txt", "--doctest-continue-on-failure"),
                *("-o", "doctest_optionflags=NUMBER NORMALIZE_WHITESPACE", str(file)),
            ]
        )


def _code(text: str) -> list[tuple[str, str]]:
    fences = read(split_front_matter(text)[0]).fences
    return [(fence.kind, fence.code) for fence in fences if fence.runs]


def _examples(text: str) -> str:
    """Return the page's doctests; each other block is an example that shows nothing."""
    parts = [
        START,
        *(
            code if kind == "pycon" else f">>> with {QUIET}: exec({code!r})"
            for kind, code in _code(text)
        ),
    ]
    return "\n\n".join(parts)


class Quickest:
    """A plugin for pytest that runs quick tests first, and ends tests that take too long.

    Attributes:
        seconds: How long each test took, by its name; added to by tests that end.
    """

    def __init__(self, seconds: dict[str, float]) -> None:
        self.seconds = seconds

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items.sort(key=lambda item: (_trains(item), self.seconds.get(item.nodeid, 0.0)))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        signal.signal(signal.SIGPROF, _too_long)
        signal.setitimer(signal.ITIMER_PROF, TEST_LIMIT)
        start = time.process_time()
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            self.seconds[item.nodeid] = round(time.process_time() - start, 3)


def _trains(item: pytest.Item) -> bool:
    """Return whether a test may retrain a model if a module has changed."""
    slow = item.get_closest_marker("slow") is not None
    return slow or "translator" in getattr(item, "fixturenames", ())


def _too_long(number: int, frame: object) -> NoReturn:
    pytest.fail(f"did not end within {TEST_LIMIT:.0f} s of processor time")


class Tests:
    """The tests of a module, and of those that import it, up to the first failure.

    Attributes:
        seconds: How long each test takes.
    """

    def __init__(self, tree: Path, seconds: dict[str, float]) -> None:
        self._tree = tree
        self._folder = tree / "tests" / "glassformer"
        self.seconds = seconds

    @property
    def files(self) -> list[str]:
        """All test files."""
        return [str(file) for file in sorted(self._folder.glob("test_*.py"))]

    def stages(self, module: Path) -> list[list[str]]:
        """Return the files of the module's own tests, and those of the tests that import it."""
        inner = module.parent.name != "glassformer"  # its package is tested as a whole
        own = {self._folder / f"test_{module.parent.name if inner else module.stem}.py"}
        files = sorted(self._folder.glob("test_*.py"))
        others = [file for file in files if file not in own and self._imports(file, module)]
        return [[str(f) for f in stage if f.exists()] for stage in (sorted(own), others)]

    def fails(self, tests: list[str]) -> str:
        """Return the first of some tests that fails; "" if none does."""
        with tempfile.NamedTemporaryFile() as kept:
            status, printed = forked(lambda: self._test(tests, Path(kept.name)), self._tree)
            self.seconds = json.loads(kept.read() or "{}") | self.seconds
        if status in (0, 5):
            return ""
        failed = FAILED_TEST.search(printed)
        return (
            failed[1] if failed else f"{Path(tests[0]).name}: died or did not end in {LIMIT:.0f} s"
        )

    def _imports(self, file: Path, module: Path) -> bool:
        """Return whether a test imports a module, all modules, or one of its names."""
        text = file.read_text()
        dotted = ".".join(module.with_suffix("").parts[1:])
        if re.search(rf"\b{re.escape(dotted)}\b|\bwalk_packages\b", text):
            return True
        return any(self._takes(text, dotted, package) for package in list(module.parents)[:-2])

    def _takes(self, text: str, dotted: str, package: Path) -> bool:
        """Return whether a test takes a name from a package that has it from a module."""
        begin = (self._tree / package / "__init__.py").read_text()
        given = re.search(rf"from {re.escape(dotted)} import (\([^)]*\)|[^\n]*)", begin)
        names = re.findall(r"\w+", given[1]) if given else []
        origin = re.escape(".".join(package.parts[1:]))
        taken = re.findall(rf"^from {origin} import (\([^)]*\)|[^\n]*)", text, re.MULTILINE)
        return any(re.search(rf"\b{name}\b", some) for name in names for some in taken)

    def _test(self, tests: list[str], kept: Path) -> int:
        root = ["--rootdir", str(self._tree), "-c", str(self._tree / "pyproject.toml")]
        how = ["-x", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider", "-o", "timeout=0"]
        quickest = Quickest(dict(self.seconds))
        status = pytest.main([*how, *root, *tests], plugins=[quickest])
        kept.write_text(json.dumps(quickest.seconds))
        return status
