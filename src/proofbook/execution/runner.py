"""The one door to running: chapters go in, runs come out, from the cache where it is still true."""

from collections.abc import Callable, Iterable
from typing import Self

from proofbook.caching import fingerprint
from proofbook.caching.cache import Cache
from proofbook.execution.pool import Pool
from proofbook.model import Chapter, Run
from proofbook.settings import Settings


class Runner:
    """Runs chapters; made once, used for each build, closed at the end.

    The process that holds it imports nothing that a page imports.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = Pool(settings)
        self._environment = ""

    def run(
        self,
        chapters: Iterable[Chapter],
        progress: Callable[[Chapter, Run], None] | None = None,
        names: bool = False,
    ) -> dict[str, Run]:
        """Run what is not cached and return each chapter's run by its path.

        Args:
            chapters: Parsed chapters; one without blocks and claims starts nothing.
            progress: Called with each chapter and its run as it becomes known, cached ones first.
            names: Whether the runs must know all names of the chapters' prose.
        """
        environment = fingerprint.environment()
        if environment != self._environment:  # packages have changed under a preloaded process
            self._pool.close()
            self._environment = environment
        world = {"environment": environment, "variables": self._settings.watched_environment()}
        cache = Cache(self._settings.cache, world)
        runs: dict[str, Run] = {}

        def know(chapter: Chapter, run: Run) -> None:
            runs[chapter.path] = run
            if progress is not None:
                progress(chapter, run)

        stale = []
        chapters = list(chapters)
        for chapter in chapters:
            if not (chapter.blocks or chapter.claims or (names and chapter.names)):
                know(chapter, Run((), {}, device=self._settings.device))
            elif (run := cache.load(chapter, names)) is not None:
                know(chapter, run)
            else:
                stale.append(chapter)
        for chapter, run, seen in self._pool.run(stale):
            if seen is not None and not _has_failed(run):
                cache.store(chapter, run, seen)
            know(chapter, run)
        return {chapter.path: runs[chapter.path] for chapter in chapters}

    def close(self) -> None:
        """End the processes that wait for work."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _has_failed(run: Run) -> bool:
    failures = [run.failure, *(b.failure for b in run.blocks)]
    failures += [v.failure for v in run.values.values()]
    return any(failure is not None for failure in failures)
