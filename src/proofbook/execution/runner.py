"""The one door to running: chapters go in, runs come out, from the cache where it is still true."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Self

from proofbook.caching import fingerprint
from proofbook.caching.cache import Cache, EntryState, Found
from proofbook.caching.dependencies import declared, states
from proofbook.execution.pool import Pool
from proofbook.model import Chapter, Run
from proofbook.settings import Settings


class Runner:
    """Runs chapters; made once, used for each build, closed at the end.

    The process that holds it imports nothing that a page imports.

    Attributes:
        asked: For each chapter that was run or looked up, what its run depended on.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = Pool(settings)
        self._environment = ""
        self._known: dict[EntryState, Found] = {}
        self.asked: dict[str, Mapping[str, Any]] = {}

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
        given = self._settings.child_environment()
        cache = Cache(self._settings.cache, self._world(given), given, self._known)
        runs: dict[str, Run] = {}

        def know(chapter: Chapter, run: Run) -> None:
            runs[chapter.path] = run
            if progress is not None:
                progress(chapter, run)

        stale = []
        files = {}
        chapters = list(chapters)
        for chapter in chapters:
            if not (chapter.blocks or chapter.claims or (names and chapter.names)):
                know(chapter, Run((), {}, device=self._settings.device))
            elif (found := cache.find(chapter, names)) is not None:
                run, self.asked[chapter.path] = found
                know(chapter, run)
            else:
                stale.append(chapter)
                files[chapter.path] = self._declared(chapter)
        for chapter, run, seen in self._pool.run(stale):
            if seen is not None:
                self.asked[chapter.path] = seen
            if seen is None or _has_failed(run):
                know(chapter, run)
            elif why := _unkept(chapter, seen, files[chapter.path], self._declared(chapter)):
                know(chapter, replace(run, unkept=why))
            else:
                known = {**seen, **files[chapter.path]}
                known["files"] = {**files[chapter.path]["files"], **seen["files"]}
                cache.store(chapter, run, known)
                know(chapter, run)
        return {chapter.path: runs[chapter.path] for chapter in chapters}

    def _world(self, given: Mapping[str, str]) -> dict[str, Any]:
        """Return what every page depends on besides its own text."""
        settings = self._settings
        return {
            "root": str(settings.root),
            "sources": settings.sources,
            "environment": self._environment,
            "variables": settings.watched_environment(),
            "preload": settings.preload,
            "threads": [value for name, value in sorted(given.items()) if "NUM_THREADS" in name],
        }

    def _declared(self, chapter: Chapter) -> dict[str, Any]:
        """Return the files that a page says it reads, and their state."""
        named = declared(str(self._settings.root), chapter.reads)
        return {"declared": named, "files": states(p for paths in named.values() for p in paths)}

    def close(self) -> None:
        """End the processes that wait for work."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _unkept(
    chapter: Chapter, seen: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> tuple[str, ...]:
    """Say why a result cannot be kept, if it cannot."""
    changed = [f"{path} has changed since the page asked for it" for path in seen["changed"]]
    if before != after:
        changed.append("what its front matter names under reads: has changed meanwhile")
    if changed or chapter.reads:
        return tuple(changed)
    advice = "to keep it, list the files that it reads under reads: in its front matter"
    return tuple(f"{reason}; {advice}" for reason in seen["unseen"])


def _has_failed(run: Run) -> bool:
    failures = [run.failure, *(b.failure for b in run.blocks)]
    failures += [v.failure for v in run.values.values()]
    return any(failure is not None for failure in failures)
