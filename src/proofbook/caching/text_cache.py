"""Cache results that depend only on text, from one build to the next.

Examples are which of a page's claims its readers see, and how a block is highlighted. The same text
gives the same result in every build, until a package, the engine, or an option changes.
"""

import contextlib
import json
from pathlib import Path
from typing import Any

from proofbook.caching import fingerprint
from proofbook.caching.atomic import replace

KEPT = 4000
"""Number of recent answers kept: enough for several books of this size."""


class TextCache:
    """Answers in one file, read at the first question and written by `save`.

    Args:
        file: The file that stores them.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._state = ""
        self._answers: dict[str, Any] | None = None
        self._is_new = False

    def get(self, *question: object) -> Any:
        """Return the answer to a question whose `repr` contains everything it depends on.

        Return None if there is no answer.
        """
        answers = self._known()
        key = _key(question)
        if key not in answers:
            return None
        answers[key] = answers.pop(key)  # the most recently used are dropped last
        return answers[key]

    def put(self, answer: Any, *question: object) -> None:
        """Store an answer, which JSON must be able to represent."""
        self._known()[_key(question)] = answer
        self._is_new = True

    def save(self) -> None:
        """Write new answers; failing to write isn't an error."""
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
        """Return the file's answers, unless it is incomplete or from other versions or settings."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            checksum, _, body = self._file.read_text(encoding="utf-8").partition("\n")
            stored = json.loads(body)
            if checksum == fingerprint.digest(body.encode()) and stored["state"] == self._state:
                return dict(stored["answers"])
        return {}


def _key(question: tuple[object, ...]) -> str:
    return fingerprint.digest(repr(question).encode())
