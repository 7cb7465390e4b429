"""Describe the state that a page's result depends on, by short values that can be compared.

The process that builds the site needs them for every page at every build, so they take only a few
listings and hashes of small files, and nothing heavy is imported.
"""

import contextlib
import functools
import hashlib
import importlib.machinery
import os
import platform
import re
import site
import stat
import sys
import sysconfig
import time
from collections.abc import Iterable, Iterator
from glob import glob
from pathlib import Path

import proofbook

LARGE_FILE = 4_000_000
"""Size in bytes from which a file with an unchanged inode, size, and times isn't read again."""

SETTLED = 2.0
"""Seconds after which another write is sure to change a file's time, on any system."""

TOP_LEVEL = re.compile(r"^([A-Za-z_]\w*)(?=[/.])", re.MULTILINE)
COMPUTING = re.compile(r"(OMP|MKL|OPENBLAS|ONEDNN|DNNL|ATEN|TORCH|CUDA|HF)_").match
"""Matches the names of environment variables by which libraries compute or read otherwise."""

_SUFFIXES = tuple(importlib.machinery.all_suffixes())
_PACKAGES = ("site-packages", "dist-packages")
_ENGINE = os.path.dirname(os.path.abspath(proofbook.__file__))


def digest(data: bytes) -> str:
    """Return a short hash of some bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def is_installed(path: str) -> bool:
    """Return whether an absolute path belongs to Python, an installed package, or the engine."""
    return os.path.join(path, "").startswith(_installed_folders())


@functools.cache
def _installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages(), _ENGINE}
    # An environment may extend another, whose folder a .pth file has added to the path.
    folders |= {path for path in sys.path if os.path.basename(path) in _PACKAGES}
    return tuple(sorted(os.path.join(folder, "") for folder in folders))


def environment() -> str:
    """Identify Python, the processor, the engine's source, and where editable packages lie.

    Matplotlib's settings count, since a preloaded matplotlib has already read them.
    """
    parts = [sys.version, sysconfig.get_platform(), _processor()]
    parts += [os.environ.get("PYTHONPATH", "")]
    parts += [f"{name}={value}" for name, value in sorted(os.environ.items()) if COMPUTING(name)]
    for folder in sys.path:
        for name in entries(folder):
            if name.endswith(".pth") or name.startswith("__editable__"):
                parts.append(remembered_content(os.path.join(folder, name)) or "")
    parts += [content(path) or "" for path in _matplotlib_settings()]
    parts += [remembered_content(str(path)) or "" for path in sorted(Path(_ENGINE).rglob("*.py"))]
    return digest("\n".join(parts).encode())


def installed() -> dict[str, str]:
    """Identify each installed distribution, by the name of its folder.

    A distribution's RECORD lists its files, so another build of the same version is another one.
    """
    return {os.path.basename(folder): record for folder, record, _ in _distributions()}


def everything() -> str:
    """Identify the environment and all that is installed in it."""
    return digest(f"{environment()} {installed()}".encode())


def packages(names: Iterable[str]) -> dict[str, list[str]]:
    """Identify the installed distributions that provide each of these top-level modules.

    A module that no distribution provides has none.
    """
    providing: dict[str, list[str]] = {name: [] for name in sorted(names)}
    for folder, record, modules in _distributions():
        for name in modules & providing.keys():
            providing[name].append(f"{os.path.basename(folder)} {record}")
    return providing


def _distributions() -> Iterator[tuple[str, str, frozenset[str]]]:
    """Yield each distribution's folder, a hash of its RECORD, and its top-level modules."""
    for path in dict.fromkeys(sys.path):
        for name in entries(path):
            if name.endswith((".dist-info", ".egg-info")):
                folder = os.path.join(path, name)
                state = signature(record := os.path.join(folder, "RECORD"))
                yield folder, *_recorded(record, str(state))


@functools.lru_cache(4096)
def _recorded(record: str, state: str) -> tuple[str, frozenset[str]]:
    """Read a RECORD, which is in this state."""
    try:
        text = Path(record).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return "", frozenset()
    return digest(text.encode()), frozenset(TOP_LEVEL.findall(text))


def remembered_content(path: str) -> str | None:
    """Return the same as `content`, but reread the file only if it may have been written to.

    A file that was changed a moment ago may change again and keep its size and times, so it's
    read each time until it has stayed unchanged for a while.
    """
    state = signature(path)
    if state is None:
        return None
    if _remembered.get(path, ([],))[0] == state:
        return _remembered[path][1]
    begun = time.time()
    found = content(path)
    if found is not None and begun - max(state[2:]) / 1e9 > SETTLED and signature(path) == state:
        _remembered[path] = state, found
    return found


_remembered: dict[str, tuple[list[int], str]] = {}


def _matplotlib_settings() -> list[str]:
    """List the files in which matplotlib looks for settings, including those that don't exist."""
    given = os.environ.get("MATPLOTLIBRC", "")
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    folders = [os.environ.get("MPLCONFIGDIR", ""), os.path.join(home, "matplotlib")]
    folders += [os.path.expanduser("~/.matplotlib"), given]
    return [given, "matplotlibrc", *(os.path.join(one, "matplotlibrc") for one in folders)]


@functools.cache
def _processor() -> str:
    """Return the processor's features, which affect how computations are rounded."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor()


def signature(path: str) -> list[int] | None:
    """Return a value that changes whenever a file is written, or `None` if there is no file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def content(path: str) -> str | None:
    """Hash a file's content, or return `None` if there is no such file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError:
        return None


class Look:
    """A pass over files that reads each one only once.

    Attributes:
        signature: Returns the same as the function `signature`.
        content: Returns the same as the function `content`.
    """

    def __init__(self) -> None:
        self.signature = functools.cache(signature)
        self.content = functools.cache(remembered_content)


def listing(folder: str) -> str:
    """Hash the names in a folder, and which of them are folders."""
    found = []
    with contextlib.suppress(OSError), os.scandir(folder) as scanned:
        found = sorted(f"{e.name}{'/' * e.is_dir()}" for e in scanned if e.name != "__pycache__")
    return digest("\n".join(found).encode("utf-8", "surrogateescape"))


def matching(root: str, pattern: str) -> list[str]:
    """List the files below the root that a pattern matches; none if it recurses too deeply."""
    try:
        names = glob(pattern, root_dir=root, recursive=True)
    except RecursionError:
        return []
    found = (os.path.join(root, name) for name in names)
    return sorted(os.path.abspath(path) for path in found if os.path.isfile(path))


def importable(folder: str, names: Iterable[str]) -> list[str]:
    """List the files and packages in a folder that an import of one of the names would find."""
    present = frozenset(entries(folder))
    found = [n + s for n in names for s in _SUFFIXES if n + s in present]
    packages = [n for n in names if n in present]
    found += [n for n in packages if os.path.isfile(os.path.join(folder, n, "__init__.py"))]
    return sorted(found)


def entries(folder: str) -> list[str]:
    """List a folder's entries, sorted; none if it can't be read."""
    try:
        return sorted(os.listdir(folder or "."))
    except OSError:
        return []
