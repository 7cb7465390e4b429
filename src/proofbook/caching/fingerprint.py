"""The state of the world that a page's result depends on, as short texts that can be compared.

The process that builds the site asks these questions of every page at every build, so they are
answered by a few listings and by hashing small files; nothing heavy is imported.
"""

import contextlib
import functools
import hashlib
import importlib.machinery
import os
import platform
import site
import stat
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

import proofbook

LARGE_FILE = 4_000_000
"""Bytes from which a file whose inode, size and times are the recorded ones is not read again."""

_SUFFIXES = tuple(importlib.machinery.all_suffixes())
_PACKAGES = ("site-packages", "dist-packages")
_ENGINE = os.path.dirname(os.path.abspath(proofbook.__file__))


def digest(data: bytes) -> str:
    """Return a short hash of some bytes."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


def is_installed(path: str) -> bool:
    """Tell whether an absolute path belongs to Python, an installed package, or the engine."""
    return os.path.join(path, "").startswith(_installed_folders())


@functools.cache
def _installed_folders() -> tuple[str, ...]:
    paths = sysconfig.get_paths()
    folders = {paths[name] for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    folders |= {*site.getsitepackages(), site.getusersitepackages(), _ENGINE}
    # An environment may stand before another, whose folder a .pth file has added.
    folders |= {path for path in sys.path if os.path.basename(path) in _PACKAGES}
    return tuple(sorted(os.path.join(folder, "") for folder in folders))


def environment() -> str:
    """Identify Python, processor, installed packages by version, and the engine by its content.

    Editable packages say in `.pth` and `__editable__` files where their modules are.
    """
    parts = [sys.version, sysconfig.get_platform(), _processor()]
    parts += [os.environ.get("PYTHONPATH", "")]
    for folder in sys.path:
        for name in _names(folder):
            if name.endswith((".dist-info", ".egg-info")):
                parts.append(name)
            elif name.endswith(".pth") or name.startswith("__editable__"):
                parts.append(content(os.path.join(folder, name)) or "")
    parts += [digest(path.read_bytes()) for path in sorted(Path(_ENGINE).rglob("*.py"))]
    return digest("\n".join(parts).encode())


@functools.cache
def _processor() -> str:
    """Name what the processor can do: how it adds decides how numbers are rounded."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith(("flags", "Features")):
                return line
    return platform.processor()


def signature(path: str) -> list[int] | None:
    """Return what changes whenever a file is written, or `None` where there is no such file."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    if not stat.S_ISREG(status.st_mode):
        return None
    return [status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns]


def content(path: str) -> str | None:
    """Hash a file's content, or return `None` where there is no such file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=16)).hexdigest()
    except OSError:
        return None


def listing(folder: str) -> str:
    """Hash the names in a folder."""
    return digest("\n".join(n for n in _names(folder) if n != "__pycache__").encode())


def importable(folder: str, names: Iterable[str]) -> list[str]:
    """List the files and packages in a folder that an import of one of the names would find."""
    entries = frozenset(_names(folder))
    found = [n + s for n in names for s in _SUFFIXES if n + s in entries]
    packages = [n for n in names if n in entries]
    found += [n for n in packages if os.path.isfile(os.path.join(folder, n, "__init__.py"))]
    return sorted(found)


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder or "."))
    except OSError:
        return []
