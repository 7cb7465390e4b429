"""Keep the results of pages that ran without failure, and return them while they are true.

An entry's name says which page it is and what was asked of it: the code of its blocks, its claims'
expressions, the book, the environment. Its content says what the run then read, by content; it
counts only if all of that is as it was. Nothing in it depends on prose, lines, or the text that a
claim covers.
"""

import contextlib
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from proofbook.caching import fingerprint
from proofbook.caching.atomic import replace
from proofbook.caching.dependencies import is_current
from proofbook.caching.variables import is_same
from proofbook.model import Chapter, Run, dump_run, load_run

KEPT = 8
"""Entries kept for one chapter, so that going back to an earlier version finds its result."""


EntryState = tuple[str | int, ...]
Found = tuple[Run, dict[str, Any]]


class Cache:
    """Results on disk, for one build; safe for builds side by side, as entries are replaced whole.

    Args:
        folder: Where the entries lie.
        world: What every page depends on besides its own text.
        environment: The variables of the environment in which a page would run now.
        known: What was found in the last build, by where and as it lay.
    """

    def __init__(
        self,
        folder: Path,
        world: Mapping[str, Any],
        environment: Mapping[str, str] | None = None,
        known: dict[EntryState, Found] | None = None,
    ) -> None:
        self._folder = folder
        self._world = world
        self._environment = environment or {}
        self._known = {} if known is None else known
        self._look = fingerprint.Look()

    def load(self, chapter: Chapter, names: bool = False) -> Run | None:
        """Return the chapter's result if one is stored and still true.

        Args:
            chapter: The chapter.
            names: Whether the result must know all names of the chapter's prose.
        """
        found = self.find(chapter, names)
        return found and found[0]

    def find(self, chapter: Chapter, names: bool = False) -> Found | None:
        """Return the result that `load` returns, with what its run depended on."""
        key = self._key(chapter)
        for entry in _newest_first(self._home(chapter), f"{key}-*.json"):
            with contextlib.suppress(OSError, ValueError, KeyError, TypeError, AttributeError):
                state = _state(entry)
                known = state in self._known
                run, seen = self._known.pop(state) if known else _read(entry, key)
                knows = not names or run.names.keys() >= {*chapter.names}
                knows = knows and run.origins.keys() >= {*chapter.shows}
                if knows and self._is_true(seen):
                    os.utime(entry)
                    self._known[_state(entry)] = run, seen
                    return run, seen
        return None

    def store(self, chapter: Chapter, run: Run, seen: Mapping[str, Any]) -> None:
        """Store a result with what its run read; a cache that cannot be written is no error."""
        body = json.dumps({"seen": seen, "run": dump_run(run)})
        home, key = self._home(chapter), self._key(chapter)
        state = fingerprint.digest(json.dumps(seen).encode())
        with contextlib.suppress(OSError):
            home.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n")
            replace(home / f"{key}-{state}.json", f"{_checksum(key, body)}\n{body}")
            for entry in _newest_first(home, "*.json")[KEPT:]:
                entry.unlink(missing_ok=True)

    def _is_true(self, seen: dict[str, Any]) -> bool:
        """Tell whether everything a run depended on is as it was."""
        same = is_same(seen["variables"], self._environment)
        return same and is_current(seen, self._world.get("root", ""), self._look)

    def _home(self, chapter: Chapter) -> Path:
        name = re.sub(r"[^A-Za-z0-9]+", "-", chapter.path).strip("-")[-60:]
        place = json.dumps([chapter.path, self._world.get("root")])
        return self._folder / f"{name}-{fingerprint.digest(place.encode())[:8]}"

    def _key(self, chapter: Chapter) -> str:
        asked = {
            "blocks": [[block.kind, block.code, block.raises] for block in chapter.blocks],
            "claims": sorted({(e, c.place) for c in chapter.claims for e in c.expressions}),
            "assertions": chapter.assertions,
            "reads": chapter.reads,
            "world": self._world,
        }
        return fingerprint.digest(json.dumps(asked, sort_keys=True).encode())


def _state(entry: Path) -> EntryState:
    return str(entry), *(fingerprint.signature(str(entry)) or ())


def _read(entry: Path, key: str) -> Found:
    """Read an entry.

    Raises:
        ValueError: It is another page's, or damaged.
    """
    checksum, _, body = entry.read_text(encoding="utf-8").partition("\n")
    if checksum != _checksum(key, body):
        raise ValueError(f"{entry} does not hold what its name says")
    stored = json.loads(body)
    return load_run(stored["run"]), stored["seen"]


def _checksum(key: str, body: str) -> str:
    """Sum up an entry with its key, so that no page is given the entry of another."""
    return fingerprint.digest(f"{key}\n{body}".encode())


def _newest_first(folder: Path, pattern: str) -> list[Path]:
    entries = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):  # another build may have pruned it
            entries.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(entries, reverse=True)]
