"""Check a book again whenever anything it depends on changes.

Changes are found by comparing states. So it doesn't matter how an editor writes a file, or what
pages write while they run.
"""

import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.machinery import EXTENSION_SUFFIXES, SOURCE_SUFFIXES
from pathlib import Path
from typing import Any

from proofbook.caching import fingerprint
from proofbook.checking.book import Book
from proofbook.integrations.reading import Manuscript, files_of, find_config
from proofbook.problems import ChapterError

PAUSE = 0.4
"""Seconds between two looks; editors save in several steps, so two must agree on a change."""
INTERRUPTED = 130
"""Exit status if interrupted before the first check has finished."""

State = dict[tuple[str, str], Any]
"""The answer to each question about each path."""


def watch(
    config_file: Path | None, covers: bool, check: Callable[[Book, Manuscript, bool], int]
) -> int:
    """Check at once and after each change, until interrupted; return the last check's status.

    Args:
        config_file: The file with the book's settings, read again when it changes.
        covers: Whether runs must look up the names in the prose.
        check: Checks the book, reports what it finds, and returns the exit status; its last
            argument says whether this is the first check.
    """
    book: Book | None = None
    status = INTERRUPTED
    try:
        while True:
            # Record each state before reading what it describes.
            files = files_of(config_file or find_config(Path()) or Path("mkdocs.yml"))
            state = _signatures(files)
            manuscript = _open(config_file)
            state |= _made_of(manuscript)
            if manuscript is None:
                status = 1
            else:
                is_first = book is None
                book = book or Book(manuscript.settings, covers)
                book.renew(manuscript.settings)
                status = check(book, manuscript, is_first)
                manuscript.close()
            asked = book.asked if book else []
            state = _asked_for(asked) | state  # older states win: pages may change what they read
            print("\nwatching for changes; press Ctrl-C to stop")
            changed = _wait(
                state,
                lambda: _asked_for(asked) | _signatures(files) | _made_of(manuscript),  # noqa: B023
            )
            names = (_name(path, Path().resolve()) for path in changed)
            print(f"\n{time.strftime('%H:%M:%S')} {', '.join(names)} changed")
    except KeyboardInterrupt:
        return status
    finally:
        if book is not None:
            book.close()


def _open(config_file: Path | None) -> Manuscript | None:
    """Open the book, or report why that can't be done."""
    try:
        return Manuscript(config_file)
    except ChapterError as error:
        print(error)
        return None


def _made_of(manuscript: Manuscript | None) -> State:
    """Return the state of chapters, modules, and hooks."""
    if manuscript is None:
        return {}
    settings = manuscript.settings
    modules = (file for folder in settings.source_folders for file in _modules(folder))
    return _signatures([*settings.pages(settings.docs), *modules, *manuscript.hooks])


def _modules(top: Path) -> Iterator[Path]:
    """Yield the modules below a folder, except those in a virtual environment."""
    for folder, folders, files in os.walk(top):
        if "pyvenv.cfg" in files:
            folders.clear()
            continue
        folders[:] = [name for name in folders if not name.startswith((".", "__"))]
        yield from (Path(folder, name) for name in files if name.endswith(_MODULES))


def _signatures(files: Iterable[Path]) -> State:
    paths = [str(file.resolve()) for file in files]
    return {(path, "signature"): fingerprint.signature(path) for path in paths}


_MODULES = (*SOURCE_SUFFIXES, *EXTENSION_SUFFIXES)


def _asked_for(asked: Iterable[Mapping[str, Any]]) -> State:
    """Return the state of everything that pages depend on."""
    state: State = {}
    for seen in asked:
        for path in seen["files"]:
            state[path, "signature"] = fingerprint.signature(path)
        for folder in seen["folders"]:
            state[folder, "listing"] = fingerprint.listing(folder)
        for folder, (names, _) in seen["modules"].items():
            state[folder, " ".join(names)] = fingerprint.importable(folder, names)
    return state


def _changed(before: State, now: State) -> list[str]:
    keys = before.keys() | now.keys()
    return sorted({key[0] for key in keys if before.get(key) != now.get(key)})


def _name(path: str, root: Path) -> str:
    file = Path(path)
    return file.relative_to(root).as_posix() if file.is_relative_to(root) else path


def _wait(before: State, now: Callable[[], State]) -> list[str]:
    """Wait until a state has changed and settled; return the paths that have changed."""
    last = before
    while True:
        time.sleep(PAUSE)
        state = now()
        if state == last and (changed := _changed(before, state)):
            return changed
        last = state
