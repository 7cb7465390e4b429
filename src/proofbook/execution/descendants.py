"""End all processes that a page has started, even those that left its session (Linux).

Orphans are adopted by the nearest ancestor that asked for them, so none escapes.
"""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable

_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of all descendants whose own parent ends."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants(spared: Callable[[int, int], bool] = lambda child, group: False) -> None:
    """Kill all descendants of this process until none is left.

    Args:
        spared: Given a child and its process group, returns whether to spare it and all its
            descendants.
    """
    while doomed := [child for child, group in _descendants(spared)]:
        for child in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for child in doomed:
            with contextlib.suppress(ChildProcessError):  # a grandchild; it will be adopted
                os.waitpid(child, 0)


def _descendants(spared: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """Return the process and group of each descendant that is alive or that we have to reap."""
    children: dict[int, list[tuple[int, int]]] = {}
    for name in os.listdir("/proc") if sys.platform.startswith("linux") else ():
        with (
            contextlib.suppress(OSError, ValueError),
            open(f"/proc/{int(name)}/stat", "rb") as file,
        ):
            state, parent, group = file.read().rpartition(b")")[2].split()[:3]
            if state != b"Z" or int(parent) == os.getpid():
                children.setdefault(int(parent), []).append((int(name), int(group)))
    found = [one for one in children.get(os.getpid(), []) if not spared(*one)]
    for child, _ in found:
        found += children.get(child, [])
    return found
