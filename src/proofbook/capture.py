"""Catches all that a page writes, in the order in which it was written.

The two file descriptors themselves are turned to one file, so that C libraries, subprocesses and
functions of imported modules are heard as well as `print`.
"""

import contextlib
import ctypes
import io
import os
import re
import sys
import tempfile
import warnings


class Capture:
    """Sends descriptors 1 and 2, `sys.stdout` and `sys.stderr` to one file; `take` gives what is new."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115
        self._taken = 0
        for descriptor in (1, 2):
            os.dup2(self._file.fileno(), descriptor)
        sys.stdout, sys.stderr = _writer(1), _writer(2)
        _unbuffer_c_stdout()
        warnings.formatwarning = _format_warning

    def take(self) -> str:
        """Return the text written since the last call, as a terminal would have left it."""
        sys.stdout.flush()
        sys.stderr.flush()
        size = os.fstat(self._file.fileno()).st_size
        data = os.pread(self._file.fileno(), size - self._taken, self._taken)
        self._taken += len(data)
        text = data.decode("utf-8", "backslashreplace").replace("\r\n", "\n")
        return re.sub(r"[^\n]*\r", "", text)  # a progress bar writes over itself


def _writer(descriptor: int) -> io.TextIOWrapper:
    raw = io.FileIO(descriptor, "w", closefd=False)  # a buffer would lose the order
    return io.TextIOWrapper(raw, encoding="utf-8", errors="backslashreplace", write_through=True)  # type: ignore[type-var]


def _unbuffer_c_stdout() -> None:
    # C's printf fills a buffer where there is no terminal, and would come out after what follows it.
    unbuffered = 2  # _IONBF of glibc, musl and macOS
    name = "__stdoutp" if sys.platform == "darwin" else "stdout"
    with contextlib.suppress(OSError, TypeError, ValueError, AttributeError):
        libc = ctypes.CDLL(None)
        libc.setvbuf(ctypes.c_void_p.in_dll(libc, name), None, unbuffered, 0)


def _format_warning(
    message: Warning | str, category: type[Warning], *where: object, **more: object
) -> str:
    # Where it was raised is a path of this machine: no reader's business.
    return f"{category.__name__}: {message}\n"
