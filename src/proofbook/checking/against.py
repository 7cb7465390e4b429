"""Runs the facts of a page against wrong computations: a fact that notices none says too little."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from proofbook.checking.book import Checked
from proofbook.checking.planting import Planted, planted
from proofbook.execution.runner import Runner
from proofbook.execution.slicing import statements_behind
from proofbook.model import Chapter, Claim, Run
from proofbook.settings import Settings


@dataclass
class Trial:
    """What became of one fact.

    Attributes:
        path: Its page.
        fact: The fact.
        after: How many blocks had run when it was evaluated.
        waiting: Errors that touch what it reads, not yet planted.
        survived: Those in whose run it was true.
        noticed: The first in whose run it was false.
    """

    path: str
    fact: Claim
    after: int
    waiting: list[Planted]
    survived: list[Planted] = field(default_factory=list)
    noticed: Planted | None = None

    def __str__(self) -> str:
        """Where the fact is, what it says, and which errors it survived."""
        kinds = ", ".join(dict.fromkeys(one.kind for one in self.survived))
        fate = "no error could be planted in what it reads"
        if self.survived:
            fate = f"stays true despite {len(self.survived)} planted errors ({kinds})"
        return f"{self.path}:{self.fact.line}: {self.fact.text!r}: {fate}"


def against(pages: Sequence[Checked], settings: Settings) -> list[Trial]:
    """Plant errors in the code of pages that pass until each fact has been seen false.

    A fact is tried with the errors that touch what it reads, as far as the code's text tells. An
    error that fails a block proves nothing of what comes after, nor does one that leaves a fact
    that cannot be evaluated.
    """
    trials = {page.page.chapter.path: _trials(page) for page in pages if not page.problems}
    chapters = {page.page.chapter.path: page.page.chapter for page in pages}
    with (
        TemporaryDirectory() as folder,
        Runner(replace(settings, cache_dir=Path(folder))) as runner,
    ):
        while wanted := _next(trials):
            wrong = [
                _with(chapters[path], error, trials[path], number)
                for number, (path, error) in enumerate(wanted)
            ]
            runs = runner.run(wrong)
            for (path, error), chapter in zip(wanted, wrong, strict=True):
                _tell(trials[path], error, runs[chapter.path])
    return [trial for some in trials.values() for trial in some]


def _trials(checked: Checked) -> list[Trial]:
    page, run = checked.page, checked.run
    blocks = page.chapter.blocks
    errors = [one for index, block in enumerate(blocks) for one in planted(index, block)]
    trials = []
    for number in page.facts.values():
        fact = page.chapter.claims[number]
        assert fact.holds is not None
        after = run.values[fact.holds, fact.place].after
        behind = statements_behind(blocks[:after], fact.holds)
        before = [one for one in errors if one.block < after]
        touching = [one for one in before if (one.block, one.statement) in behind]
        touching.sort(key=lambda one: (-one.block, -one.statement))  # the nearest first
        trials.append(Trial(page.chapter.path, fact, after, touching))
    return trials


def _next(trials: dict[str, list[Trial]]) -> list[tuple[str, Planted]]:
    """Choose, for each fact that was not yet seen false, the next error; each error once."""
    chosen: dict[tuple[str, Planted], None] = {}
    for path, some in trials.items():
        for trial in some:
            if trial.noticed is None and trial.waiting:
                chosen[path, trial.waiting[0]] = None
    return list(chosen)


def _with(chapter: Chapter, error: Planted, trials: Sequence[Trial], number: int) -> Chapter:
    """Return a chapter with an error, and with the facts alone that it may touch."""
    open_trials = [one for one in trials if error in one.waiting]
    last = max(one.after for one in open_trials)
    blocks = list(chapter.blocks[:last])
    blocks[error.block] = replace(blocks[error.block], code=error.code)
    facts = tuple(one.fact for one in open_trials)
    return Chapter(f"{chapter.path} ({number})", tuple(blocks), facts)  # runs are known by path


def _tell(trials: Sequence[Trial], error: Planted, run: Run) -> None:
    """Note for each fact that an error touches whether it was seen false."""
    for trial in trials:
        if error not in trial.waiting:
            continue
        trial.waiting.remove(error)
        value = run.values.get((trial.fact.holds or "", trial.fact.place))
        if value is None or value.failure is not None or value.after > run.sound:
            continue
        if value.data is True:
            trial.survived.append(error)
        elif trial.noticed is None:
            trial.noticed = error
