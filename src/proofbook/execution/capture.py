"""Capture everything a page writes, in order.

Stdout and stderr are redirected to one file at the level of file descriptors, which captures what
C libraries, subprocesses, and imported modules write, not only `print`.
"""

import contextlib
import io
import os
import sys
import tempfile
import warnings

from proofbook.text import clipped, readable

LARGEST_READ = 16_000_000
"""Maximum number of bytes to read of one block's output."""


class Capture:
    """A file that receives descriptors 1 and 2 and Python's streams; `take` returns new text."""

    def __init__(self) -> None:
        written, name = tempfile.mkstemp(prefix="proofbook-")
        # Opened twice: reading must not move the position where others write.
        self._new = open(name, "rb", buffering=0)  # noqa: SIM115
        self._taken = 0  # not the file's offset, which forked processes share
        with contextlib.suppress(OSError):  # Windows can't delete an open file
            os.unlink(name)
        for descriptor in (1, 2):
            os.dup2(written, descriptor)
        os.close(written)
        sys.stdout, sys.stderr = _writer(1), _writer(2)
        warnings.formatwarning = _format_warning

    def take(self) -> str:
        """Return the text written since the last call, as a terminal would show it.

        Only the beginning of a long text is returned, with a note.
        """
        written = self._read()
        start, self._taken = self._taken, self._taken + len(written)
        size = None
        if len(written) == LARGEST_READ:
            self._taken = self.size()
            size = self._taken - start
        text = written.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
        # Progress bars overwrite themselves: keep what follows each line's last carriage return.
        text = "\n".join(line.rpartition("\r")[2] for line in text.split("\n"))
        return clipped(readable(text), size)

    def size(self) -> int:
        """Return the total number of bytes that the page has written."""
        return os.fstat(self._new.fileno()).st_size

    def _read(self) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._new.fileno(), LARGEST_READ, self._taken)
        self._new.seek(self._taken)
        return self._new.read(LARGEST_READ)


def _writer(descriptor: int) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "w", closefd=False)  # unbuffered, to keep the order
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[type-var]


def _format_warning(
    message: Warning | str, category: type[Warning], *where: object, **more: object
) -> str:
    # Python would add the path of the code, which means nothing to readers.
    return f"{category.__name__}: {message}\n"
