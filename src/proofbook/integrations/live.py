"""Build a served book after an edit: first the edited pages, then the whole site.

MkDocs serves nothing while it builds, and it empties the folder that it serves from. So each site
is built in a separate folder, which replaces the last one when it's finished. Until then, the last
site is served, with the edited pages already updated. If a build fails, the last site stays, and
each of its pages says what failed.
"""

import gc
import logging
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from html import escape
from pathlib import Path

import jinja2
from mkdocs.commands import build as building
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import MkDocsException
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation

from proofbook.integrations.watching import watch_closely

FEW = 4
"""The most edited pages to build before the site; more at once come from version control."""
MEMORY, ROOM = "/dev/shm", 2**30
"""Where Linux keeps files in memory, which is fast, and the free bytes to require there."""
FAILED = re.compile(r"<!--failed-->.*?<!--/failed-->", re.DOTALL)
BODY = re.compile(r"<body\b[^>]*>")

State = dict[str, tuple[int, int]]
"""The modification time of each file, in nanoseconds, and its size in bytes."""

log = logging.getLogger("mkdocs.plugins.proofbook")


class SupersededError(BaseException):
    """Signal that a build is no longer needed; MkDocs would report an `Exception` as a failure."""


@dataclass(frozen=True)
class Site:
    """The parts of a build that are needed to build one of its pages again."""

    config: MkDocsConfig
    files: Files
    nav: Navigation
    env: jinja2.Environment


class Live:
    """The builder that replaces MkDocs's own.

    Args:
        server: The site's server.
        build: Builds the whole site.
        site: Returns the last build, which is being served.
        renew: Checks an edited page; returns a function that finishes building it.
    """

    def __init__(
        self,
        server: LiveReloadServer,
        build: Callable[[], None],
        site: Callable[[], Site],
        renew: Callable[[Site, File], Callable[[], None]],
    ) -> None:
        self.server = server
        self.build = build
        self.site = site
        self.renew = renew
        self._served = site()
        self._has_shown = False  # the edited pages, in the build that is under way
        self._folders = [tempfile.mkdtemp(prefix="proofbook_", dir=_fast()) for _ in range(2)]
        self._stop_watching = watch_closely(server, partial(_states, server._watched_paths))
        self._known = self._building = _states(server._watched_paths)
        server.error_handler = self._error_page
        gc.collect()
        gc.freeze()  # most of these objects stay alive: no need to scan them repeatedly

    def __call__(self) -> None:
        """Build the edited pages, then the whole site."""
        state = _states(self.server._watched_paths)
        if state == self._known:
            return
        self._building = state
        self._has_shown = False
        self._has_shown = self._build_edited(state)
        if self._has_shown:
            self._let_read()
        try:
            self.build()
        except SupersededError:
            return
        except (Exception, SystemExit) as error:
            expected = isinstance(error, MkDocsException)
            message = "This build failed; the last site is still served and shows the error: %s"
            log.error(message, error, exc_info=None if expected else error)
            self._tell(error)
            self._known = {}
            return
        self._known = state
        self._served = self.site()
        self.server.root = os.path.abspath(self._served.config.site_dir)
        self.server._wanted_epoch = round(time.monotonic() * 1000)  # reload once more

    @property
    def folder(self) -> str:
        """The folder for the next build: the one that isn't being served."""
        return next(one for one in self._folders if one != self.server.root)

    def stop_if_superseded(self) -> None:
        """Stop a build if files have changed in the meantime and the edited pages are up to date.

        Raises:
            SupersededError: There is something newer to build.
        """
        if not (self._has_shown and self.server._want_rebuild):
            return
        self.server._want_rebuild = False  # it may have been an editor's temporary file
        if _states(self.server._watched_paths) != self._building:
            self.server._want_rebuild = True
            raise SupersededError

    def close(self) -> None:
        """Stop watching, and remove the folders."""
        self._stop_watching()
        for folder in self._folders:
            shutil.rmtree(folder, ignore_errors=True)

    def _let_read(self) -> None:
        """Have browsers reload while the build continues."""
        with self.server._epoch_cond:
            self.server._visible_epoch = self.server._wanted_epoch
            self.server._epoch_cond.notify_all()

    def _build_edited(self, state: State) -> bool:
        """Build the pages that were edited, if nothing else has changed."""
        edited = [path for path in state if self._known.get(path) != state[path]]
        if state.keys() != self._known.keys() or not 0 < len(edited) <= FEW:
            return False
        pages = {file.abs_src_path: file for file in self._served.files.documentation_pages()}
        files = [pages[path] for path in edited if path.endswith(".md") and path in pages]
        if len(files) < len(edited):
            return False
        try:
            with _quiet():
                for file in files:
                    self._build_page(file)
        except Exception:  # the full build will report what is wrong
            log.debug("No page was built before the others", exc_info=True)
            return False
        return True

    def _build_page(self, file: File) -> None:
        site, page = self._served, file.page
        assert page is not None
        offer = self.renew(site, file)
        vars(page).pop("render", None)  # plugins have replaced it
        building._populate_page(page, site.config, site.files)
        offer()
        pages = site.files.documentation_pages()
        building._build_page(page, site.config, pages, site.nav, site.env)

    def _tell(self, error: BaseException) -> None:
        """Show on each page why the site doesn't reflect the last edit."""
        said = error.__context__ if isinstance(error, SystemExit) and error.__context__ else error
        text = escape(f"The last edit could not be built: {said or type(said).__name__}")
        alert = f'<div class="proofbook-error" role="alert"><pre><code>{text}</code></pre></div>'
        block = f"<!--failed-->{alert}<!--/failed-->"
        for path in Path(self.server.root).rglob("*.html"):
            html = FAILED.sub("", path.read_text(encoding="utf-8"))
            body = BODY.search(html)
            at = body.end() if body else 0
            path.write_text(f"{html[:at]}{block}{html[at:]}", encoding="utf-8")

    def _error_page(self, code: int) -> bytes | None:
        path = Path(self.server.root, f"{code}.html")
        return path.read_bytes() if code in (404, 500) and path.is_file() else None


class _Silence(logging.Filter):
    def filter(self, record: logging.LogRecord) -> bool:
        return record.name == log.name  # the engine's: no later build will report these runs


@contextmanager
def _quiet() -> Iterator[None]:
    """Suppress messages, which the full build will repeat."""
    handlers = [*logging.getLogger("mkdocs").handlers]
    silence = _Silence()
    for handler in handlers:
        handler.addFilter(silence)
    try:
        yield
    finally:
        for handler in handlers:
            handler.removeFilter(silence)


def _fast() -> str | None:
    """Return a folder in memory if there is one with enough space; else `None`, the default."""
    with suppress(OSError):
        if shutil.disk_usage(MEMORY).free >= ROOM and os.access(MEMORY, os.W_OK | os.X_OK):
            return MEMORY
    return None


def _states(paths: Iterable[str]) -> State:
    """Return the state of all files under some paths."""
    found: State = {}
    for path in paths:
        for name in _files(path):
            with suppress(OSError):  # it may just have been deleted
                status = os.stat(name)
                found[name] = status.st_mtime_ns, status.st_size
    return found


def _files(path: str) -> Iterator[str]:
    if os.path.isfile(path):
        yield path
    for folder, folders, names in os.walk(path):
        folders[:] = [one for one in folders if one != "__pycache__"]
        yield from (os.path.join(folder, name) for name in names if not name.endswith(".pyc"))
