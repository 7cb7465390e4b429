"""Check chapters, with options, and collect the findings."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from proofbook.checking.against import Trial, against
from proofbook.checking.book import Book, Checked, Progress
from proofbook.checking.rerun import again
from proofbook.coverage.coverage import Coverage, cover
from proofbook.coverage.report import is_whole
from proofbook.maths.symbol_table import strange_symbols
from proofbook.problems import Problem

Read = tuple[dict[str, str], list[Problem]]


@dataclass(frozen=True)
class Asked:
    """The options of a check: what to look for besides problems.

    Attributes:
        coverage: Whether to look for prose that could be a claim but isn't.
        sentences: Whether to look for such prose and for sentences that bind nothing.
        twice: Whether to look for outputs that differ in a second run.
        against: Whether to look for facts that no planted error makes false.
    """

    coverage: bool = False
    sentences: bool = False
    twice: bool = False
    against: bool = False

    @property
    def covers(self) -> bool:
        """Whether runs must look up the names in the prose."""
        return self.coverage or self.sentences


@dataclass(frozen=True)
class Findings:
    """The findings of a check.

    Attributes:
        texts: The texts of the chapters that could be read, by path.
        problems: The problems found.
        pages: The checked chapters.
        unread: Number of chapters that couldn't be read.
        foreign: The pages that other plugins make of something else; nothing here was checked.
        coverage: The coverage of each passing page; `None` if not asked for.
        trials: The trial of each fact; `None` if not asked for.
    """

    texts: dict[str, str] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    pages: Sequence[Checked] = ()
    unread: int = 0
    coverage: Sequence[Coverage] | None = None
    trials: Sequence[Trial] | None = None
    foreign: Sequence[str] = ()

    @property
    def surviving(self) -> list[Trial]:
        """The trials of the facts that no planted error made false."""
        return [trial for trial in self.trials or () if trial.noticed is None]

    @property
    def passes(self) -> bool:
        """Whether the check passes."""
        return not self.problems and not self.surviving and is_whole(self.coverage or ())


def check(book: Book, read: Read, asked: Asked, progress: Progress) -> Findings:
    """Run chapters, and look for everything that was asked for.

    Args:
        book: The book.
        read: The texts of its chapters, by name, and a problem for each that can't be read.
        asked: What to look for.
        progress: Called with each chapter that has run.
    """
    texts, unread = read
    pages = book.check(texts, progress)
    problems = [*unread, *(problem for checked in pages for problem in checked.problems)]
    problems += strange_symbols(pages, book.settings)
    if asked.twice:
        problems += again(pages, book.settings, progress)
    passing = [checked for checked in pages if not checked.problems]
    return Findings(
        texts,
        problems,
        pages,
        len(unread),
        [cover(checked, book.settings) for checked in passing] if asked.covers else None,
        against(pages, book.settings) if asked.against else None,
    )
