"""Run chapters, or take their results from the cache; all chapters are run through here."""

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
    """A runner of chapters, made once, used for every build, and finally closed.

    Its own process imports nothing that a page imports.

    Attributes:
        asked: What each chapter's run depended on, by the chapter's path.
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
        """Run the chapters that aren't cached; return each chapter's run by its path.

        Args:
            chapters: Parsed chapters; one with nothing to run or look up starts no process.
            progress: Called with each chapter and its run once available, cached ones first.
            names: Whether the runs must look up all names in the chapters' prose.
        """
        environment = fingerprint.environment()
        if environment != self._environment:  # packages changed after they were preloaded
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
        for chapter, run, seen in self._pool.run(self._in_turn(stale)):
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

    def _in_turn(self, chapters: list[Chapter]) -> list[Chapter]:
        """Return the chapters in the order to start them."""
        settings = self._settings
        first = [settings.name(settings.docs / page) for page in settings.first]
        turns = {path: turn for turn, path in enumerate(first)}
        return sorted(chapters, key=lambda chapter: turns.get(chapter.path, len(turns)))

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
        """Return the files that a page declares it reads, and their state."""
        named = declared(str(self._settings.root), chapter.reads)
        return {"declared": named, "files": states(p for paths in named.values() for p in paths)}

    def close(self) -> None:
        """End the processes that are waiting for work."""
        self._pool.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def _unkept(
    chapter: Chapter, seen: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> tuple[str, ...]:
    """Return the reasons why a result can't be kept; none if it can."""
    changed = [f"{path} has changed since the page used it" for path in seen["changed"]]
    if before != after:
        changed.append("a file that its front matter lists under reads: changed during the run")
    if changed or chapter.reads:
        return tuple(changed)
    advice = "to keep the result, list the files the page reads under reads: in its front matter"
    return tuple(f"{reason}; {advice}" for reason in seen["unseen"])


def _has_failed(run: Run) -> bool:
    failures = [run.failure, *(b.failure for b in run.blocks)]
    failures += [v.failure for v in run.values.values()]
    return any(failure is not None for failure in failures)
