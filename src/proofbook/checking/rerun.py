"""Find outputs that differ in a second run because they depend on the clock or on chance."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from proofbook.checking.book import Checked, Progress
from proofbook.checking.judge import difference, judge
from proofbook.checking.places import placed
from proofbook.execution.runner import Runner
from proofbook.model import Block, BlockResult, Chapter, Run
from proofbook.problems import Problem
from proofbook.settings import Settings


def again(pages: Sequence[Checked], settings: Settings, progress: Progress) -> list[Problem]:
    """Run the passing pages again from scratch, and compare what a reader would see.

    Claims and doctests must hold again. Text that `value=` fills in may differ, within its `holds`.
    """
    passing = {one.page.chapter.path: one for one in pages if not one.problems}

    def know(chapter: Chapter, run: Run) -> None:
        progress(replace(passing[chapter.path], run=run))

    with (
        TemporaryDirectory() as folder,
        Runner(replace(settings, cache_dir=Path(folder))) as runner,
    ):
        runs = runner.run([one.page.chapter for one in passing.values()], know)
    return [
        problem
        for path, run in runs.items()
        for problem in placed(compared(passing[path], run), passing[path].page, settings)
    ]


def compared(checked: Checked, second: Run) -> list[Problem]:
    """List what fails or differs in the second run of a page that passed."""
    chapter = checked.page.chapter
    problems = [
        replace(problem, message=f"in a second run: {problem.message}")
        for problem in judge(checked.page, second)
    ]
    sound = second.blocks[: second.sound]
    for block, one, other in zip(chapter.blocks, checked.run.blocks, sound, strict=False):
        if not block.shows:
            continue
        problems += _shown_otherwise(chapter.path, block, one, other)
    return sorted(problems)


def _shown_otherwise(
    path: str, block: Block, one: BlockResult, other: BlockResult
) -> Iterator[Problem]:
    first, second = _text(one), _text(other)
    if first != second:
        message = "a second run shows something else (- the first, + the second)"
        yield Problem(path, block.line, message, block.code, difference(first, second))


def _text(result: BlockResult) -> str:
    """Return everything that a block showed, as text."""
    return "\n".join(output.data for output in result.outputs)
