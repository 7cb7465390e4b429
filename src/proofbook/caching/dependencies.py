"""See what a page depends on: files, folders, modules, whether they exist and when they changed.

Python's audit events tell of most of it; `execution/announcements.py` makes questions and readers
that raise none raise one, and on Linux the kernel tells what native code opens. What happens in
another process or over the network cannot be seen: a page that goes there says so in `unseen`.
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

_PROCESS, _NETWORK = "what another process reads cannot be seen", "the network cannot be seen"
_NATIVE = "what native code reads cannot be seen"
_UNSEEN = {
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"), _PROCESS),
    **dict.fromkeys(("os.fork", "os.forkpty", "os.startfile", "proofbook.process"), _PROCESS),
    **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), _NETWORK),
    **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname"), _NETWORK),
    "ctypes.dlopen": _NATIVE,
}


def use_of(flags: int, is_there: bool = True) -> tuple[bool, bool]:
    """Tell whether these flags open a file to be read, and whether to be changed.

    Args:
        flags: As `os.open` takes them.
        is_there: Whether the file exists; one that has to be new has nothing to read.
    """
    is_new = not is_there and flags & os.O_CREAT and flags & os.O_EXCL
    reads = flags & _ACCESS != os.O_WRONLY and not flags & os.O_TRUNC and not is_new
    return bool(reads or (is_there and flags & os.O_EXCL)), bool(flags & _WRITING)


class Kernel(Protocol):
    """Tells which files were opened."""

    def opened(self) -> list[list[Any]]:
        """Return path, use, and the signature and content before it, of each."""

    def changing(self) -> dict[str, Any]:
        """Return the state before of those that were opened to be changed since the last call."""


class Dependencies:
    """An audit hook and what it saw; made once, in the process that runs the page.

    Args:
        root: The project; elsewhere, files of the system don't count as input.
        cache: The folder of the results themselves.
        kernel: Tells what the kernel saw opened; `None` where it does not tell, so that native
            code reads unseen.
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
        """Note which module is looked for; another finder finds it."""
        self._sought.add(name)

    def add(self, path: str) -> None:
        """Watch a file that the result points to, wherever it is."""
        path = os.path.abspath(path)
        self._read.setdefault(path, fingerprint.signature(path))

    @contextlib.contextmanager
    def noting_changes(self) -> Iterator[list[str]]:
        """List, afterwards, the files that are then not what they were."""
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
        """Return the state of everything the page depended on, as it was at that moment.

        `changed` lists what has changed since; `unseen` says what may have been missed.
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
        """Add what native code opened; what Python opened is known already."""
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
        if getattr(self._looking, "now", False):  # looking is heard too
            return
        if event == "proofbook.asked" and args in self._known:  # the first answer counts
            return
        self._looking.now = True
        try:
            # Import machinery lists folders too; `_sought` stands for what it looks for.
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
            self._ask(path, "kind")  # it would fail if there were one
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
        if folder == -1:  # not from an open folder
            self._opened(path, changes=True)

    def _list(self, path: object = None) -> None:
        for name in self._inputs("." if path is None else path):
            self._listed.setdefault(name, fingerprint.listing(name))

    def _look_at_entries(self, folder: object) -> None:
        """Ask for the state of all in a folder: entries answer from what scanning found."""
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
                if changes:  # what it was before is what counts
                    self._content[name] = fingerprint.content(name)

    def _wrote(self, path: object) -> None:
        self._touch(path)
        for name in self._inputs(path):
            if self._read.get(name) is None and not os.path.isdir(name):
                self._read.pop(name, None)
                self._written.add(name)

    def _touch(self, path: object) -> None:
        """Note a file as it is, before it is changed."""
        if self._touched is not None and isinstance(path, str | bytes | os.PathLike):
            name = os.path.abspath(os.fsdecode(path))
            if self._is_of_interest(name):
                self._touched.setdefault(name, fingerprint.answer(name, "state"))

    def _is_of_interest(self, path: str) -> bool:
        """Tell whether a path is neither installed, nor of the system, nor the cache's."""
        ours = path.startswith(self._root) or not path.startswith(_SYSTEM)
        kept = os.path.join(path, "").startswith(self._cache)
        return ours and not kept and not fingerprint.is_installed(path)

    def _inputs(self, path: object) -> Iterator[str]:
        """Yield the absolute path, and where it really leads, if they may be inputs.

        What is installed is none, nor what the page itself made.
        """
        if not isinstance(path, str | bytes | os.PathLike):
            return
        try:
            name = os.path.abspath(os.fsdecode(path))
            if not self._is_of_interest(name):
                return
            real = os.path.realpath(name)
        except (OSError, ValueError):  # no such path can be
            return
        for one in dict.fromkeys((name, real)):
            if not self._is_of_interest(one):
                return
            if self._written.isdisjoint(_with_parents(one)):
                yield one

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


def is_python_s(file: str) -> bool:
    """Tell whether a code's file is of Python's own library."""
    return file.startswith("<frozen") or (file.startswith(_PYTHONS) and "-packages" not in file)


def _with_parents(path: str) -> Iterator[str]:
    while True:
        yield path
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def is_current(seen: dict[str, Any], root: str, look: fingerprint.Look) -> bool:
    """Tell whether everything a page depended on is as it was.

    Args:
        seen: What it depended on.
        root: The project.
        look: Looks at files; shared with pages that depend on the same.
    """
    return (
        declared(root, seen["declared"]) == seen["declared"]
        and all(_is_same_file(look, path, *state) for path, state in seen["files"].items())
        and all(fingerprint.listing(f) == names for f, names in seen["folders"].items())
        and all(fingerprint.importable(f, n) == was for f, (n, was) in seen["modules"].items())
        and all(fingerprint.answer(path, question) == was for path, question, was in seen["asked"])
    )


def declared(root: str, patterns: Iterable[str]) -> dict[str, list[str]]:
    """List the files that each pattern of a page's `reads:` names, from the root."""
    return {pattern: fingerprint.matching(root, pattern) for pattern in patterns}


def states(paths: Iterable[str]) -> dict[str, list[Any]]:
    """Return the state of files in the form in which `seen` has it."""
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
