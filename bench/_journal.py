"""A journal of results, line by line: an interrupted run goes on, and several runs share one.

Each run is a process that looks in the journal before it judges anything. A lock makes sure that no
two processes judge the same thing; it's released when its process ends, however it ends.
"""

import fcntl
import hashlib
import itertools
import json
import os
import zlib
from collections.abc import Container, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

PLACES = 1 << 40
"""Where the locks of work folders begin, after those of names."""


class Journal:
    """Values by key, shared by all processes that run in the same folder."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._file = (folder / "judged.jsonl").open("ab+", buffering=0)
        self._locks = os.open(folder / "locks", os.O_RDWR | os.O_CREAT)  # closing it frees them
        self._known: dict[str, Any] = {}
        self._read = 0

    def get(self, key: str) -> Any | None:
        """Return the value of a key, whichever process wrote it."""
        self._file.seek(self._read)
        for line in self._file.read().splitlines(keepends=True):
            if line.endswith(b"\n"):  # or somebody is still writing it
                self._known |= _entry(line)
                self._read += len(line)
        return self._known.get(key)

    def add(self, key: str, value: Any) -> None:
        """Store a value for good."""
        self._file.write(f"\n{json.dumps({key: value})}\n".encode())

    @contextmanager
    def alone(self, name: str, wait: bool) -> Iterator[bool]:
        """Return whether nobody else has this name now; with `wait`, wait until that is so."""
        at = zlib.crc32(name.encode())
        mine = self._lock(at, wait)
        try:
            yield mine
        finally:
            if mine:
                fcntl.lockf(self._locks, fcntl.LOCK_UN, 1, at)

    def place(self) -> Path:
        """Return the first folder that no other process uses; this one has it until it ends."""
        number = next(n for n in itertools.count() if self._lock(PLACES + n, wait=False))
        folder = self._folder / str(number)
        folder.mkdir(exist_ok=True)
        return folder

    def _lock(self, at: int, wait: bool) -> bool:
        try:
            fcntl.lockf(self._locks, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB), 1, at)
        except BlockingIOError:
            return False
        return True


def _entry(line: bytes) -> dict[str, Any]:
    """Return the content of a line; nothing if its writer was interrupted."""
    try:
        return json.loads(line)
    except ValueError:
        return {}


def key_of(*parts: str) -> str:
    """Return a short name for some texts in their order."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:24]


def digest(tree: Path, without: Container[str] = ()) -> str:
    """Return a short name for the files of a tree, without caches and the paths in `without`."""
    parts = []
    for path in sorted(file for file in tree.rglob("*") if file.is_file()):
        name = path.relative_to(tree).as_posix()
        if name not in without and not name.startswith(".cache/"):
            parts += [name, hashlib.sha256(path.read_bytes()).hexdigest()]
    return key_of(*parts)
