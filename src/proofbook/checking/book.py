"""Check a book: parse its pages once, run them together, and judge them."""

import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import TracebackType
from typing import Any

from proofbook.caching.dependencies import CLOCK_READ
from proofbook.caching.fingerprint import matching
from proofbook.caching.memo import Memo
from proofbook.checking.judge import judge
from proofbook.checking.places import placed
from proofbook.checking.source_lookup import FindModule, Shown, module_file, show
from proofbook.execution.runner import Runner, RunsChapters
from proofbook.model import Chapter, Run
from proofbook.parsing.front_matter import split_front_matter
from proofbook.parsing.page import Page, normal, parse, unconverted
from proofbook.parsing.source import read
from proofbook.problems import Problem
from proofbook.settings import Settings

Progress = Callable[["Checked"], None]
MakeRunner = Callable[[Settings], RunsChapters]
BRACES = re.compile(r"\{[^{}\n]*\w[^{}\n]*\}")
TEXTS = 2
"""Number of texts remembered for a page: its file's, and the one that plugins make from it."""
UNCHECKED = "a text converted within this page contains a claim, and nothing checks it there"


@dataclass(frozen=True)
class Checked:
    """A page, its run, and all problems found in either.

    Attributes:
        page: The page as parsed.
        run: The result of running it.
        problems: Its problems, in page order.
        sources: For each fence with `show=`, by index, the symbol that it shows.
    """

    page: Page
    run: Run
    problems: list[Problem]
    sources: dict[int, Shown]


class Book:
    """A book and its chapters' checks; it keeps parsed pages and a runner until it is closed.

    A page is announced with the text of its file, then converted with the text that the builder has
    made from it. The converted text is the one that counts. Texts other than pages may be converted
    too. Whatever the order of the checks, each problem stays until the next build.

    Attributes:
        covers: Whether runs must look up the names in the prose, which coverage needs.
        make_runner: Returns what runs the chapters, given the settings.
        memo: Results of pure functions, kept from build to build.
    """

    def __init__(
        self,
        settings: Settings,
        covers: bool = False,
        make_runner: MakeRunner = Runner,
    ) -> None:
        self.settings = settings
        self.covers = covers
        self.make_runner = make_runner
        self.memo = Memo(settings.cache)
        self._runner = make_runner(settings)
        self._pages: dict[str, dict[str, Page]] = {}  # by path and text
        self._bares: dict[str, Page] = {}
        self._judgements: dict[str, list[tuple[Page, Run, list[Problem]]]] = {}
        self._announced: dict[str, Checked] = {}
        self._converted: dict[str, list[Checked]] = {}
        self._asides: list[Checked] = []
        self._lock = threading.RLock()  # a builder may convert in several threads

    def __enter__(self) -> "Book":
        """Return the book itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the book."""
        self.close()

    def close(self) -> None:
        """Stop all runs."""
        self._runner.close()
        self.memo.close()

    def renew(self, settings: Settings) -> None:
        """Begin another build; if the settings have changed, start over."""
        for known in (self._announced, self._converted, self._asides):
            known.clear()
        if settings != self.settings:
            self._runner.close()
            self._runner = self.make_runner(settings)
            self._pages.clear()
            self.memo.close()
            self.memo = Memo(settings.cache)
        self.settings = settings

    def check(self, texts: Mapping[str, str], progress: Progress | None = None) -> list[Checked]:
        """Parse, run, and judge chapters, given as text by path, before any is converted.

        `progress` is called with each page that has something to run, once it has been judged.
        """
        checked = self._check(texts, progress)
        for one in checked:
            self._announced[one.page.chapter.path] = one
            self._converted.pop(one.page.chapter.path, None)
        return checked

    def _check(self, texts: Mapping[str, str], progress: Progress | None = None) -> list[Checked]:
        pages = {path: self._page(path, text) for path, text in texts.items()}
        find = cache(module_file)
        judged: dict[str, Checked] = {}

        def know(chapter: Chapter, run: Run) -> None:
            judged[chapter.path] = self._judged(pages[chapter.path], run, find)
            if progress is not None:
                progress(judged[chapter.path])

        chapters = [page.chapter for page in pages.values()]
        running = [c for c in chapters if c.blocks or c.claims or (self.covers and c.names)]
        runs = self._runner.run(running, know, self.covers)
        return [
            judged.get(path) or self._judged(page, runs.get(path, Run((), {})), find)
            for path, page in pages.items()
        ]

    def of(self, path: str, text: str) -> Checked:
        """Return the result for a page whose text Markdown is now converting.

        A text that differs from the announced one (a plugin may have changed it, or made the page)
        is checked now, unless there is nothing in it to check.
        """
        with self._lock:
            announced = self._announced.get(path)
            known = [*self._converted.get(path, ()), *([announced] if announced else ())]
            found = next((one for one in known if one.page.source.text == text), None)
            if found is None and not known and (bare := self._bare(path, text)):
                return Checked(bare, Run((), {}), [], {})
            if found is None:
                (found,) = self._check({path: text})
                source = found.page.source
                if not (known or found.problems or source.fences or source.spans):
                    return found  # its braces are for the browser; nothing to verify
            others = [one for one in self._converted.get(path, ()) if one is not found]
            self._converted[path] = [*others, found]
            return found

    def aside(self, text: str) -> Checked:
        """Return the result for a converted text that isn't a page, such as one from a hook.

        It counts as a separate page: its claims must hold.
        """
        with self._lock:
            known = [*self._every(), *self._asides]
            found = next((one for one in known if one.page.source.text == text), None)
            if found is not None:
                return found
            if bare := self._bare("", text):
                return Checked(bare, Run((), {}), [], {})
            path, whole = self.find(text)
            (found,) = self._check({path: whole})
            self._asides.append(found)
            return found

    def unchecked(self, path: str, text: str) -> list[Problem]:
        """List the claims in a text that is converted within a page, where nothing checks them."""
        if not read(text).spans:
            return []
        page = parse(path, text, self.settings.extensions, self.settings.configs)
        spans = (page.source.spans[index] for index in page.claims)
        claims = (page.source.text[span.start : span.end] for span in spans)
        return [Problem(path, 1, UNCHECKED, claim) for claim in claims]

    def _every(self) -> list[Checked]:
        """Return each page's conversions in this build, or the announced page if there are none."""
        converted = [one for some in self._converted.values() for one in some]
        announced = self._announced.items()
        return [*(one for path, one in announced if path not in self._converted), *converted]

    def _bare(self, path: str, text: str) -> Page | None:
        """Return the page if there is nothing in it to check; None otherwise."""
        bare = self._bares.get(path)
        if bare is None or bare.source.text != text:
            source = read(text)
            prose = (text[start:end] for start, end in source.prose)
            braces = any(BRACES.search(part) for part in prose)
            if source.fences or source.spans or source.faults or braces:
                return None
            bare = self._bares[path] = Page(Chapter(path, (), ()), source)
        return bare

    @property
    def asked(self) -> list[Mapping[str, Any]]:
        """The dependencies of each page's last run."""
        return list(self._runner.asked.values())

    @property
    def is_kept(self) -> bool:
        """Whether each page has run only once, and `asked` says all that its result depends on."""
        converted = [one for some in self._converted.values() for one in some[1:]]
        return not (self._asides or converted or any(one.run.unkept for one in self._every()))

    @property
    def results(self) -> list[Checked]:
        """Each page of this build, as last converted, or else as announced."""
        last = {path: some[-1] for path, some in self._converted.items()}
        return list({**self._announced, **last}.values())

    @property
    def problems(self) -> list[Problem]:
        """Every problem of this build, each once."""
        checked = [*self._every(), *self._asides]
        return list(dict.fromkeys(problem for one in checked for problem in one.problems))

    def find(self, text: str) -> tuple[str, str]:
        """Find the file with this text, apart from front matter; return its path and whole text."""
        for file in self.settings.pages(self.settings.docs):
            whole = normal(file.read_text(encoding="utf-8", errors="replace"))
            if text.strip() in (whole.strip(), split_front_matter(whole)[0].strip()):
                return self.name(file), whole
        return "<page>", text

    def name(self, file: Path) -> str:
        """Name a file as the author would."""
        return self.settings.name(file)

    def _page(self, path: str, text: str) -> Page:
        known = self._pages.pop(path, {})
        page = known.pop(text, None)
        if page is None:
            settings = self.settings
            try:
                page = parse(path, text, settings.extensions, settings.configs, self.memo)
            except Exception as error:  # whatever a Markdown extension raises
                page = unconverted(path, text, error)
        self._pages[path] = dict([*known.items(), (text, page)][-TEXTS:])
        return page

    def _judgement(self, page: Page, run: Run) -> list[Problem]:
        """Judge a page, unless it was already judged with an equal run."""
        known = self._judgements.pop(page.chapter.path, [])
        found = next((one for one in known if one[0] is page and one[1] == run), None)
        found = found or (page, run, judge(page, run))
        others = [one for one in known if one is not found]
        self._judgements[page.chapter.path] = [*others, found][-TEXTS:]
        return list(found[2])

    def _judged(self, page: Page, run: Run, find: FindModule) -> Checked:
        problems = self._judgement(page, run)
        for pattern, line in page.reads.items():
            if pattern != CLOCK_READ and not matching(str(self.settings.root), pattern):
                message = f"reads: {pattern!r} matches no file, starting from the project's root"
                problems.append(Problem(page.chapter.path, line, message, pattern))
        sources: dict[int, Shown] = {}
        for index in sorted(page.shown):
            fence = page.source.fences[index]
            if fence.kind != "show":
                continue
            target, only = fence.options["show"], fence.options.get("only", "")
            try:
                sources[index] = show(
                    target,
                    self.settings.source_folders,
                    only,
                    root=self.settings.root,
                    loaded=run.origins.get(target),
                    find=find,
                )
            except (LookupError, SyntaxError, ValueError, OSError, RecursionError) as error:
                line = page.offset + fence.line
                message = f"show= shows nothing: {error}"
                problems.append(Problem(page.chapter.path, line, message, target))
        return Checked(page, run, placed(sorted(problems), page, self.settings), sources)
