"""Show on one line of the terminal how much of a book is ready."""

import logging
import sys
import time
from collections.abc import Sequence

WIDEST = 100
CLEAR = "\r\x1b[K"


class Progress:
    """A line that is replaced while pages run; without a terminal, only its last state is logged.

    Args:
        log: Messages above this line go through this logger, or those above it.
    """

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._begun = time.monotonic()
        self._at_begin = 0
        self._shown = ""
        self._is_live = sys.stderr.isatty() and log.isEnabledFor(logging.INFO)
        if self._is_live:
            for handler in logging.getLogger("mkdocs").handlers:
                handler.addFilter(self._make_room)

    @property
    def is_live(self) -> bool:
        """Whether there is such a line."""
        return self._is_live

    def begin(self, ready: int) -> None:
        """Begin to count the time, with so many pages ready."""
        self._begun, self._at_begin = time.monotonic(), ready

    def show(self, ready: int, pages: int, running: Sequence[str]) -> None:
        """Show how many pages are ready of all, which run, and the time left."""
        if ready == pages:
            self._end(f"All {pages} pages are ready.")
        elif self._is_live:
            what = f", running {' and '.join(running)}" if running else ""
            line = f"{ready} of {pages} pages are ready{what}{self._left(ready, pages)}"
            self._shown = line[:WIDEST]
            sys.stderr.write(CLEAR + self._shown)
            sys.stderr.flush()

    def _left(self, ready: int, pages: int) -> str:
        made = ready - self._at_begin
        if made < 3:  # too few to tell
            return ""
        minutes = (time.monotonic() - self._begun) / made * (pages - ready) / 60
        return f", about {minutes:.0f} min left" if minutes >= 1 else ", less than a minute left"

    def _end(self, text: str) -> None:
        if self._shown != text:
            self._shown = ""
            if self._is_live:
                sys.stderr.write(CLEAR)
            self._log.info(text)
            self._shown = text

    def _make_room(self, record: logging.LogRecord) -> bool:
        sys.stderr.write(CLEAR)
        return True
