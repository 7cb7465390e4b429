"""Track which environment variables a page reads, so it runs again when one changes.

All lookups go through four methods of the class of `os.environ`. Lookups in C code, such as those
of `TZ`, go unseen.
"""

import os
import re
import sys
from collections.abc import Callable, ItemsView, Iterator, Mapping
from types import FrameType
from typing import Any

from proofbook.caching import fingerprint

EVERY = "*"
"""Stands for all variables at once; no variable has this name."""

# These differ between terminals, processes, or tests; libraries use them to draw or to log.
_FLEETING = re.compile(
    r"_$|SHLVL$|(OLD)?PWD$|COLUMNS$|LINES$|PYTEST_|.*(_PID|SESSION)|WINDOWID$|SSH_|TMUX|TERM|STY$"
    r"|INVOCATION_ID$|JOURNAL_STREAM$|MKDOCS|BASH|PS\d$|PROMPT|VSCODE|XPC_"
)
_ENGINE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_MAPPINGS = ItemsView.__iter__.__code__.co_filename
_BETWEEN = (_MAPPINGS, os.getenv.__code__.co_filename, __file__)
"""Files of library code through which a lookup passes."""


class Variables:
    """A record of the environment variables that a page reads, made before the page runs."""

    def __init__(self) -> None:
        self._given = dict(os.environ)
        self._read: set[str] = set()
        self._written: set[str] = set()
        self._copied_in: tuple[int, int] = (0, 0)
        self._watch(type(os.environ))

    def seen(self) -> dict[str, str | None]:
        """Return a hash of each variable that the page read."""
        return {name: _state(name, self._given) for name in sorted(self._read)}

    def _watch(self, kind: Any) -> None:
        """Wrap the methods through which all lookups go."""
        ask, go_through = kind.__getitem__, kind.__iter__
        kind.__setitem__ = self._noting(kind.__setitem__)
        kind.__delitem__ = self._noting(kind.__delitem__)

        def getitem(environ: Any, key: Any) -> Any:
            frame = sys._getframe(1)
            if not self._copies(frame):
                self._ask(_name(key), _asker(frame))
            return ask(environ, key)

        def iterate(environ: Any) -> Iterator[Any]:
            frame = sys._getframe(1)
            if _is_own(_asker(frame)):
                self._read.add(EVERY)
            # A library that copies all variables, as subprocess does, passes them on without using
            # any: if that counted, a page would run again in every new terminal.
            self._copied_in = _place(frame)
            return iter(go_through(environ))

        kind.__getitem__, kind.__iter__ = getitem, iterate
        kind.__len__, kind.__repr__ = (
            self._asking_all(kind.__len__),
            self._asking_all(kind.__repr__),
        )

    def _asking_all(self, ask: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def asked(environ: Any) -> Any:
            if _is_own(_asker(sys._getframe(1))):
                self._read.add(EVERY)
            return ask(environ)

        return asked

    def _noting(self, change: Callable[..., None]) -> Callable[..., None]:
        def noted(environ: Any, key: Any, *value: Any) -> None:
            change(environ, key, *value)
            self._written.add(_name(key))

        return noted

    def _copies(self, frame: FrameType) -> bool:
        """Return whether a value is read only because all variables are being listed."""
        return _place(frame) == self._copied_in

    def _ask(self, name: str, asker: str) -> None:
        is_fleeting = _FLEETING.match(name) and not _is_own(asker)
        if name not in self._written and not is_fleeting and not asker.startswith(_ENGINE):
            self._read.add(name)


def is_same(variables: Mapping[str, str | None], environment: Mapping[str, str]) -> bool:
    """Return whether all variables that a page read are unchanged."""
    return all(_state(name, environment) == was for name, was in variables.items())


def _state(name: str, environment: Mapping[str, str]) -> str | None:
    """Return a hash, since a value may be a secret; `None` if there is no such variable."""
    if name == EVERY:
        lasting = sorted(item for item in environment.items() if not _FLEETING.match(item[0]))
        return fingerprint.digest(repr(lasting).encode())
    value = environment.get(name)
    return None if value is None else fingerprint.digest(os.fsencode(value))


def _name(key: Any) -> str:
    return os.fsdecode(key) if isinstance(key, str | bytes) else repr(key)


def _place(frame: FrameType) -> tuple[int, int]:
    """Return the position of a frame; for a mapping view, that of its caller."""
    while frame.f_code.co_filename == _MAPPINGS and frame.f_back is not None:
        frame = frame.f_back
    return id(frame), frame.f_lasti


def _asker(frame: FrameType | None) -> str:
    """Return the file of the code that reads the variable."""
    while frame is not None and frame.f_code.co_filename in _BETWEEN:
        frame = frame.f_back
    return frame.f_code.co_filename if frame else ""


def _is_own(file: str) -> bool:
    """Return whether code belongs to the page or the project, not to Python or a package."""
    is_page = file.startswith(("<block", "<claim"))
    return is_page or not (file.startswith("<") or fingerprint.is_installed(file))
