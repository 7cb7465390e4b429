"""Test the facts of a page against wrong computations: a fact that notices none says too little."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from proofbook.checking.book import Checked
from proofbook.checking.code_mutations import Mutation, mutations_of
from proofbook.execution.names import statements_behind
from proofbook.execution.runner import Runner
from proofbook.model import Chapter, Claim, Run
from proofbook.settings import Settings


@dataclass
class Trial:
    """The test of one fact against planted errors.

    Attributes:
        path: Its page.
        fact: The fact.
        after: Number of blocks that had run when it was evaluated.
        waiting: Errors not yet planted in the code that it depends on.
        survived: Planted errors despite which it was still true.
        noticed: The first error that made it false.
    """

    path: str
    fact: Claim
    after: int
    waiting: list[Mutation]
    survived: list[Mutation] = field(default_factory=list)
    noticed: Mutation | None = None

    def __str__(self) -> str:
        """Return where the fact is, what it says, and which errors it survived."""
        kinds = ", ".join(dict.fromkeys(one.kind for one in self.survived))
        fate = "no error could be planted in the code it depends on"
        if self.survived:
            fate = f"stays true despite {len(self.survived)} planted errors ({kinds})"
        return f"{self.path}:{self.fact.line}: {self.fact.text!r}: {fate}"


def against(pages: Sequence[Checked], settings: Settings) -> list[Trial]:
    """Plant errors in the code of passing pages until one has made each fact false.

    Each fact is tried with the errors in the code that it depends on, according to static analysis.
    An error proves nothing about a fact if it makes an earlier block fail, or if the fact can no
    longer be evaluated.
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
    errors = [one for index, block in enumerate(blocks) for one in mutations_of(index, block)]
    trials = []
    for number in page.facts.values():
        fact = page.chapter.claims[number]
        assert fact.holds is not None
        after = run.values[fact.holds, fact.place].after
        behind = statements_behind(blocks[:after], fact.holds)
        before = [one for one in errors if one.block < after]
        touching = [one for one in before if (one.block, one.statement) in behind]
        touching.sort(key=lambda one: (-one.block, -one.statement))  # nearest first
        trials.append(Trial(page.chapter.path, fact, after, touching))
    return trials


def _next(trials: dict[str, list[Trial]]) -> list[tuple[str, Mutation]]:
    """Choose the next error for each fact that no error has made false; use each error once."""
    chosen: dict[tuple[str, Mutation], None] = {}
    for path, some in trials.items():
        for trial in some:
            if trial.noticed is None and trial.waiting:
                chosen[path, trial.waiting[0]] = None
    return list(chosen)


def _with(chapter: Chapter, error: Mutation, trials: Sequence[Trial], number: int) -> Chapter:
    """Return a chapter with an error planted, and with only the facts that it may affect."""
    open_trials = [one for one in trials if error in one.waiting]
    last = max(one.after for one in open_trials)
    blocks = list(chapter.blocks[:last])
    blocks[error.block] = replace(blocks[error.block], code=error.code)
    facts = tuple(one.fact for one in open_trials)
    return Chapter(f"{chapter.path} ({number})", tuple(blocks), facts)  # runs are keyed by path


def _tell(trials: Sequence[Trial], error: Mutation, run: Run) -> None:
    """Record, for each fact that an error may affect, whether it noticed the error."""
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
