"""Keep the results of pages that ran without failure, and return them while they are valid.

An entry's name identifies the page and everything that its run was asked to do: the code of its
blocks, its claims' expressions, the book, and the environment. The entry's content lists everything
that the run read, by hash; the entry is valid only if all of that is unchanged. Nothing in it
depends on prose, line numbers, or the text that a claim covers.
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
from proofbook.model import Chapter, Run, dump_run, load_run

KEPT = 8
"""Entries kept for each chapter, so going back to an earlier version finds its result."""


EntryState = tuple[str | int, ...]
Found = tuple[Run, dict[str, Any]]


class Cache:
    """Results on disk, for one build; builds can be concurrent, since files are replaced whole.

    Args:
        folder: The folder of the entries.
        world: What every page depends on besides its own text.
        known: The results that the last build found, by the path and the state of the entry.
    """

    def __init__(
        self,
        folder: Path,
        world: Mapping[str, Any],
        known: dict[EntryState, Found] | None = None,
    ) -> None:
        self._folder = folder
        self._world = world
        self._known = {} if known is None else known
        self._look = fingerprint.Look()

    def load(self, chapter: Chapter, names: bool = False) -> Run | None:
        """Return the chapter's result if one is stored and still valid.

        Args:
            chapter: The chapter.
            names: Whether the result must cover all names in the chapter's prose.
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
                run, seen = self._known[state] if known else _read(entry, key)
                knows = not names or run.names.keys() >= {*chapter.names}
                knows = knows and run.origins.keys() >= {*chapter.shows}
                if knows and is_current(seen, self._world.get("root", ""), self._look):
                    os.utime(entry)
                    self._known.pop(state, None)
                    self._known[_state(entry)] = run, seen
                    return run, seen
        return None

    def store(self, chapter: Chapter, run: Run, seen: Mapping[str, Any]) -> None:
        """Store a result with what its run read; failing to write isn't an error."""
        body = json.dumps({"seen": seen, "run": dump_run(run)})
        home, key = self._home(chapter), self._key(chapter)
        state = fingerprint.digest(json.dumps(seen).encode())
        with contextlib.suppress(OSError):
            home.mkdir(parents=True, exist_ok=True)
            (self._folder / ".gitignore").write_text("*\n")
            replace(home / f"{key}-{state}.json", f"{_checksum(key, body)}\n{body}")
            for entry in _newest_first(home, "*.json")[KEPT:]:
                entry.unlink(missing_ok=True)

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
        ValueError: The entry is damaged or belongs to another page.
    """
    checksum, _, body = entry.read_text(encoding="utf-8").partition("\n")
    if checksum != _checksum(key, body):
        raise ValueError(f"{entry} is damaged, or was written for another page")
    stored = json.loads(body)
    return load_run(stored["run"]), stored["seen"]


def _checksum(key: str, body: str) -> str:
    """Return a checksum of an entry and its key, so no page gets another page's entry."""
    return fingerprint.digest(f"{key}\n{body}".encode())


def _newest_first(folder: Path, pattern: str) -> list[Path]:
    entries = []
    for path in folder.glob(pattern):
        with contextlib.suppress(OSError):  # another build may have pruned it
            entries.append((path.stat().st_mtime_ns, path))
    return [path for _, path in sorted(entries, reverse=True)]
