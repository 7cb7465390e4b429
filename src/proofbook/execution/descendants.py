"""Ends what a page has started, that which left its session included (Linux).

Orphans come to the nearest process that asked for them, so that none gets out of sight.
"""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable

_SET_CHILD_SUBREAPER = 36


def adopt_orphans() -> None:
    """Become the parent of all descendants that lose theirs."""
    if sys.platform.startswith("linux"):
        ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_descendants(spared: Callable[[int, int], bool] = lambda child, group: False) -> None:
    """Kill all descendants of this process, until none is left.

    Args:
        spared: Tells of a child and its process group whether it stays, with all below it.
    """
    while doomed := [child for child, group in _descendants(spared)]:
        for child in doomed:
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        for child in doomed:
            with contextlib.suppress(ChildProcessError):  # a grandchild; it will come here
                os.waitpid(child, 0)


def _descendants(spared: Callable[[int, int], bool]) -> list[tuple[int, int]]:
    """Process and group of each descendant that lives, or waits to be buried here."""
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
