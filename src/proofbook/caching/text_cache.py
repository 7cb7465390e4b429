"""Keeps from one build to the next what follows from texts alone.

Where the claims of a page end up, how a block looks in colors: the same text has the same answer
in every build, until a package, the engine or an option is another.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from proofbook.caching import fingerprint
from proofbook.caching.atomic import replace

KEPT = 4000
"""How many answers are kept, the latest first to stay: enough for some books of this size."""


class TextCache:
    """Answers in one file, read when first asked, written by `save`.

    Args:
        file: Where they lie.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._state = ""
        self._answers: dict[str, Any] | None = None
        self._is_new = False

    def get(self, *question: object) -> Any:
        """Return the answer to a question, whose `repr` says all it depends on.

        None where none is.
        """
        answers = self._known()
        key = _key(question)
        if key not in answers:
            return None
        answers[key] = answers.pop(key)  # the last asked for is the last to go
        return answers[key]

    def put(self, answer: Any, *question: object) -> None:
        """Keep an answer that JSON can hold."""
        self._known()[_key(question)] = answer
        self._is_new = True

    def save(self) -> None:
        """Write what is new; a cache that cannot be written is no error."""
        if not self._is_new:
            return
        kept = dict(list(self._known().items())[-KEPT:])
        body = json.dumps({"state": self._state, "answers": kept})
        with contextlib.suppress(OSError):
            self._file.parent.mkdir(parents=True, exist_ok=True)
            (self._file.parent / ".gitignore").write_text("*\n")
            replace(self._file, f"{fingerprint.digest(body.encode())}\n{body}")
            self._is_new = False

    def _known(self) -> dict[str, Any]:
        if self._answers is None:
            self._state = fingerprint.environment()
            self._answers = self._read()
        return self._answers

    def _read(self) -> dict[str, Any]:
        """Return what the file has, unless it is incomplete, or from other versions or settings."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            checksum, _, body = self._file.read_text(encoding="utf-8").partition("\n")
            stored = json.loads(body)
            if checksum == fingerprint.digest(body.encode()) and stored["state"] == self._state:
                return dict(stored["answers"])
        return {}


def _key(question: tuple[object, ...]) -> str:
    return fingerprint.digest(repr(question).encode())
