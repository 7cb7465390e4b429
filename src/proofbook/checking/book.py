"""A book: its pages parsed once, run together, judged."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from proofbook.caching.fingerprint import matching
from proofbook.caching.text_cache import TextCache
from proofbook.checking.judge import judge
from proofbook.checking.source_lookup import Shown, show
from proofbook.execution.runner import Runner
from proofbook.model import Chapter, Run
from proofbook.parsing.front_matter import split_front_matter
from proofbook.parsing.page import Page, normal, parse
from proofbook.parsing.source import read
from proofbook.problems import Problem
from proofbook.settings import Settings

Progress = Callable[[Chapter, Run], None]


@dataclass(frozen=True)
class Checked:
    """A page, its run, and every problem of both.

    Attributes:
        page: The page as parsed.
        run: What running it gave.
        problems: What does not pass, in the order of the page.
        sources: For each fence with `show=`, by index, the symbol that it shows.
    """

    page: Page
    run: Run
    problems: list[Problem]
    sources: dict[int, Shown]


class Book:
    """Checks chapters; keeps what it has parsed, and the runner, until closed.

    Attributes:
        covers: Whether runs must know the names in the prose, which coverage asks for.
        text_cache: What earlier builds found out about texts.
    """

    def __init__(self, settings: Settings, covers: bool = False) -> None:
        self.settings = settings
        self.covers = covers
        self.text_cache = TextCache(settings.cache / "texts.json")
        self._runner = Runner(settings)
        self._pages: dict[str, tuple[str, Page]] = {}
        self._bares: dict[str, Page] = {}
        self._checked: dict[str, Checked] = {}

    def __enter__(self) -> "Book":
        """Return the book itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop what runs."""
        self.close()

    def close(self) -> None:
        """Stop what runs, and keep what was found out."""
        self._runner.close()
        self.text_cache.save()

    def renew(self, settings: Settings) -> None:
        """Begin another build; where the settings are other ones, with nothing kept."""
        self._checked.clear()
        if settings != self.settings:
            self._runner.close()
            self._runner = Runner(settings)
            self._pages.clear()
            self.text_cache.save()
            self.text_cache = TextCache(settings.cache / "texts.json")
        self.settings = settings

    def check(self, texts: Mapping[str, str], progress: Progress | None = None) -> list[Checked]:
        """Parse, run and judge chapters, given as text by path."""
        pages = [self._page(path, text) for path, text in texts.items()]
        chapters = [page.chapter for page in pages]
        running = [c for c in chapters if c.blocks or c.claims or (self.covers and c.names)]
        runs = self.runs(running, progress)
        checked = [self._judged(page, runs.get(page.chapter.path, Run((), {}))) for page in pages]
        self._checked.update({one.page.chapter.path: one for one in checked})
        return checked

    def runs(self, chapters: Sequence[Chapter], progress: Progress | None = None) -> dict[str, Run]:
        """Run chapters, or look up what they gave; nothing is judged. By path."""
        return self._runner.run(chapters, progress, self.covers)

    def of(self, path: str, text: str) -> Checked:
        """Return the result for a page whose text Markdown is now converting.

        A text that differs from the one that was checked (a plugin may have changed it, or made
        the page) is checked now, unless there is nothing in it to check.
        """
        known = self._checked.get(path)
        if known and known.page.source.text == text:
            return known
        if not known and (bare := self._bare(path, text)):
            return Checked(bare, Run((), {}), [], {})
        (known,) = self.check({path: text})
        return known

    def _bare(self, path: str, text: str) -> Page | None:
        """Return a page in which there is nothing to check; None where there is something."""
        bare = self._bares.get(path)
        if bare is None or bare.source.text != text:
            source = read(text)
            if source.fences or source.spans or source.faults:
                return None
            bare = self._bares[path] = Page(Chapter(path, (), ()), source)
        return bare

    @property
    def results(self) -> list[Checked]:
        """All that was checked in this build."""
        return list(self._checked.values())

    def find(self, text: str) -> tuple[str, str]:
        """Find the path and the whole text of the file that has this text, front matter apart."""
        for file in sorted(self.settings.docs.rglob("*.md")):
            whole = normal(file.read_text(encoding="utf-8", errors="replace"))
            if text.strip() in (whole.strip(), split_front_matter(whole)[0].strip()):
                return self.name(file), whole
        return "<page>", text

    def name(self, file: Path) -> str:
        """Name a file as the author would."""
        return self.settings.name(file)

    def _page(self, path: str, text: str) -> Page:
        known = self._pages.get(path)
        if known and known[0] == text:
            return known[1]
        page = parse(path, text, self.settings.extensions, self.settings.configs, self.text_cache)
        self._pages[path] = text, page
        return page

    def _judged(self, page: Page, run: Run) -> Checked:
        problems = judge(page, run)
        for pattern, line in page.reads.items():
            if not matching(str(self.settings.root), pattern):
                message = f"reads: {pattern!r} is no file of the project, seen from its root"
                problems.append(Problem(page.chapter.path, line, message, pattern))
        sources: dict[int, Shown] = {}
        for index in sorted(page.shown):
            fence = page.source.fences[index]
            if fence.kind != "show":
                continue
            try:
                only = fence.options.get("only", "")
                sources[index] = show(fence.options["show"], self.settings.source_folders, only)
            except (LookupError, SyntaxError, UnicodeDecodeError) as error:
                line = page.offset + fence.line
                message = f"show= finds nothing: {error}"
                problems.append(Problem(page.chapter.path, line, message, fence.options["show"]))
        return Checked(page, run, sorted(problems), sources)
