"""Catch errors raised outside a block's own call stack: each fails its block.

A thread, a task that nobody awaits, a `__del__`, and a forked process print a traceback at most. A
script would continue, but a page with such an error must not pass.
"""

import contextlib
import gc
import json
import logging
import os
import sys
import tempfile
import threading
from collections.abc import Iterator
from typing import Any

from proofbook.execution.tracebacks import failure_of
from proofbook.model import Failure, dump


class BackgroundErrors:
    """A collector of such errors; `take` returns the first new one.

    The errors are kept in a file that the page shares with the processes it forks.
    """

    def __init__(self) -> None:
        self._page = os.getpid()
        self._file = tempfile.TemporaryFile("a+b", buffering=0)  # noqa: SIM115
        self._heard = 0
        self._block = ""
        threading.excepthook = self._in_thread
        sys.unraisablehook = self._unraisable
        logging.getLogger("asyncio").addHandler(_Tasks(self))

    def add(self, where: str, error: BaseException) -> None:
        """Record an error and where it was raised."""
        failure = failure_of(error, self._block)
        told = dump(failure) | {"reason": f"{where}: {failure.reason}"}
        self._file.write(json.dumps(told).encode() + b"\n")

    def take(self) -> Failure | None:
        """Return the first error since the last call, if there is one."""
        with open(self._file.fileno(), "rb", closefd=False) as file:
            file.seek(self._heard)
            first, *_ = lines = file.readlines() or [b""]
            self._heard += sum(map(len, lines))
        return Failure(**json.loads(first)) if first else None

    def wait(self) -> None:
        """Wait for the threads that a script would wait for, and collect garbage."""
        threading._shutdown()  # type: ignore[attr-defined]
        gc.collect()

    @contextlib.contextmanager
    def watching(self, block: str) -> Iterator[None]:
        """Run a block's code; end any process that it forks where the code ends."""
        self._block = block
        status: object = None
        try:
            yield
        except BaseException as error:
            if os.getpid() == self._page:
                raise
            status = error.code if isinstance(error, SystemExit) else 1
            if not isinstance(error, SystemExit):
                self.add("in a forked process", error)
        if os.getpid() != self._page:
            os._exit(status if isinstance(status, int) else int(status is not None))

    def _in_thread(self, args: Any) -> None:
        if not isinstance(args.exc_value, SystemExit):
            name = args.thread.name if args.thread else "?"
            self.add(f"in thread {name!r}", args.exc_value or args.exc_type())

    def _unraisable(self, args: Any) -> None:
        name = getattr(args.object, "__qualname__", None) or repr(args.object)
        self.add(f"in {name}", args.exc_value or args.exc_type())


class _Tasks(logging.Handler):
    """A handler for errors that asyncio logs, such as those of tasks that nobody awaited."""

    def __init__(self, errors: BackgroundErrors) -> None:
        super().__init__(logging.ERROR)
        self._background = errors

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        first = record.getMessage().partition("\n")[0]
        self._background.add(f"asyncio: {first}", error or RuntimeError(first))
