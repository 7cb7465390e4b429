"""Keep the results of pure functions on disk, from one build to the next.

A result is found again by the function, its inputs, and everything else that could change it:
Python, the installed packages, the engine, and the source of the function's own package.

It is one SQLite file. `joblib.Memory` makes a folder for each result and loads multiprocessing
with it; `diskcache` is a table of the same kind, but isn't maintained.
"""

import contextlib
import pickle
import sqlite3
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path, PurePath
from types import FunctionType
from typing import Any, TypeVar

from proofbook.caching import fingerprint

LIMIT = 300_000_000
"""Bytes of results from which the older half of them is dropped: several books of this size."""

Result = TypeVar("Result")


class Memo:
    """Results in one file; builds can be concurrent.

    Args:
        folder: The folder of the file.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / "memo.sqlite"
        self._connection: sqlite3.Connection | None = None
        self._lock = threading.Lock()  # a server may convert in several threads

    def get(self, function: Callable[..., Result], *inputs: Any) -> Result:
        """Return what a function makes of its inputs, calling it only if that isn't known.

        Args:
            function: A function of a module that depends on nothing but its inputs, and only
                returns something.
            inputs: Plain data: texts, numbers, paths, functions of modules, and collections and
                data classes of such.

        Raises:
            TypeError: The function or an input is something else.
        """
        for known in self.find(function, *inputs):
            result: Result = known
            return result
        result = function(*inputs)
        self.keep(result, function, *inputs)
        return result

    def find(self, *question: Any) -> list[Any]:
        """Return what is kept for a question of plain data: one result, or none."""
        found = self._execute("SELECT result FROM results WHERE key = ?", _key(question))
        return [pickle.loads(stored) for (stored,) in found]

    def keep(self, result: Any, *question: Any) -> None:
        """Keep the result of a question."""
        stored = pickle.dumps(result, pickle.HIGHEST_PROTOCOL)
        statement = "INSERT OR REPLACE INTO results (key, result) VALUES (?, ?)"
        self._execute(statement, _key(question), stored)

    def close(self) -> None:
        """Close the file; it is opened again when it is needed."""
        with self._lock:
            if self._connection:
                self._connection.close()
                self._connection = None

    def _execute(self, statement: str, *values: Any) -> list[Any]:
        """Execute a statement; a file that can't be used knows nothing and keeps nothing."""
        with self._lock:
            try:
                return self._opened().execute(statement, values).fetchall()
            except (sqlite3.OperationalError, OSError):  # locked for long, or not writable
                return []
            except sqlite3.DatabaseError:
                self._discard()
                return []

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            (self._file.parent / ".gitignore").write_text("*\n")
            connection = sqlite3.connect(
                self._file, timeout=10, isolation_level=None, check_same_thread=False
            )
            self._connection = connection
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")  # what a power cut damages is discarded
            connection.execute(
                "CREATE TABLE IF NOT EXISTS results"
                " (number INTEGER PRIMARY KEY, key TEXT UNIQUE, result BLOB)"
            )
            _drop_old(connection)
        return self._connection

    def _discard(self) -> None:
        """Remove a damaged file."""
        if self._connection:
            self._connection.close()
            self._connection = None
        for end in ("", "-wal", "-shm"):
            with contextlib.suppress(OSError):
                self._file.with_name(self._file.name + end).unlink()


def _drop_old(connection: sqlite3.Connection) -> None:
    """Drop the older half of the results if they have become too many."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    if (pages - free) * size > LIMIT:
        connection.execute(
            "DELETE FROM results WHERE number <= (SELECT number FROM results ORDER BY number"
            " LIMIT 1 OFFSET (SELECT COUNT(*) / 2 FROM results))"
        )


def _key(question: tuple[Any, ...]) -> str:
    return fingerprint.digest(repr((_world(), plain(question))).encode())


def plain(value: Any) -> Any:
    """Describe plain data so that its `repr` is the same in every process.

    Raises:
        TypeError: It contains something else, whose state nobody knows.
    """
    if value is None or type(value) in (str, bytes, int, float, bool):
        return value
    if isinstance(value, PurePath):
        return "path", str(value)
    if isinstance(value, Mapping):
        return "mapping", [(plain(name), plain(one)) for name, one in value.items()]
    if isinstance(value, list | tuple):
        return type(value).__name__, [plain(one) for one in value]
    if isinstance(value, set | frozenset):
        return "set", sorted(repr(plain(one)) for one in value)
    if isinstance(value, FunctionType) and "<" not in value.__qualname__:
        return "function", value.__module__, value.__qualname__, _source(value.__module__)
    if is_dataclass(value) and not isinstance(value, type):
        return type(value).__qualname__, [plain(getattr(value, one.name)) for one in fields(value)]
    raise TypeError(f"{type(value).__module__}.{type(value).__qualname__} is not plain data")


@cache
def _world() -> str:
    """Identify what every result depends on, as it was when this process first asked."""
    return fingerprint.everything()


@cache
def _source(module: str) -> str:
    """Hash the files of a module's top-level package, unless `environment` contains them."""
    top = sys.modules[module.partition(".")[0]]
    if not top.__file__:  # a namespace, of which any folder may be a part
        top = sys.modules[module]
    file = Path(str(top.__file__))
    if fingerprint.is_installed(str(file.absolute())):
        return ""
    files = sorted(file.parent.rglob("*")) if hasattr(top, "__path__") else [file]
    contents = {
        str(one): fingerprint.content(str(one))
        for one in files
        if one.is_file() and one.suffix != ".pyc"
    }
    return fingerprint.digest(repr(contents).encode())
