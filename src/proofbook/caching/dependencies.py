"""Sees which files, folders and modules a page asks for, by Python's audit events.

What native code opens on its own raises no event: `import_hooks.announce_native_reads` covers
safetensors; the files that a subprocess opens stay unseen.
"""

import os
import sys
from collections.abc import Iterator
from typing import Any

from proofbook.caching import fingerprint

_SYSTEM = ("/proc/", "/dev/", "/sys/", "/usr/", "/etc/", "/System/", "/Library/")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class Dependencies:
    """An audit hook and what it saw; made once, in the process that runs the page.

    Args:
        root: The project; elsewhere, what belongs to the system is nobody's input.
        cache: The folder of the results themselves.
    """

    def __init__(self, root: str, cache: str) -> None:
        self._root = os.path.join(root, "")
        self._cache = os.path.join(cache, "")
        self._read: dict[str, list[int] | None] = {}
        self._written: set[str] = set()
        self._listed: dict[str, str] = {}
        self._sought: set[str] = set()
        sys.addaudithook(self._hear)

    def add(self, path: str) -> None:
        """Watch a file that the result points to, wherever it lies."""
        path = os.path.abspath(path)
        self._read.setdefault(path, fingerprint.signature(path))

    def seen(self) -> dict[str, Any] | None:
        """Return the state of all that was asked for, or `None` if some of it changed meanwhile."""
        read, folders = dict(self._read), dict(self._listed)  # looking below is heard too
        files = {}
        for path, before in read.items():
            files[path] = [before, fingerprint.content(path)]
            if fingerprint.signature(path) != before:
                return None
        modules = {
            folder: [sorted(names), fingerprint.importable(folder, names)]
            for folder, names in self._searched().items()
        }
        return {"files": files, "folders": folders, "modules": modules}

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        match event:
            case "open" if args[2] & _WRITING:
                self._wrote(args[0])
            case "open":
                self._opened(args[0])
            case "import":
                self._sought.add(args[0])
                self._opened(args[1])  # the file of an extension module
            case "os.rename":
                self._wrote(args[1])
            case "os.mkdir":
                self._wrote(args[0])
            case "os.listdir" | "os.scandir":
                # Import machinery lists folders too; `_sought` stands for what it looks for.
                if "importlib" not in sys._getframe(1).f_code.co_filename:
                    self._listed_folder("." if args[0] is None else args[0])

    def _opened(self, path: object) -> None:
        name = self._input_path(path)
        if name is not None and name not in self._read and not os.path.isdir(name):
            self._read[name] = fingerprint.signature(name)

    def _wrote(self, path: object) -> None:
        name = self._input_path(path)
        if name is not None and self._read.get(name) is None and not os.path.isdir(name):
            self._read.pop(name, None)
            self._written.add(name)

    def _listed_folder(self, path: object) -> None:
        name = self._input_path(path)
        if name is not None and name not in self._listed:
            self._listed[name] = ""  # looking is heard too
            self._listed[name] = fingerprint.listing(name)

    def _input_path(self, path: object) -> str | None:
        """Return the absolute path if it may be an input: not installed, nor made by the page."""
        if not isinstance(path, str | bytes):
            return None
        name = os.path.abspath(os.fsdecode(path))
        if fingerprint.is_installed(name) or name.startswith(self._cache):
            return None
        if name.startswith(_SYSTEM) and not name.startswith(self._root):
            return None
        made = self._written and not self._written.isdisjoint(_with_parents(name))
        return None if made else name

    def _searched(self) -> dict[str, set[str]]:
        """Return the folders in which imports looked, installed ones apart, and the names."""
        searched: dict[str, set[str]] = {}
        for name in self._sought:
            parent, _, tail = name.rpartition(".")
            package = sys.modules.get(parent)
            folders = getattr(package, "__path__", ()) if parent else sys.path
            for folder in map(os.path.abspath, folders):
                if not fingerprint.is_installed(folder):
                    searched.setdefault(folder, set()).add(tail)
        return searched


def _with_parents(path: str) -> Iterator[str]:
    while True:
        yield path
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def is_current(seen: dict[str, Any]) -> bool:
    """Tell whether all that a page had asked for is now as it was then."""
    return (
        all(_is_same_file(path, *state) for path, state in seen["files"].items())
        and all(fingerprint.listing(f) == names for f, names in seen["folders"].items())
        and all(fingerprint.importable(f, n) == was for f, (n, was) in seen["modules"].items())
    )


def _is_same_file(path: str, before: list[int] | None, content: str | None) -> bool:
    now = fingerprint.signature(path)
    if now is None or content is None:
        return now is None and content is None
    if now == before and now[1] >= fingerprint.LARGE_FILE:
        return True
    return fingerprint.content(path) == content
