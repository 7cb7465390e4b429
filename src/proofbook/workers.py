"""The parent's side of running: starts a process a page, several at a time, and outlives them all.

On Linux pages are forked from a zygote that has imported the preloaded packages; elsewhere, where
forking a process with threads and frameworks is not safe, each page starts an interpreter. Both
speak the same lines over two pipes (see `child.py`). `multiprocessing` is not used: it would import
the parent's `__main__` again in each child, and its resource tracker complains of killed pages.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from typing import IO, Any

from proofbook.model import BlockResult, Chapter, Failure, Run, Value
from proofbook.settings import Settings
from proofbook.tracebacks import death_trace
from proofbook.wire import dump, load_block, load_value

START_LIMIT = 300.0
"""Seconds for a child to come up, imports of the preloaded packages included."""

GRACE = 3.0
"""Seconds beyond a block's limit after which the parent ends what did not end itself."""


class Workers:
    """Runs chapters in processes of their own; keeps the zygote between runs."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._zygote: _Zygote | None = None
        self._children: set[_Child] = set()

    def run(
        self, chapters: Iterable[Chapter]
    ) -> Iterator[tuple[Chapter, Run, dict[str, Any] | None]]:
        """Run chapters side by side; yield each with its run, and with what it read, as it ends."""
        if self._zygote is not None and self._zygote.trouble:
            self.close()
        with ThreadPoolExecutor(self._settings.side_by_side) as pool:
            pages = {pool.submit(self._run_page, chapter): chapter for chapter in chapters}
            try:
                for page in as_completed(pages):
                    yield pages[page], *page.result()
            finally:  # after an interrupt no page may keep the pool waiting
                pool.shutdown(wait=False, cancel_futures=True)
                for child in list(self._children):
                    child.kill()

    def close(self) -> None:
        """End the zygote; the next run starts another."""
        if self._zygote is not None:
            self._zygote.close()
            self._zygote = None

    def _run_page(self, chapter: Chapter) -> tuple[Run, dict[str, Any] | None]:
        started = time.perf_counter()
        page = _Page()
        try:
            child = self._start()
        except _StartError as error:
            reason, _, detail = str(error).partition("\n")
            return Run((), {}, Failure(reason, detail=detail), device=self._settings.device), None
        self._children.add(child)
        try:
            child.send(_request(chapter, self._settings))
            _follow(child, page)
        finally:
            child.close()
            self._children.discard(child)
        return page.run(self._settings.device, time.perf_counter() - started), page.seen

    def _start(self) -> "_Child":
        if self._settings.spawn:
            return _Spawned(self._settings)
        with self._lock:
            if self._zygote is None or self._zygote.has_died():
                self._zygote = _Zygote(self._settings)
            return self._zygote.fork()


@dataclass
class _Page:
    """What one child has told so far."""

    blocks: list[BlockResult] = field(default_factory=list)
    values: dict[tuple[str, int], Value] = field(default_factory=dict)
    seen: dict[str, Any] | None = None
    block: int | None = None
    claim: str | None = None
    limit: float = START_LIMIT
    overdue: bool = False
    done: bool = False
    dead: bool = False
    exit_code: int | None = None
    trace: str = ""

    def hear(self, line: bytes, child: "_Child") -> None:
        if not line.startswith(b"{"):
            self.trace += line.decode("utf-8", "backslashreplace")
            return
        match json.loads(line):
            case {"group": group}:
                child.group = group
            case {"begin": block, "limit": limit}:
                self.block, self.claim, self.limit = block, None, limit
            case {"claim": claim, "limit": limit}:
                self.block, self.claim, self.limit = None, claim, limit
            case {"block": result}:
                self.blocks.append(load_block(result))
            case {"value": [text, place, value]}:
                self.values[text, place] = load_value(value)
            case {"done": seen}:
                self.done, self.seen = True, seen
            case {"exit": exit_code}:
                self.dead, self.exit_code = True, exit_code

    def run(self, device: str, seconds: float) -> Run:
        blocks = tuple(self.blocks)
        if self.done:
            return Run(blocks, self.values, device=device, seconds=seconds)
        line, detail = death_trace(self.trace, self.block)
        failure = Failure(self._cause(), line, detail)
        return Run(blocks, self.values, failure, self.block, device, seconds)

    def _cause(self) -> str:
        doing = f"evaluating {self.claim!r}" if self.claim is not None else "the block"
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


def _follow(child: "_Child", page: _Page) -> None:
    """Listen until the child is done or dead; end it when it is overdue."""

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
        page.hear(line, child)


def _request(chapter: Chapter, settings: Settings) -> bytes:
    claims = {(text, claim.place): None for claim in chapter.claims for text in claim.expressions}
    request = {
        "root": str(settings.root),
        "cache": str(settings.cache),
        "timeout": settings.timeout,
        "environment": settings.child_environment(),
        "blocks": [dump(block) for block in chapter.blocks],
        "claims": list(claims),
    }
    return json.dumps(request).encode() + b"\n"


class _StartError(Exception):
    """No process could be started; the first line says why."""


class _Child(ABC):
    """A page's process, as the parent holds it: two pipes and the group of all that it started."""

    requests: IO[bytes]
    replies: IO[bytes]
    group: int | None = None

    def send(self, request: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.requests.write(request)
            self.requests.flush()

    def kill(self) -> None:
        if self.group is not None and hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.group, signal.SIGKILL)

    @abstractmethod
    def exit_code(self) -> int | None:
        """Return how the process ended, where its last words did not say so."""

    def close(self) -> None:
        with contextlib.suppress(BrokenPipeError):
            self.requests.close()
        self.replies.close()


def _command(*words: str) -> list[str]:
    # -P: a random.py of the project must not stand in for Python's before the page begins.
    return [sys.executable, "-P", "-m", "proofbook.child", *words]


class _Spawned(_Child):
    """A page in an interpreter of its own."""

    def __init__(self, settings: Settings) -> None:
        self._process = subprocess.Popen(
            _command("page"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=settings.child_environment(),
            cwd=settings.root,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self.requests, self.replies = self._process.stdin, self._process.stdout
        self.group = self._process.pid  # it makes itself the leader of its own

    def kill(self) -> None:
        super().kill()
        self._process.kill()

    def exit_code(self) -> int | None:
        return self._process.wait()

    def close(self) -> None:
        super().close()
        self._process.wait()


class _Zygote:
    """A process that has imported the preloaded packages and forks a child a page."""

    def __init__(self, settings: Settings) -> None:
        self._door, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            _command("zygote", *settings.preload),
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=settings.child_environment(),
            cwd=settings.root,
            start_new_session=True,  # Ctrl-C is the parent's to handle
        )
        theirs.close()
        self._door.settimeout(START_LIMIT)
        self.trouble = self._read_trouble(settings)

    def _read_trouble(self, settings: Settings) -> str | None:
        with contextlib.suppress(OSError), self._door.makefile() as answers:
            if answer := answers.readline():
                trouble: str | None = json.loads(answer)["trouble"]
                return trouble
        return f"the process that preloads {', '.join(settings.preload)} died"

    def has_died(self) -> bool:
        return self.trouble is None and self._process.poll() is not None

    def fork(self) -> "_Forked":
        if self.trouble:
            raise _StartError(self.trouble)
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        try:
            socket.send_fds(self._door, [b"!"], [theirs_in, theirs_out])
        except OSError as error:
            raise _StartError(f"the process that starts pages died: {error}") from None
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        return _Forked(ours_out, ours_in)

    def close(self) -> None:
        self._door.close()
        self._process.kill()
        self._process.wait()


class _Forked(_Child):
    """A page in a child of the zygote."""

    def __init__(self, requests: int, replies: int) -> None:
        self.requests = os.fdopen(requests, "wb")
        self.replies = os.fdopen(replies, "rb")

    def exit_code(self) -> int | None:
        return None  # the zygote, which would have said so, has died
