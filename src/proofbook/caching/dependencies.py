"""Track the files, folders, and modules that a page uses, and whether they have changed.

Python's audit events report most uses; `execution/announcements.py` adds events for queries and
readers that raise none, and on Linux the kernel reports what native code opens. Reads by other
processes or over the network can't be tracked; `unseen` says whether a page uses either.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol

from proofbook.caching import fingerprint

_SYSTEM = ("/proc/", "/dev/", "/sys/", "/usr/", "/etc/", "/System/", "/Library/")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR
_PYTHONS = os.path.join(os.path.dirname(os.path.abspath(os.__file__)), "")

_PROCESS, _NETWORK = (
    "reads by other processes cannot be tracked",
    "reads over the network cannot be tracked",
)
_NATIVE = "reads by native code cannot be tracked"
_UNSEEN = {
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"), _PROCESS),
    **dict.fromkeys(("os.fork", "os.forkpty", "os.startfile", "proofbook.process"), _PROCESS),
    **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), _NETWORK),
    **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname"), _NETWORK),
    "ctypes.dlopen": _NATIVE,
}


def use_of(flags: int, is_there: bool = True) -> tuple[bool, bool]:
    """Return whether these flags open a file for reading, and whether they open it for writing.

    Args:
        flags: The flags of `os.open`.
        is_there: Whether the file exists; a file that must be new has nothing to read.
    """
    is_new = not is_there and flags & os.O_CREAT and flags & os.O_EXCL
    reads = flags & _ACCESS != os.O_WRONLY and not flags & os.O_TRUNC and not is_new
    return bool(reads or (is_there and flags & os.O_EXCL)), bool(flags & _WRITING)


class Kernel(Protocol):
    """The kernel's record of opened files."""

    def opened(self) -> list[list[Any]]:
        """Return each opened file's path and use, and its signature and content before that use."""

    def changing(self) -> dict[str, Any]:
        """Return the earlier state of files that were opened for writing since the last call."""


class Dependencies:
    """An audit hook and its records, made once, in the process that runs the page.

    Args:
        root: The project's folder; outside it, system files don't count as input.
        cache: The folder of the cached results.
        kernel: Reports the files that the kernel saw opened; if `None`, reads by native code go
            unseen.
    """

    def __init__(self, root: str, cache: str, kernel: Kernel | None = None) -> None:
        self._root = os.path.join(root, "")
        self._cache = os.path.join(cache, "")
        self._kernel = kernel
        self._read: dict[str, list[int] | None] = {}
        self._content: dict[str, str | None] = {}
        self._written: set[str] = set()
        self._listed: dict[str, str] = {}
        self._asked: dict[tuple[str, str], Any] = {}
        self._known: set[tuple[object, str]] = set()
        self._sought: set[str] = set()
        self._unseen: dict[str, None] = {}
        self._touched: dict[str, Any] | None = None
        self._looking = threading.local()
        self._handlers: dict[str, Callable[..., None]] = {
            "open": self._open,
            "sqlite3.connect": self._connect,
            "import": self._import,
            "os.rename": self._move,
            "os.link": self._move,
            "os.remove": self._remove,
            "os.truncate": lambda path, *_: self._opened(path, changes=True),
            "os.mkdir": lambda path, *_: self._wrote(path),
            "os.listdir": self._list,
            "os.scandir": self._list,
            "proofbook.asked": self._ask,
        }
        if kernel is not None:
            self._handlers["ctypes.dlopen"] = lambda *_: None
        sys.addaudithook(self._hear)
        sys.meta_path.insert(0, self)  # `find_spec` imports nothing, and raises no event

    def find_spec(self, name: str, *_: object) -> None:
        """Record the module that an import looks for; leave it to other finders to find it."""
        self._sought.add(name)

    def add(self, path: str) -> None:
        """Track a file that the result refers to, wherever it is."""
        path = os.path.abspath(path)
        self._read.setdefault(path, fingerprint.signature(path))

    @contextlib.contextmanager
    def noting_changes(self) -> Iterator[list[str]]:
        """Yield a list that, on exit, names the files that have changed in the meantime."""
        changes: list[str] = []
        self._touched = {}
        if self._kernel:
            self._kernel.changing()
        try:
            yield changes
        finally:
            native = self._kernel.changing() if self._kernel else {}
            ours = {p: was for p, was in native.items() if self._is_of_interest(p)}
            touched, self._touched = {**ours, **self._touched}, None
            changes += [p for p, was in touched.items() if fingerprint.answer(p, "state") != was]

    def seen(self) -> dict[str, Any]:
        """Return the state of everything the page depended on, as it was when the page used it.

        `changed` lists the paths that have changed since; `unseen` says what may have been missed.
        """
        self._looking.now = True
        try:
            return self._seen()
        finally:
            self._looking.now = False

    def _seen(self) -> dict[str, Any]:
        self._hear_kernel()
        changed = [path for path in self._read if self._has_changed(path)]
        changed += [p for (p, q), was in self._asked.items() if fingerprint.answer(p, q) != was]
        return {
            "files": {
                path: [before, self._content.get(path, fingerprint.content(path))]
                for path, before in self._read.items()
            },
            "folders": self._listed,
            "asked": [[path, question, was] for (path, question), was in self._asked.items()],
            "modules": {
                folder: [sorted(names), fingerprint.importable(folder, names)]
                for folder, names in self._searched().items()
            },
            "unseen": list(self._unseen),
            "changed": sorted(set(changed)),
        }

    def _hear_kernel(self) -> None:
        """Add the files that native code opened; those that Python opened are already known."""
        written: set[str] = set()
        for path, reads, writes, signature, content in (
            self._kernel.opened() if self._kernel else ()
        ):
            for name in self._inputs(path):
                if name in written or name in self._read or os.path.isdir(name):
                    continue
                if reads:
                    self._read[name] = signature
                    if writes:
                        self._content[name] = content
                elif writes:
                    written.add(name)

    def _has_changed(self, path: str) -> bool:
        if path in self._content:
            return fingerprint.content(path) != self._content[path]
        return fingerprint.signature(path) != self._read[path]

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in self._handlers and event not in _UNSEEN:
            return
        if getattr(self._looking, "now", False):  # our own lookups raise events too
            return
        if event == "proofbook.asked" and args in self._known:  # the first answer counts
            return
        self._looking.now = True
        try:
            # The import machinery lists folders too, but `_sought` covers its searches.
            if event.startswith("os.") and "importlib" in sys._getframe(1).f_code.co_filename:
                return
            if event == "os.scandir" and not is_python_s(sys._getframe(1).f_code.co_filename):
                self._look_at_entries(args[0])
            if event in self._handlers:
                self._handlers[event](*args)
            else:
                self._unseen[f"{_UNSEEN[event]} ({event.removeprefix('proofbook.')})"] = None
        finally:
            self._looking.now = False

    def _open(self, path: object, mode: str | None, flags: int) -> None:
        if not flags and mode and not mode.startswith("r"):  # C's fopen
            flags = os.O_WRONLY
        is_new = flags & os.O_EXCL and flags & os.O_CREAT and not os.path.lexists(path)  # type: ignore[arg-type]
        reads, writes = use_of(flags, not is_new)
        if is_new and "tempfile" not in sys._getframe(2).f_code.co_filename:
            self._ask(path, "kind")  # opening would fail if the file existed
        if reads:
            self._opened(path, changes=writes)
        elif writes:
            self._wrote(path)

    def _connect(self, path: object, *_: object) -> None:
        name = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        name = name.removeprefix("file:").partition("?")[0]
        if name not in ("", ":memory:"):
            self._opened(name, changes=True)

    def _import(self, module: str, file: object, *_: object) -> None:
        self._sought.add(module)
        self._opened(file)  # of an extension module

    def _move(self, source: object, target: object, *_: object) -> None:
        self._opened(source, changes=True)
        self._wrote(target)

    def _remove(self, path: object, folder: int) -> None:
        if folder == -1:  # not relative to an open folder
            self._opened(path, changes=True)

    def _list(self, path: object = None) -> None:
        for name in self._inputs("." if path is None else path):
            self._listed.setdefault(name, fingerprint.listing(name))

    def _look_at_entries(self, folder: object) -> None:
        """Record the state of a folder's entries, since querying a `DirEntry` raises no event."""
        for name in self._inputs("." if folder is None else folder):
            for entry in fingerprint.entries(name):
                self._ask(os.path.join(name, entry), "state")

    def _ask(self, path: object, question: str) -> None:
        if isinstance(path, str) and os.path.isabs(path):
            self._known.add((path, question))
        for name in self._inputs(path):
            self._asked.setdefault((name, question), fingerprint.answer(name, question))

    def _opened(self, path: object, changes: bool = False) -> None:
        if changes:
            self._touch(path)
        for name in self._inputs(path):
            if name not in self._read and not os.path.isdir(name):
                self._read[name] = fingerprint.signature(name)
                if changes:  # the state before the change counts
                    self._content[name] = fingerprint.content(name)

    def _wrote(self, path: object) -> None:
        self._touch(path)
        for name in self._inputs(path):
            if self._read.get(name) is None and not os.path.isdir(name):
                self._read.pop(name, None)
                self._written.add(name)

    def _touch(self, path: object) -> None:
        """Record a file's state before it is changed."""
        if self._touched is not None and isinstance(path, str | bytes | os.PathLike):
            name = os.path.abspath(os.fsdecode(path))
            if self._is_of_interest(name):
                self._touched.setdefault(name, fingerprint.answer(name, "state"))

    def _is_of_interest(self, path: str) -> bool:
        """Return whether a path is outside installed packages, the system, and the cache."""
        ours = path.startswith(self._root) or not path.startswith(_SYSTEM)
        kept = os.path.join(path, "").startswith(self._cache)
        return ours and not kept and not fingerprint.is_installed(path)

    def _inputs(self, path: object) -> Iterator[str]:
        """Yield the absolute path, and the path it resolves to, if they may be inputs.

        Neither installed files nor files that the page itself made are inputs.
        """
        if not isinstance(path, str | bytes | os.PathLike):
            return
        try:
            name = os.path.abspath(os.fsdecode(path))
            if not self._is_of_interest(name):
                return
            real = os.path.realpath(name)
        except (OSError, ValueError):  # no such path can exist
            return
        for one in dict.fromkeys((name, real)):
            if not self._is_of_interest(one):
                return
            if self._written.isdisjoint(_with_parents(one)):
                yield one

    def _searched(self) -> dict[str, set[str]]:
        """Return the names that imports looked for in each folder, except in installed ones."""
        searched: dict[str, set[str]] = {}
        for name in self._sought:
            parent, _, tail = name.rpartition(".")
            package = sys.modules.get(parent)
            folders = getattr(package, "__path__", ()) if parent else sys.path
            for folder in map(os.path.abspath, folders):
                if not fingerprint.is_installed(folder):
                    searched.setdefault(folder, set()).add(tail)
        return searched


def is_python_s(file: str) -> bool:
    """Return whether a code object's file belongs to Python's own library."""
    return file.startswith("<frozen") or (file.startswith(_PYTHONS) and "-packages" not in file)


def _with_parents(path: str) -> Iterator[str]:
    while True:
        yield path
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def is_current(seen: dict[str, Any], root: str, look: fingerprint.Look) -> bool:
    """Return whether everything a page depended on is unchanged.

    Args:
        seen: The state of everything it depended on.
        root: The project's folder.
        look: Reads the states of files; shared by pages that depend on the same files.
    """
    return (
        declared(root, seen["declared"]) == seen["declared"]
        and all(_is_same_file(look, path, *state) for path, state in seen["files"].items())
        and all(fingerprint.listing(f) == names for f, names in seen["folders"].items())
        and all(fingerprint.importable(f, n) == was for f, (n, was) in seen["modules"].items())
        and all(fingerprint.answer(path, question) == was for path, question, was in seen["asked"])
    )


def declared(root: str, patterns: Iterable[str]) -> dict[str, list[str]]:
    """List the files that each pattern in a page's `reads:` matches, starting from the root."""
    return {pattern: fingerprint.matching(root, pattern) for pattern in patterns}


def states(paths: Iterable[str]) -> dict[str, list[Any]]:
    """Return the state of files in the form that `seen` uses."""
    return {path: [fingerprint.signature(path), fingerprint.content(path)] for path in paths}


def _is_same_file(
    look: fingerprint.Look, path: str, before: list[int] | None, content: str | None
) -> bool:
    now = look.signature(path)
    if now is None or content is None:
        return now is None and content is None
    if now == before and now[1] >= fingerprint.LARGE_FILE:
        return True
    return look.content(path) == content
