"""Start processes for pages, by forking or in a new interpreter.

On Linux, pages are forked from a server that has imported the preloaded packages. Elsewhere, where
forking a process that has loaded frameworks isn't safe, each page starts an interpreter. Both use
the same messages (see `worker.py`). They don't use `multiprocessing`, which would import the
parent's `__main__` again in each child, and whose resource tracker complains about killed pages.
"""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from abc import ABC, abstractmethod
from typing import IO, Any

from proofbook.settings import Settings

START_LIMIT = 300.0
"""Seconds that a process may take to start, including the imports of preloaded packages."""


class StartError(Exception):
    """Error for a process that couldn't be started; its first line says why."""


class Child(ABC):
    """A page's process as the parent sees it: two pipes and a process group."""

    def __init__(self, group: int, requests: IO[bytes], replies: IO[bytes]) -> None:
        self._group = group
        self._requests = requests
        self.replies = replies

    def send(self, request: bytes) -> None:
        """Write a request; if the page has died, do nothing."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.write(request)
            self._requests.flush()

    def kill(self) -> None:
        """End the process and everything it has started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._group, signal.SIGKILL)

    @abstractmethod
    def exit_code(self) -> int | None:
        """Return the exit code of a process that didn't report it; None if it's unknown."""

    def close(self) -> None:
        """Close the connections to the process."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self.replies.close()


def _command(module: str, *words: str) -> list[str]:
    # -P: a random.py in the project must not replace Python's before the page begins.
    # -u: output of Python and C libraries appears at once, in order, however the page dies.
    return [sys.executable, "-P", "-u", "-m", f"proofbook.execution.{module}", *words]


class Spawned(Child):
    """A page in its own interpreter."""

    def __init__(self, settings: Settings) -> None:
        self._process = subprocess.Popen(
            _command("worker"),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=settings.child_environment(),
        )
        requests, replies = self._process.stdin, self._process.stdout
        assert requests is not None
        assert replies is not None
        super().__init__(self._process.pid, requests, replies)

    def kill(self) -> None:
        """End the process and everything it has started."""
        super().kill()
        self._process.kill()

    def exit_code(self) -> int | None:
        """Wait for the process to end; return its exit code."""
        return self._process.wait()

    def close(self) -> None:
        """Close the connections to the process and wait for it to end."""
        super().close()
        self._process.wait()


class ForkServer:
    """A process that has imported the preloaded packages and forks a child for each page."""

    def __init__(self, settings: Settings) -> None:
        self._door, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            _command("forkserver", *settings.preload),
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=settings.child_environment(),
            start_new_session=True,  # the parent handles Ctrl-C
        )
        theirs.close()
        self._door.settimeout(START_LIMIT)
        self._answers = self._door.makefile()
        died = f"the process that preloads {', '.join(settings.preload) or 'nothing'} died"
        self.trouble: str | None = self._hear("trouble", otherwise=died)

    def _hear(self, word: str, otherwise: Any = None) -> Any:
        with contextlib.suppress(OSError):
            if answer := self._answers.readline():
                return json.loads(answer)[word]
        return otherwise

    def has_died(self) -> bool:
        """Return whether the server started successfully and has died since."""
        return self.trouble is None and self._process.poll() is not None

    def fork(self) -> "Forked":
        """Start a page.

        Raises:
            StartError: The server could not preload its packages, or has died.
        """
        if self.trouble:
            raise StartError(self.trouble)
        theirs_in, ours_out = os.pipe()
        ours_in, theirs_out = os.pipe()
        with contextlib.suppress(OSError):
            socket.send_fds(self._door, [b"!"], [theirs_in, theirs_out])
        os.close(theirs_in)
        os.close(theirs_out)
        page = self._hear("page")
        forked = Forked(page, os.fdopen(ours_out, "wb"), os.fdopen(ours_in, "rb"))
        if page is None:
            forked.close()
            raise StartError("the process that starts pages died")
        return forked

    def close(self) -> None:
        """Close the connections to the process and end it."""
        self._answers.close()
        self._door.close()
        self._process.kill()
        self._process.wait()


class Forked(Child):
    """A page forked from the fork server."""

    def exit_code(self) -> int | None:
        """Return None, since the exit code is unknown."""
        return None  # the fork server would have reported it, but it has died
