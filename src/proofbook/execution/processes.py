"""The processes that the parent starts, and the two ways to start a page.

On Linux pages are forked from a server that has imported the preloaded packages; elsewhere, where
forking a process that has loaded frameworks is not safe, each page starts an interpreter. Both
speak the same lines (see `worker.py`). `multiprocessing` is not used: it would import the parent's
`__main__` again in each child, and its resource tracker complains of pages that were killed.
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
"""Seconds for a process to come up, imports of the preloaded packages included."""


class StartError(Exception):
    """No process could be started; the first line says why."""


class Child(ABC):
    """A page's process, as its parent sees it: two pipes and the group of all that it started."""

    def __init__(self, group: int, requests: IO[bytes], replies: IO[bytes]) -> None:
        self._group = group
        self._requests = requests
        self.replies = replies

    def send(self, request: bytes) -> None:
        """Write a request; a page that has died does not hear it."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.write(request)
            self._requests.flush()

    def kill(self) -> None:
        """End the process, with all that it has started."""
        if hasattr(os, "killpg"):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._group, signal.SIGKILL)

    @abstractmethod
    def exit_code(self) -> int | None:
        """Return how the process ended, where its last words did not say so."""

    def close(self) -> None:
        """Close what leads to the process."""
        with contextlib.suppress(BrokenPipeError):
            self._requests.close()
        self.replies.close()


def _command(module: str, *words: str) -> list[str]:
    # -P: a random.py of the project must not stand in for Python's before the page begins.
    # -u: what Python and C libraries print comes out at once, in order, whatever the page dies of.
    return [sys.executable, "-P", "-u", "-m", f"proofbook.execution.{module}", *words]


class Spawned(Child):
    """A page in an interpreter of its own."""

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
        """End the process, with all that it has started."""
        super().kill()
        self._process.kill()

    def exit_code(self) -> int | None:
        """Return how the process ended, where its last words did not say so."""
        return self._process.wait()

    def close(self) -> None:
        """Close what leads to the process."""
        super().close()
        self._process.wait()


class ForkServer:
    """A process that has imported the preloaded packages and forks a child a page."""

    def __init__(self, settings: Settings) -> None:
        self._door, theirs = socket.socketpair()
        self._process = subprocess.Popen(
            _command("forkserver", *settings.preload),
            stdin=theirs.fileno(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=settings.child_environment(),
            start_new_session=True,  # Ctrl-C is the parent's to handle
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
        """Tell whether the server came up and is no longer there."""
        return self.trouble is None and self._process.poll() is not None

    def fork(self) -> "Forked":
        """Start a page.

        Raises:
            StartError: the server could not preload what it should, or has died.
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
        """Close what leads to the process."""
        self._answers.close()
        self._door.close()
        self._process.kill()
        self._process.wait()


class Forked(Child):
    """A page in a child of the fork server."""

    def exit_code(self) -> int | None:
        """Return how the process ended, where its last words did not say so."""
        return None  # the fork server would have said so, but it has died
