"""A served book: each page is made when somebody opens it, and all pages are made in reading order.

Nothing is built before the server opens. Opening a site finds its files and reads their titles. A
page is then converted and filled in whenever it's asked for and something has changed since it was
last made: an edit, or the result of a run. So no list says which page depends on what. A page whose
code hasn't run yet is shown without its outputs; when they are there, it's made again, and browsers
that show it reload it.

After an edit, the edited pages are made at once in the site as it is; then the site is opened
again. If that fails, the last site stays, and each of its pages says what failed.
"""

import logging
import os
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import MkDocsException
from mkdocs.structure.files import File

from proofbook.execution.backlog import Backlog, LateRunner
from proofbook.integrations.live_search import LiveSearch
from proofbook.integrations.progress import Progress
from proofbook.integrations.site import Site, open_site
from proofbook.model import Chapter, Run
from proofbook.settings import Settings

FEW = 4
"""The most edited pages to make before the site is opened; more come from version control."""
PATIENCE = 60
"""Seconds after which a browser asks again whether its page has changed."""
AGAIN = 2
"""Seconds between two looks for what pages lacked, while there is nothing else to do."""
EMPTY = "<!doctype html>\n<title>Error</title>\n<body>\n</body>\n"

State = dict[str, tuple[int, int]]
"""The modification time of each file, in nanoseconds, and its size in bytes."""

log = logging.getLogger("mkdocs.plugins.proofbook")


class Engine(Protocol):
    """What makes the pages of a book."""

    def name(self, file: File) -> str:
        """Return the name under which a page runs."""

    def check(self, files: Iterable[File]) -> None:
        """Check pages, as far as they have run."""

    def begin_page(self, file: File) -> None:
        """Prepare to convert a page."""

    def end_page(self, file: File) -> None:
        """Finish a page that has been converted, and write the files that it needs."""

    def ran(self, chapter: Chapter, run: Run) -> None:
        """Report a page that has run."""


@dataclass(frozen=True)
class Made:
    """A page as it was last made.

    Attributes:
        text: The content of its file.
        html: The page.
        trouble: What failed, or "".
        version: The state of the site that it shows.
        epoch: When it last changed, in milliseconds.
    """

    text: bytes
    html: str
    trouble: str
    version: int
    epoch: int


class Live:
    """The pages of a served book.

    Args:
        engine: Makes them.
    """

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.site: Site
        self.runner: LateRunner
        self.backlog: Backlog
        self._progress: Progress
        self._search = LiveSearch()
        self._making = threading.RLock()  # plugins make one page at a time
        self._changed = threading.Condition()
        self._version = 0
        self._made: dict[str, Made] = {}
        self._paths: dict[str, str] = {}  # each page's place in the site, by its name
        self._due: dict[str, None] = {}  # pages whose runs have ended
        self._ahead: dict[str, None] = {}  # pages that nobody has made yet
        self._fresh: set[str] = set()  # pages whose links are to be checked
        self._asking = 0  # how many requests wait for a page
        self._looking: Counter[str] = Counter()  # how many browsers show a page
        self._is_settled = self._is_open = self._closed = False
        self._trouble, self._trouble_epoch = "", 0
        self._said = _Once()
        self._build: Callable[[], None]
        self._watched: list[str] = []
        self._state: State = {}

    def make_runner(self, settings: Settings) -> LateRunner:
        """Return what runs the pages behind."""
        if not self._is_open:
            self.backlog = Backlog(settings.side_by_side, self._show, self._ran)
            self._is_open = True
        self.runner = LateRunner(settings, self.backlog, self.engine.ran)
        return self.runner

    def open(self, config: MkDocsConfig, **_: Any) -> None:
        """Open a site, which replaces the last one; nothing is converted."""
        with self._making:
            site = open_site(config)
            texts = {place: made.text for place, made in self._made.items()}
            kept = site.keep(self.site, texts) if self._made else set()
            self.site = site
            self._paths = {self.engine.name(file): place for place, file in site.pages.items()}
            self._said = _Once()
            self.engine.check(site.pages[place] for place in kept)
            with self._changed:
                self._version += 1
                self._due = {}
                self._ahead = dict.fromkeys(place for place in site.pages if place not in kept)
                self._is_settled = self._is_settled and not self._ahead
                self._changed.notify_all()

    def begin(self, build: Callable[[], None], watched: list[str]) -> None:
        """Make all pages, one after the other, while they are served.

        Args:
            build: Loads the settings again, and opens the site.
            watched: The files and folders whose edits count.
        """
        self._build = build
        self._watched = watched
        self._state = self.look()
        self._progress = Progress(log)
        threading.Thread(target=self._work, daemon=True, name="pages").start()

    @property
    def pages(self) -> dict[str, File]:
        """The pages of the site, by their place in its folder."""
        return self.site.pages

    @property
    def is_running(self) -> bool:
        """Whether the results of some pages aren't there yet."""
        return not self._is_settled or len(self.backlog) > 0

    def page(self, place: str) -> tuple[str, int, list[str]]:
        """Return a page, when it last changed, and what has failed; its run comes before others."""
        with self._changed:
            self._asking += 1
        try:
            with self._making:
                made = self._make(place)
                self.backlog.hurry(self.engine.name(self.pages[place]))
        finally:
            with self._changed:
                self._asking -= 1
                self._changed.notify_all()
        troubles = [one for one in (self._trouble, made.trouble) if one]
        return made.html, max(made.epoch, self._trouble_epoch), troubles

    def run_behind(self, file: File, job: Callable[[], None]) -> None:
        """Do what a page waits for, as the run of its blocks; then make the page again."""
        self.backlog.add(self.engine.name(file), file.content_string, job)

    def wait_for_newer(self, place: str, epoch: int) -> int:
        """Wait for a page to change; return when it last did."""
        with self._changed:
            self._looking[place] += 1
            if place in self.pages and place not in self._made:  # shown by an earlier server
                self._due[place] = None
                self._changed.notify_all()
            self._changed.wait_for(lambda: self._closed or self._epoch(place) > epoch, PATIENCE)
            self._looking[place] -= 1
            return self._epoch(place)

    def wait_until_settled(self) -> None:
        """Wait until each page has been made once, and what is made of all pages is written."""
        with self._changed:
            self._changed.wait_for(lambda: self._closed or self._is_settled)

    def look(self) -> State:
        """Return the state of all files that count."""
        return _states(self._watched)

    def rebuild(self) -> None:
        """After an edit, make the edited pages, then open the site again."""
        known, self._state = self._state, self.look()
        edited = [path for path, one in self._state.items() if known.get(path) != one]
        if self._state == known:
            return
        places = {file.abs_src_path: place for place, file in self.pages.items()}
        if self._state.keys() != known.keys() or not {*edited} <= places.keys():
            self.runner.forget()
        elif len(edited) <= FEW:
            for path in edited:
                with self._making:
                    self._version += 1
                    self._make(places[path])
        try:
            self._build()
        except (Exception, SystemExit) as error:
            said = error.__context__ if isinstance(error, SystemExit) else None
            expected = isinstance(error, MkDocsException | SystemExit)
            message = "This edit could not be built; the site stays as it was, and says so: %s"
            log.error(message, said or error, exc_info=None if expected else error)
            self._tell(f"The last edit could not be built: {said or error or type(error).__name__}")
            self._state = {}
        else:
            self._tell("")

    def close(self) -> None:
        """Stop."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        if self._is_open:
            self.backlog.close()

    def _make(self, place: str) -> Made:
        """Make a page, unless nothing has changed since it was last made."""
        last = self._made.get(place)
        version = self._version
        if last and last.version == version:
            return last
        file = self.pages[place]
        text = file.content_bytes
        title = file.page and file.page.title
        try:
            with self._said.heard(), self._search.reading(self.site.config, file.url):
                self.engine.begin_page(file)
                self.site.convert(file)
                self.engine.end_page(file)
                html, trouble = self.site.make(file), ""
        except Exception as error:
            expected = isinstance(error, MkDocsException)
            html, trouble = last.html if last else EMPTY, f"{type(error).__name__}: {error}"
            with self._said.heard():
                log.error("%s: %s", file.src_uri, error, exc_info=None if expected else error)
        with self._changed:
            if (file.page and file.page.title) != title:  # other pages show it
                version = self._version = version + 1
            is_same = last and (last.html, last.trouble) == (html, trouble)
            epoch = last.epoch if last and is_same else self._now()
            made = self._made[place] = Made(text, html, trouble, version, epoch)
            self._due.pop(place, None)
            self._ahead.pop(place, None)
            self._fresh.add(place)
            self._changed.notify_all()
        self._show()
        return made

    def _now(self) -> int:
        """Return the time in milliseconds, later than that of any other change."""
        last = max((made.epoch for made in self._made.values()), default=0)
        return max(last + 1, self._trouble_epoch + 1, time.monotonic_ns() // 10**6)

    def _epoch(self, place: str) -> int:
        made = self._made.get(place)
        return max(made.epoch if made else 0, self._trouble_epoch)

    def _tell(self, trouble: str) -> None:
        """Show on each page what failed; "" when nothing does any longer."""
        with self._changed:
            if trouble != self._trouble:
                self._trouble, self._trouble_epoch = trouble, self._now()
                self._changed.notify_all()

    def _work(self) -> None:
        """Make pages while nobody waits for one."""
        while True:
            with self._changed:
                is_called = self._changed.wait_for(lambda: self._closed or self._has_work(), AGAIN)
                if self._closed:
                    return
                place = next(iter([*self._due, *self._ahead]), None)
            if not is_called:
                for path in self.runner.recovered():
                    self._ran(path)
                continue
            with self._making:
                if place is None:
                    self._settle()
                elif place in self.pages:
                    self._make(place)
                else:  # the site has just been opened again
                    self._due.pop(place, None)

    def _has_work(self) -> bool:
        return not self._asking and bool(self._due or self._ahead or self._fresh)

    def _settle(self) -> None:
        """Write what is made of all pages, such as the search index."""
        config, fresh = self.site.config, self._fresh
        self._fresh = set()
        self._search.list(
            config, [file.url for file in self.site.files if file.dest_uri in self.pages]
        )
        with self._said.heard():
            for place in fresh & self.pages.keys():
                self.site.check_links(self.pages[place])
            try:
                config.plugins.on_post_build(config=config)
            except Exception as error:
                expected = isinstance(error, MkDocsException)
                if not (expected and len(self.backlog)):  # until then, headings may lack values
                    log.error("%s", error, exc_info=None if expected else error)
        with self._changed:
            self._version += not self._is_settled  # pages that show others were made too early
            self._is_settled = True
            self._changed.notify_all()
        if not len(self.backlog):
            for place in [one for one, number in self._looking.items() if number]:
                if place in self.pages:
                    self._make(place)

    def _ran(self, path: str) -> None:
        """Make a page again that has run."""
        with self._changed:
            self._version += 1
            if place := self._paths.get(path):
                self._due[place] = None
            self._changed.notify_all()

    def _show(self, _: str = "") -> None:
        listed = [page.file.dest_uri for page in self.site.nav.pages]
        missing = sum(place not in self._made for place in listed) + len(self.backlog)
        self._progress.show(len(listed) - missing, len(listed), self.backlog.running)


class _Once(logging.Filter):
    """Lets each message of pages pass once: they are made again and again."""

    def __init__(self) -> None:
        super().__init__()
        self._said: set[str] = set()

    def filter(self, record: logging.LogRecord) -> bool:
        """Return whether a message is new."""
        message = record.getMessage()
        is_new = message not in self._said
        self._said.add(message)
        return is_new

    @contextmanager
    def heard(self) -> Iterator[None]:
        """Have the messages of pages pass through here."""
        handlers = [*logging.getLogger("mkdocs").handlers]
        for handler in handlers:
            handler.addFilter(self)
        try:
            yield
        finally:
            for handler in handlers:
                handler.removeFilter(self)


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
