"""Run chapters, or take their results from the cache; all chapters are run through here."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, Protocol, Self

from proofbook.caching import fingerprint
from proofbook.caching.cache import Cache, EntryState, Found
from proofbook.caching.dependencies import CLOCK, CLOCK_READ, compared, declared, states
from proofbook.execution.pool import Pool
from proofbook.model import Chapter, Run
from proofbook.settings import Settings


class RunsChapters(Protocol):
    """What runs the chapters of a book: at once, or while they are already shown."""

    @property
    def asked(self) -> dict[str, Mapping[str, Any]]:
        """What each chapter's run depended on, by the chapter's path."""

    def run(
        self,
        chapters: Iterable[Chapter],
        progress: Callable[[Chapter, Run], None] | None = None,
        names: bool = False,
    ) -> dict[str, Run]:
        """Return each chapter's run by its path."""

    def close(self) -> None:
        """Stop all runs."""


class Runner:
    """A runner of chapters, made once, used for every build, and finally closed.

    Its own process imports nothing that a page imports.

    Attributes:
        asked: What each chapter's run depended on, by the chapter's path.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._pool = Pool(settings)
        self._state = ""
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
        cache = self._cache()
        runs: dict[str, Run] = {}

        def know(chapter: Chapter, run: Run) -> None:
            runs[chapter.path] = run
            if progress is not None:
                progress(chapter, run)

        stale = []
        files = {}
        chapters = list(chapters)
        for chapter in chapters:
            if (run := self._found(chapter, cache, names)) is not None:
                know(chapter, run)
            else:
                stale.append(chapter)
                files[chapter.path] = self._declared(chapter)
        for chapter, run, seen in self._pool.run(self._in_turn(stale)):
            if seen is None:
                know(chapter, run)
                continue
            declared = files[chapter.path]
            known = {**compared(seen), **declared, "files": {**declared["files"], **seen["files"]}}
            self.asked[chapter.path] = known
            if _has_failed(run):
                know(chapter, run)
            elif why := _unkept(chapter, seen, declared, self._declared(chapter)):
                know(chapter, replace(run, unkept=why))
            else:
                cache.store(chapter, run, known)
                know(chapter, run)
        return {chapter.path: runs[chapter.path] for chapter in chapters}

    def find(self, chapters: Iterable[Chapter]) -> dict[str, Run]:
        """Return the runs that are known, by path: those in the cache and those of nothing."""
        cache = self._cache()
        found = {chapter.path: self._found(chapter, cache) for chapter in chapters}
        return {path: run for path, run in found.items() if run is not None}

    def stop(self, path: str | None = None) -> None:
        """Kill the run of a page, or of all pages: each ends as one that has died."""
        self._pool.stop(path)

    def _cache(self) -> Cache:
        """Return the results that hold now."""
        state = fingerprint.everything()
        if state != self._state:  # packages changed after they were preloaded
            self._pool.close()
            self._state = state
        return Cache(self._settings.cache, self._world(), self._known)

    def _found(self, chapter: Chapter, cache: Cache, names: bool = False) -> Run | None:
        if not (chapter.blocks or chapter.claims or (names and chapter.names)):
            return Run((), {}, device=self._settings.device)
        if (found := cache.find(chapter, names)) is None:
            return None
        run, self.asked[chapter.path] = found
        return run

    def _in_turn(self, chapters: list[Chapter]) -> list[Chapter]:
        """Return the chapters in the order to start them."""
        settings = self._settings
        first = [settings.name(settings.docs / page) for page in settings.first]
        turns = {path: turn for turn, path in enumerate(first)}
        return sorted(chapters, key=lambda chapter: turns.get(chapter.path, len(turns)))

    def _world(self) -> dict[str, Any]:
        """Return what every page depends on besides its own text."""
        settings, given = self._settings, self._settings.child_environment()
        return {
            "root": str(settings.root),
            "sources": settings.sources,
            "environment": fingerprint.environment(),
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
    if changed:
        return tuple(changed)
    times = [reason for reason in seen["unseen"] if reason.startswith(CLOCK)]
    if times and CLOCK_READ not in chapter.reads:
        return (f"{times[0]}; to keep it, add {CLOCK_READ!r} to reads: in its front matter",)
    unseen = [] if chapter.reads else seen["unseen"]
    advice = "to keep the result, list the files the page reads under reads: in its front matter"
    return tuple(f"{reason}; {advice}" for reason in unseen)


def _has_failed(run: Run) -> bool:
    failures = [run.failure, *(b.failure for b in run.blocks)]
    failures += [v.failure for v in run.values.values()]
    return any(failure is not None for failure in failures)
