"""Capture everything a page writes, in order.

Both file descriptors are redirected to one file, so that C libraries, subprocesses and
functions of imported modules are captured as well as `print`.
"""

import contextlib
import io
import os
import sys
import tempfile
import warnings

from proofbook.text import clipped, readable

LARGEST_READ = 16_000_000
"""Bytes of what one block wrote that are read at all."""


class Capture:
    """Sends descriptors 1 and 2, and Python's streams, to one file; `take` returns what is new."""

    def __init__(self) -> None:
        written, name = tempfile.mkstemp(prefix="proofbook-")
        # Opened twice, so that reading does not move the place where others are writing.
        self._new = open(name, "rb", buffering=0)  # noqa: SIM115
        self._taken = 0  # a process that the page has forked must not move it
        with contextlib.suppress(OSError):  # Windows keeps a file that is open
            os.unlink(name)
        for descriptor in (1, 2):
            os.dup2(written, descriptor)
        os.close(written)
        sys.stdout, sys.stderr = _writer(1), _writer(2)
        warnings.formatwarning = _format_warning

    def take(self) -> str:
        """Return the text written since the last call, as a terminal would have left it.

        Of a long text the beginning is returned, with a note.
        """
        written = self._read()
        start, self._taken = self._taken, self._taken + len(written)
        size = None
        if len(written) == LARGEST_READ:
            self._taken = self.size()
            size = self._taken - start
        text = written.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
        # A progress bar writes over itself: of each line, what follows the last return is left.
        text = "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))
        return clipped(readable(text), size)

    def size(self) -> int:
        """Return how many bytes the page has written in all."""
        return os.fstat(self._new.fileno()).st_size

    def _read(self) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._new.fileno(), LARGEST_READ, self._taken)
        self._new.seek(self._taken)
        return self._new.read(LARGEST_READ)


def _writer(descriptor: int) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "w", closefd=False)  # a buffer would lose the order
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[type-var]


def _format_warning(
    message: Warning | str, category: type[Warning], *where: object, **more: object
) -> str:
    # Where it was raised is a path of this machine: no reader's business.
    return f"{category.__name__}: {message}\n"
