"""Track what a page uses besides its own text, and tell whether that has changed.

Python's audit events report each file that is opened or looked for in vain, each folder that is
listed, and each module. Installed packages count as wholes. What can't be compared, such as the
clock, is named in `unseen`.
"""

import contextlib
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from proofbook.caching import fingerprint

_SYSTEM = ("/proc/", "/dev/", "/sys/", "/usr/", "/etc/", "/System/", "/Library/")
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_ACCESS = os.O_RDONLY | os.O_WRONLY | os.O_RDWR

CLOCK = "the time differs in each run"
CLOCK_READ = "clock"
"""The entry under `reads:` of a page that asks for the time but whose result may be kept."""
_PROCESS = "reads by other processes cannot be tracked"
_NETWORK = "reads over the network cannot be tracked"
_UNSEEN = {
    **dict.fromkeys(("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn"), _PROCESS),
    **dict.fromkeys(("os.fork", "os.forkpty", "os.startfile", "proofbook.process"), _PROCESS),
    **dict.fromkeys(("socket.connect", "socket.sendto", "socket.sendmsg"), _NETWORK),
    **dict.fromkeys(("socket.getaddrinfo", "socket.gethostbyname"), _NETWORK),
    "proofbook.clock": CLOCK,
}


class Dependencies:
    """An audit hook and its records, made once, in the process that runs the page.

    Args:
        root: The project's folder; outside it, system files don't count as input.
        cache: The folder of the cached results.
    """

    def __init__(self, root: str, cache: str) -> None:
        self._root = os.path.join(root, "")
        self._cache = os.path.join(cache, "")
        self._read: dict[str, list[int] | None] = {}
        self._listed: dict[str, str] = {}
        self._written: set[str] = set()
        self._writes: dict[str, tuple[int, int] | None] | None = None
        self._sought: set[str] = set()
        self._unseen: dict[str, None] = {}
        self._looking = threading.local()
        self._handlers: dict[str, Callable[..., None]] = {
            "open": self._open,
            "sqlite3.connect": self._connect,
            "import": self._import,
            "os.rename": lambda source, target, *_: self._make(source, target),
            "os.link": lambda source, target, *_: self._make(source, target),
            "os.remove": lambda path, *_: self._note_write(path),
            "os.truncate": lambda path, *_: self._note_write(path),
            "os.mkdir": lambda path, *_: self._make(None, path),
            "os.listdir": self._list,
            "os.scandir": self._list,
        }
        sys.addaudithook(self._hear)
        sys.meta_path.insert(0, self)  # `find_spec` imports nothing, and raises no event

    def close(self) -> None:
        """Track nothing more; an audit hook can't be removed."""
        self._handlers = {}
        sys.meta_path.remove(self)

    def find_spec(self, name: str, *_: object) -> None:
        """Record the module that an import looks for; leave it to other finders to find it."""
        self._sought.add(name)

    def add(self, path: str) -> None:
        """Track a file that the result refers to, wherever it is."""
        path = os.path.abspath(path)
        self._read.setdefault(path, fingerprint.signature(path))

    @contextlib.contextmanager
    def noting_writes(self) -> Iterator[list[str]]:
        """Yield a list that, on exit, names the files that were written in the meantime."""
        written: list[str] = []
        before = self._writes = {}
        try:
            yield written
        finally:
            self._writes = None
            written += [path for path, was in before.items() if _stamp(path) != was]

    def seen(self) -> dict[str, Any]:
        """Return the state of everything the page depended on, as it was when the page used it.

        `packages` only names top-level modules (see `compared`); `changed` lists the paths that
        have changed since; `unseen` says what can't be compared.
        """
        self._looking.now = True
        try:
            return {
                "files": {
                    path: [was, fingerprint.content(path)] for path, was in self._read.items()
                },
                "folders": self._listed,
                "modules": {
                    folder: [sorted(names), fingerprint.importable(folder, names)]
                    for folder, names in self._searched().items()
                },
                "packages": sorted(self._packages()),
                "unseen": list(self._unseen),
                "changed": sorted(
                    path
                    for path, was in self._read.items()
                    if _written_at(fingerprint.signature(path)) != _written_at(was)
                ),
            }
        finally:
            self._looking.now = False

    def _hear(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in self._handlers and event not in _UNSEEN:
            return
        if getattr(self._looking, "now", False):  # our own lookups raise events too
            return
        self._looking.now = True
        try:
            # The import machinery lists folders too, but `_sought` covers its searches.
            if event.startswith("os.") and "importlib" in sys._getframe(1).f_code.co_filename:
                return
            if event in self._handlers:
                self._handlers[event](*args)
            elif self._handlers:
                what = args[0] if event == "proofbook.clock" else event.removeprefix("proofbook.")
                self._unseen[f"{_UNSEEN[event]} ({what})"] = None
        finally:
            self._looking.now = False

    def _open(self, path: object, mode: str | None, flags: int) -> None:
        if not flags and mode and not mode.startswith("r"):  # C's fopen
            flags = os.O_WRONLY
        if flags & _WRITING:
            self._note_write(path)
        for name in self._inputs(path):
            is_there = os.path.exists(name)
            if flags & _ACCESS == os.O_WRONLY or (not is_there and flags & os.O_CREAT):
                if not is_there or self._read.get(name) is None:
                    self._read.pop(name, None)
                    self._written.add(name)
            elif name not in self._read and not os.path.isdir(name):
                self._read[name] = fingerprint.signature(name)

    def _connect(self, path: object, *_: object) -> None:
        name = os.fsdecode(path) if isinstance(path, str | bytes | os.PathLike) else ""
        name = name.removeprefix("file:").partition("?")[0]
        if name not in ("", ":memory:"):
            self._open(name, None, os.O_RDWR)

    def _import(self, module: str, file: object, *_: object) -> None:
        self._sought.add(module)
        self._open(file, None, os.O_RDONLY)  # of an extension module

    def _make(self, source: object, target: object) -> None:
        """Record that the page itself makes a file, perhaps from another."""
        if source is not None:
            self._open(source, None, os.O_RDONLY)
        self._note_write(target)
        self._written.update(self._inputs(target))

    def _list(self, path: object = None) -> None:
        for name in self._inputs("." if path is None else path):
            self._listed.setdefault(name, fingerprint.listing(name))

    def _note_write(self, path: object) -> None:
        if self._writes is not None and isinstance(path, str | bytes | os.PathLike):
            name = os.path.abspath(os.fsdecode(path))
            if self._is_of_interest(name):
                self._writes.setdefault(name, _stamp(name))

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

    def _packages(self) -> set[str]:
        """Return the names of the installed packages that are loaded, or were looked for."""
        sought = {name for name in self._sought if "." not in name and name not in sys.modules}
        loaded = {name.partition(".")[0] for name in list(sys.modules)}
        names = {name for name in loaded if fingerprint.is_installed(_place_of(name))} | sought
        return names - sys.stdlib_module_names

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


def _place_of(module: str) -> str:
    file = getattr(sys.modules.get(module), "__file__", None)
    return os.path.abspath(file) if file else ""


def _stamp(path: str) -> tuple[int, int] | None:
    """Return when a file was last written, and its size; `None` if it isn't there."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size


def _written_at(signature: list[int] | None) -> list[int] | None:
    """Return a signature without the time at which the file last got another name."""
    return signature and signature[:3]


def _with_parents(path: str) -> Iterator[str]:
    while True:
        yield path
        parent = os.path.dirname(path)
        if parent == path:
            return
        path = parent


def compared(seen: Mapping[str, Any]) -> dict[str, Any]:
    """Add which distributions provide the packages; once a process, since it takes a moment."""
    return {**seen, "packages": fingerprint.packages(seen["packages"])}


def is_current(seen: Mapping[str, Any], root: str, look: fingerprint.Look) -> bool:
    """Return whether everything a page depended on is unchanged.

    Args:
        seen: The state of everything it depended on.
        root: The project's folder.
        look: Reads the states of files; shared by pages that depend on the same files.
    """
    return (
        declared(root, seen["declared"]) == seen["declared"]
        and fingerprint.packages(seen["packages"]) == seen["packages"]
        and all(_is_same_file(look, path, *state) for path, state in seen["files"].items())
        and all(fingerprint.listing(f) == names for f, names in seen["folders"].items())
        and all(fingerprint.importable(f, n) == was for f, (n, was) in seen["modules"].items())
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
