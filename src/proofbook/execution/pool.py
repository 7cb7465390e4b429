"""Run several pages at a time from the parent, following each until it finishes or dies.

Each page has two timeouts. The child's own reports the line where it hangs; the parent's, a little
later, kills a child whose own timeout didn't fire.
"""

import json
import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import Any

from proofbook.execution.processes import START_LIMIT, Child, ForkServer, Spawned, StartError
from proofbook.execution.tracebacks import death_trace
from proofbook.model import (
    BlockResult,
    Chapter,
    Failure,
    Origin,
    Run,
    Value,
    dump,
    load_block,
    load_origins,
    load_value,
)
from proofbook.settings import Settings

GRACE = 3.0
"""Seconds past a block's limit after which the parent kills a page that hasn't ended itself."""
PULSE = 0.5
"""Seconds between checks: a signal delivered to another thread doesn't wake this one."""
FLOOD = 256_000_000
"""Maximum total bytes that a page may print."""


class Pool:
    """A pool that runs each chapter in its own process; it keeps the fork server between runs."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._fork_server: ForkServer | None = None
        self._running: dict[Child, tuple[str, threading.Event]] = {}  # with path and end of batch

    def run(
        self, chapters: Iterable[Chapter]
    ) -> Iterator[tuple[Chapter, Run, dict[str, Any] | None]]:
        """Run chapters in parallel; yield each with its run and what it read, as it finishes.

        Several threads may do this at the same time.
        """
        with self._lock:
            if self._fork_server is not None and self._fork_server.trouble:
                self.close()  # the trouble may have been fixed
        ending = threading.Event()
        with ThreadPoolExecutor(self._settings.side_by_side) as pool:
            pages = {pool.submit(self._run_page, one, ending): one for one in chapters}
            try:
                running = set(pages)
                while running:
                    ended, running = wait(running, PULSE, FIRST_COMPLETED)
                    for page in ended:
                        yield pages[page], *page.result()
            finally:  # after an interrupt, no page may keep the pool waiting
                ending.set()
                pool.shutdown(wait=False, cancel_futures=True)
                self._kill(lambda _, batch: batch is ending)

    def stop(self, path: str | None = None) -> None:
        """Kill the run of a page, or of all pages: each ends as one that has died."""
        self._kill(lambda running, _: path in (None, running))

    def _kill(self, is_meant: Callable[[str, threading.Event], bool]) -> None:
        for child, (path, batch) in list(self._running.items()):
            if is_meant(path, batch):
                child.kill()

    def close(self) -> None:
        """End the fork server; the next run starts another."""
        if self._fork_server is not None:
            self._fork_server.close()
            self._fork_server = None

    def _run_page(
        self, chapter: Chapter, ending: threading.Event
    ) -> tuple[Run, dict[str, Any] | None]:
        started = time.perf_counter()
        page = _Page()
        try:
            child = self._start()
        except StartError as error:
            reason, _, detail = str(error).partition("\n")
            return Run((), {}, Failure(reason, detail=detail), device=self._settings.device), None
        self._running[child] = chapter.path, ending
        if ending.is_set():  # it started while the others were being killed
            child.kill()
        try:
            child.send(_request(chapter, self._settings))
            _follow(child, page)
        finally:
            if not page.done:
                child.kill()  # processes that it started may have outlived it
            child.close()
            self._running.pop(child, None)
        return page.run(self._settings.device, time.perf_counter() - started), page.seen

    def _start(self) -> Child:
        if self._settings.spawn:
            return Spawned(self._settings)
        with self._lock:
            if self._fork_server is None or self._fork_server.has_died():
                self._fork_server = ForkServer(self._settings)
            return self._fork_server.fork()


@dataclass
class _Page:
    """The reports of one child so far."""

    blocks: list[BlockResult] = field(default_factory=list)
    values: dict[tuple[str, int], Value] = field(default_factory=dict)
    names: dict[str, bool] = field(default_factory=dict)
    origins: dict[str, Origin | None] = field(default_factory=dict)
    stray: Failure | None = None
    flood: int | None = None
    seen: dict[str, Any] | None = None
    block: int | None = None
    claim: str | None = None
    limit: float = START_LIMIT
    overdue: bool = False
    done: bool = False
    dead: bool = False
    exit_code: int | None = None
    trace: str = ""

    def hear(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:  # faulthandler's output, or a message that death cut short
            self.trace += line.decode("utf-8", "backslashreplace")
            return
        if self.flood is not None and "exit" not in message:
            return  # keep what it was doing when it hit the limit
        match message:
            case {"begin": block, "limit": limit}:
                self.block, self.claim, self.limit = block, None, limit
            case {"claim": claim, "limit": limit}:
                self.block, self.claim, self.limit = None, claim, limit
            case {"block": result}:
                self.blocks.append(load_block(result))
            case {"value": [text, place, value]}:
                self.values[text, place] = load_value(value)
            case {"stray": failure}:
                self.stray = Failure(**failure)
            case {"flood": most}:
                self.flood = most
            case {"names": names}:
                self.names = names
            case {"origins": origins}:
                self.origins = load_origins(origins)
            case {"done": seen}:
                self.done, self.seen = True, seen
            case {"exit": exit_code}:
                self.dead, self.exit_code = True, exit_code

    def run(self, device: str, seconds: float) -> Run:
        blocks = tuple(self.blocks)
        if self.done:
            return Run(
                blocks,
                self.values,
                self.stray,
                device=device,
                seconds=seconds,
                names=self.names,
                origins=self.origins,
            )
        line, detail = death_trace(self.trace, self.block)
        failure = Failure(self._cause(), line, detail)
        return Run(blocks, self.values, failure, self.block, device, seconds)

    def _cause(self) -> str:
        doing = f"evaluating {self.claim!r}" if self.claim is not None else "the block"
        if self.flood is not None:
            return (
                f"{doing} kept printing after the page had printed {self.flood / 1e6:g} MB: "
                "print less, or write to a file"
            )
        if self.overdue or self.trace.startswith("Timeout"):
            return f"{doing} did not end within {self.limit:g} s"
        if self.trace.startswith("Traceback"):
            return f"the engine itself failed: {self.trace.strip().splitlines()[-1]}"
        if self.exit_code is None:
            return "the process that starts pages died"
        if self.exit_code >= 0:
            return f"{doing} ended the page's process (exit code {self.exit_code})"
        name = signal.strsignal(-self.exit_code)
        why = ": out of memory, most likely" if self.exit_code == -9 else ""
        return f"{doing} was killed by signal {-self.exit_code} ({name}){why}"


def _follow(child: Child, page: _Page) -> None:
    """Listen until the child finishes or dies; kill it when it's overdue."""

    def end() -> None:
        page.overdue = True
        child.kill()

    while not page.done and not page.dead:
        watchdog = threading.Timer(page.limit + GRACE, end)
        watchdog.daemon = True
        watchdog.start()
        line = child.replies.readline()
        watchdog.cancel()
        if not line:
            page.dead, page.exit_code = True, child.exit_code()
            return
        page.hear(line)


def _request(chapter: Chapter, settings: Settings) -> bytes:
    claims = {(text, claim.place): None for claim in chapter.claims for text in claim.expressions}
    request = {
        "root": str(settings.root),
        "sources": list(map(str, settings.source_folders)),
        "cache": str(settings.cache),
        "timeout": settings.timeout,
        "device": settings.device,
        "environment": settings.child_environment(),
        "blocks": [dump(block) for block in chapter.blocks],
        "claims": list(claims),
        "assertions": chapter.assertions,
        "names": list(chapter.names),
        "shows": list(chapter.shows),
        "packages": settings.packages(),
        "flood": FLOOD,
    }
    return json.dumps(request).encode() + b"\n"
