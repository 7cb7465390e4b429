"""A check: what is asked of it, what it finds, and whether that passes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from proofbook.checking.against import Trial, against
from proofbook.checking.book import Book, Checked
from proofbook.checking.rerun import again
from proofbook.coverage.coverage import Coverage, cover
from proofbook.coverage.report import is_whole
from proofbook.maths.symbol_table import strange_symbols
from proofbook.model import Chapter, Run
from proofbook.problems import Problem

Progress = Callable[[Chapter, Run], None]


@dataclass(frozen=True)
class Asked:
    """What a check looks for besides problems.

    Attributes:
        coverage: What in the prose could be a claim and is not.
        sentences: With it, the sentences that bind nothing.
        twice: What comes out differently in a second run.
        against: The facts that notice no planted error.
    """

    coverage: bool = False
    sentences: bool = False
    twice: bool = False
    against: bool = False

    @property
    def covers(self) -> bool:
        """Whether pages must be run with the names of their prose."""
        return self.coverage or self.sentences


@dataclass(frozen=True)
class Findings:
    """What a check has found.

    Attributes:
        texts: The chapters that could be read, by path.
        problems: What does not pass.
        pages: The chapters, checked.
        unread: How many chapters could not be read.
        coverage: Of each page that passes; `None` if not asked for.
        trials: What became of each fact; `None` if not asked for.
    """

    texts: dict[str, str] = field(default_factory=dict)
    problems: Sequence[Problem] = ()
    pages: Sequence[Checked] = ()
    unread: int = 0
    coverage: Sequence[Coverage] | None = None
    trials: Sequence[Trial] | None = None

    @property
    def surviving(self) -> list[Trial]:
        """The facts that no planted error made false."""
        return [trial for trial in self.trials or () if trial.noticed is None]

    @property
    def passes(self) -> bool:
        """Whether the command ends with success."""
        return not self.problems and not self.surviving and is_whole(self.coverage or ())


def check(book: Book, files: Sequence[Path], asked: Asked, progress: Progress) -> Findings:
    """Run chapters and look for all that is asked for."""
    texts, unread = read(book, files)
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


def read(book: Book, files: Sequence[Path]) -> tuple[dict[str, str], list[Problem]]:
    """Read chapters; return their texts by path, and what cannot be read."""
    texts: dict[str, str] = {}
    problems = []
    for file in files:
        path = book.name(file)
        try:
            texts[path] = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            problems.append(Problem(path, 1, f"this file cannot be read: {error}"))
    return texts, problems
