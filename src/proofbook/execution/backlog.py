"""Run chapters behind the pages that show them, several at a time, the most urgent first."""

import logging
import threading
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from proofbook.caching import fingerprint
from proofbook.caching.dependencies import is_current
from proofbook.execution.runner import Runner
from proofbook.model import Chapter, Run
from proofbook.settings import Settings

Job = Callable[[], None]
log = logging.getLogger("mkdocs.plugins.proofbook")


@dataclass(frozen=True)
class _Task:
    """A job, and a value that is equal for jobs that do the same."""

    key: Hashable
    job: Job


class Backlog:
    """Jobs that pages wait for, in the order of their pages; a page has one at a time.

    Args:
        width: How many jobs to do at the same time.
        start: Called with the page of each job that starts.
        done: Called with the page of each job that is done, unless the page has a newer one.
    """

    def __init__(
        self, width: int, start: Callable[[str], None], done: Callable[[str], None]
    ) -> None:
        self._width = width
        self._start = start
        self._done = done
        self._changed = threading.Condition()
        self._waiting: dict[str, _Task] = {}
        self._running: dict[str, _Task] = {}
        self._threads: list[threading.Thread] = []
        self._closed = False

    def add(self, page: str, key: Hashable, job: Job) -> bool:
        """Do a job for a page, unless the same job is waiting or under way.

        Returns:
            Whether the page's job that is under way has become useless.
        """
        task = _Task(key, job)
        with self._changed:
            running = self._running.get(page)
            if running and running.key == key:
                self._waiting.pop(page, None)
                return False
            self._waiting[page] = task
            if len(self._threads) < self._width:
                thread = threading.Thread(target=self._work, daemon=True, name="backlog")
                self._threads.append(thread)
                thread.start()
            self._changed.notify()
            return running is not None

    def hurry(self, page: str) -> None:
        """Do the job of a page before all others."""
        with self._changed:
            if page in self._waiting:
                self._waiting = {page: self._waiting.pop(page), **self._waiting}

    @property
    def running(self) -> list[str]:
        """The pages whose jobs are under way."""
        with self._changed:
            return list(self._running)

    def __len__(self) -> int:
        """Return how many pages wait."""
        with self._changed:
            return len(self._waiting.keys() | self._running.keys())

    def close(self) -> None:
        """Begin no other job."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify_all()

    def _work(self) -> None:
        while (page := self._next()) is not None:
            self._start(page)
            try:
                self._running[page].job()
            except Exception:  # the others go on
                log.exception("%s: the engine failed", page)
            with self._changed:
                del self._running[page]
                is_last = page not in self._waiting
                self._changed.notify()
            if is_last and not self._closed:
                self._done(page)

    def _next(self) -> str | None:
        """Wait for a job; return its page, or `None` when there will be no other."""
        with self._changed:
            while not self._closed:
                page = next((one for one in self._waiting if one not in self._running), None)
                if page is not None:
                    self._running[page] = self._waiting.pop(page)
                    return page
                self._changed.wait()
        return None


class LateRunner:
    """A runner that returns only what is known, and runs the rest behind, with a backlog.

    Args:
        settings: The book's settings.
        backlog: Gets the runs that are missing.
        progress: Called with each chapter that has run.

    Attributes:
        asked: What each chapter's run depended on, by the chapter's path.
    """

    def __init__(
        self, settings: Settings, backlog: Backlog, progress: Callable[[Chapter, Run], None]
    ) -> None:
        self._settings = settings
        self._runner = Runner(settings)
        self._backlog = backlog
        self._progress = progress
        self._unkept: dict[str, tuple[Hashable, Run]] = {}  # results that no cache has
        self._stopped: set[Hashable] = set()

    @property
    def asked(self) -> dict[str, Mapping[str, Any]]:
        """What each chapter's run depended on, by the chapter's path."""
        return self._runner.asked

    def run(
        self,
        chapters: Iterable[Chapter],
        progress: Callable[[Chapter, Run], None] | None = None,
        names: bool = False,
    ) -> dict[str, Run]:
        """Return each chapter's run by its path; it is pending if it isn't known yet."""
        chapters = list(chapters)
        runs = self._runner.find(chapters)
        for chapter in chapters:
            if chapter.path in runs:
                continue
            key = _work_of(chapter)
            known, run = self._unkept.get(chapter.path, (None, None))
            if run is None or known != key:
                run = Run((), {}, pending=True)
                if self._backlog.add(chapter.path, key, partial(self._run, chapter)):
                    self._stopped.add(chapter.path)
                    self._runner.stop(chapter.path)
            runs[chapter.path] = run
        return runs

    def forget(self) -> None:
        """Run the pages again that failed, or whose results couldn't be kept."""
        self._unkept.clear()

    def recovered(self) -> list[str]:
        """Forget the runs that lacked something which may be there now; return their pages.

        What was lacking is one of the book's `absences`, such as a model that is still downloaded.
        """
        root, look = str(self._settings.root), fingerprint.Look()
        pages = [
            path
            for path, (_, run) in [*self._unkept.items()]
            if self._lacks(run)
            and (seen := self.asked.get(path))
            and not is_current(seen, root, look)
        ]
        for path in pages:
            self._unkept.pop(path, None)
        return pages

    def _lacks(self, run: Run) -> bool:
        reasons = [block.failure.reason for block in run.blocks if block.failure]
        return any(one.partition(":")[0] in self._settings.absences for one in reasons)

    def close(self) -> None:
        """Stop all runs."""
        self._runner.stop()
        self._runner.close()

    def _run(self, chapter: Chapter) -> None:
        (run,) = self._runner.run([chapter]).values()
        if chapter.path in self._stopped:
            self._stopped.discard(chapter.path)
            return
        if not self._runner.find([chapter]):
            self._unkept[chapter.path] = _work_of(chapter), run
        self._progress(chapter, run)


def _work_of(chapter: Chapter) -> Hashable:
    """Return what a run of a chapter does, whatever the lines are on which it says so."""
    blocks = tuple((one.kind, one.code, one.raises, one.timeout) for one in chapter.blocks)
    claims = frozenset((e, one.place) for one in chapter.claims for e in one.expressions)
    return chapter.path, blocks, claims, chapter.names, chapter.shows, chapter.reads
