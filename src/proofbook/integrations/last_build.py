"""Tell whether a build would make the site that is there already.

A whole build leaves a record of what it was made from, and of the files that it wrote. While both
are as they were, there is nothing to do. Only the time of the build is not an input. What can't be
told counts as changed.
"""

import contextlib
import json
import logging
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.utils import CountHandler

from proofbook.caching import fingerprint
from proofbook.caching.atomic import replace
from proofbook.caching.dependencies import Dependencies, compared, is_current
from proofbook.integrations.reading import files_of
from proofbook.rendering.ledger import provenance
from proofbook.settings import Settings

NETWORK = ("(socket.connect)", "(socket.getaddrinfo)", "(socket.gethostbyname)")
"""Events that ask other machines; the engine's own processes talk in other ways."""

# These differ between terminals, processes, or tests.
FLEETING = re.compile(
    r"_$|SHLVL$|(OLD)?PWD$|COLUMNS$|LINES$|PYTEST_|.*(_PID|SESSION)|WINDOWID$|SSH_|TMUX|TERM|STY$"
    r"|INVOCATION_ID$|JOURNAL_STREAM$|MKDOCS|BASH|PS\d$|PROMPT|VSCODE|XPC_|MAKE|MFLAGS|NO_MKDOCS"
)
Runs = Sequence[dict[str, Any]]
"""What each run depended on."""


class LastBuild:
    """The last whole build into a folder, to compare with the one that begins.

    From now on, it tracks what this process reads, such as files that hooks open.

    Args:
        config: The site.
        settings: The book.
    """

    def __init__(self, config: MkDocsConfig, settings: Settings) -> None:
        self._settings = settings
        self._site = config.site_dir
        self._made = os.path.join(os.path.abspath(self._site), "")
        self._inputs = _inputs(config, settings)
        name = fingerprint.digest(self._site.encode())[:8]
        self._file = settings.cache / f"built-{name}.json"
        self._read: Dependencies | None = None
        self._warnings = CountHandler()
        self._warnings.setLevel(logging.WARNING)

    def is_the_same(self) -> bool:
        """Return whether the site is there, and nothing has changed since it was built."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(self._file.read_text(encoding="utf-8"))
            return (
                self._inputs is not None
                and record["inputs"] == self._inputs
                and record["site"] == _written(self._site)
                and self._are_current(record["runs"])
            )
        return False

    def begin(self) -> None:
        """Note what the build reads, and whether it warns of anything."""
        logging.getLogger("mkdocs").addHandler(self._warnings)
        self._read = Dependencies(str(self._settings.root), str(self._settings.cache))

    def record(self, runs: Runs) -> None:
        """Record a build that has written everything, unless the next might not be the same."""
        seen = self._builder()
        if self._inputs is None or seen is None or self._warnings.get_counts():
            return
        record = {
            "inputs": self._inputs,
            "site": _written(self._site),
            "runs": [*runs, seen],
        }
        with contextlib.suppress(OSError):
            replace(self._file, json.dumps(record))

    def close(self) -> None:
        """Note nothing more."""
        if self._read:
            self._read.close()
        logging.getLogger("mkdocs").removeHandler(self._warnings)

    def _builder(self) -> dict[str, Any] | None:
        """Return what this process has read; `None` if it has changed, or came over a network."""
        if self._read is None:
            return None
        seen = compared(self._read.seen())
        has_changed = any(not self._is_made(path) for path in seen["changed"])
        if has_changed or any(one.endswith(NETWORK) for one in seen["unseen"]):
            return None
        files = {path: was for path, was in seen["files"].items() if not self._is_made(path)}
        folders = {path: was for path, was in seen["folders"].items() if not self._is_made(path)}
        for path in folders:
            if self._made.startswith(os.path.join(path, "")):  # the site is there now
                folders[path] = fingerprint.listing(path)
        return {**seen, "files": files, "folders": folders, "declared": {}}

    def _is_made(self, path: str) -> bool:
        """Return whether a build makes this file or folder, which is no input then."""
        return os.path.join(path, "").startswith(self._made) or path.endswith(".pyc")

    def _are_current(self, runs: Runs) -> bool:
        """Return whether nothing that the runs depended on has changed."""
        look = fingerprint.Look()
        return all(is_current(seen, str(self._settings.root), look) for seen in runs)


def _inputs(config: MkDocsConfig, settings: Settings) -> str | None:
    """Identify what a build reads, besides what its runs do; `None` if that can't be told."""
    try:
        about = {**provenance(settings), "built": os.environ.get("SOURCE_DATE_EPOCH")}
    except OSError:
        return None
    asked = (config.config_file_path, config.site_dir, config.theme.name, config.use_directory_urls)
    paths: list[Any] = [*files_of(Path(config.config_file_path)), *config.hooks, *config.watch]
    paths += [settings.root, config.docs_dir, *settings.source_folders, *config.theme.dirs]
    paths += [getattr(module, "__file__", None) for module in [*sys.modules.values()]]
    own = {os.path.realpath(one) for one in (settings.cache, config.site_dir)}
    seen: set[str] = set()
    files = [
        state
        for path in paths
        if path and not fingerprint.is_installed(os.path.abspath(path))
        for state in _states(str(path), own, seen)
    ]
    variables = sorted(item for item in os.environ.items() if not FLEETING.match(item[0]))
    state = (asked, about, fingerprint.environment(), variables, files)
    return fingerprint.digest(repr(state).encode("utf-8", "surrogateescape"))


def _states(path: str, own: set[str], seen: set[str]) -> Iterator[tuple[str, object]]:
    """Yield the state of each file of a project once.

    What a build writes, hidden files, compiled modules, and environments aren't part of it.
    """
    real = os.path.realpath(path)
    if real in own:
        return
    if real in seen:
        yield path, real
    elif os.path.isfile(path):
        seen.add(real)
        is_large = os.path.getsize(path) >= fingerprint.LARGE_FILE
        yield path, fingerprint.signature(path) if is_large else fingerprint.content(path)
    elif not os.path.exists(os.path.join(path, "pyvenv.cfg")):
        seen.add(real)
        for name in fingerprint.entries(path):
            if not name.startswith(".") and name != "__pycache__":
                yield from _states(os.path.join(path, name), own, seen)


def _written(site: str) -> dict[str, list[int] | None]:
    """Return the state of each file of a site."""
    files = (os.path.join(folder, name) for folder, _, names in os.walk(site) for name in names)
    return {path: fingerprint.signature(path) for path in sorted(files)}
