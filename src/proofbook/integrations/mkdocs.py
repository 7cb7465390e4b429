"""The MkDocs plugin: runs all pages in parallel before showing any; problems fail the build.

While a book is served, its pages are shown first and run behind; see `live.py`.
"""

import hashlib
import logging
from collections.abc import Callable, Iterable
from copy import copy
from html import escape
from importlib.machinery import PathFinder
from importlib.util import find_spec
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.livereload import LiveReloadServer
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url, is_markdown_file, write_file

import proofbook
from proofbook.checking.book import Book
from proofbook.checking.source_lookup import Shown
from proofbook.execution.runner import Runner
from proofbook.integrations.asides import AsideExtension, AsideRenderer
from proofbook.integrations.last_build import LastBuild
from proofbook.integrations.live import Live
from proofbook.integrations.markdown import asset_data_url
from proofbook.integrations.mkdocs_jupyter import refuse_unproved_notebooks
from proofbook.integrations.reading import SCHEMA, name_of, settings_of
from proofbook.integrations.serving import hand_back, take_over
from proofbook.maths.symbol_table import strange_symbols
from proofbook.model import Chapter, Run
from proofbook.notebook.export import Notebooks
from proofbook.parsing.markdown_processors import MarkingExtension
from proofbook.problems import Problem
from proofbook.rendering.downloads import data_url
from proofbook.rendering.ledger import account, provenance, verified_json
from proofbook.rendering.page_renderer import Caption, PageRenderer
from proofbook.rendering.placeholders import Placeholders
from proofbook.rendering.summary import filled, has_places
from proofbook.settings import Settings

ASSETS = "assets/proofbook"
STATIC = Path(proofbook.__file__).parent / "static"
log = logging.getLogger("mkdocs.plugins.proofbook")


class ProofbookPlugin(BasePlugin[LegacyConfig]):
    """Runs, checks, and shows the chapters of a MkDocs site."""

    config_scheme = SCHEMA

    def __init__(self) -> None:
        self.only_reads = False  # for `proofbook check`, which runs what plugins make of a page
        self.settings: Settings
        self.live: Live | None = None
        self.may_end = False  # whether a build has nothing to do if nothing has changed
        self.last: LastBuild | None = None
        self.lab_runs: list[dict[str, Any] | None] = []  # what each read; None if unknown
        self.book: Book | None = None
        self.extension = AsideExtension(self._aside, self._pass_by)
        self.path = ""  # of the page being converted, or of the last one, like the renderer
        self.renderer: PageRenderer
        self.found: list[Problem] = []  # besides those of the book
        self.told: set[Problem] = set()
        self.about: dict[str, Any] = {}
        self.labs: dict[str, dict[str, int]] = {}  # reported by the plugin that runs them
        self.assets: dict[str, Path] = {}
        self.offered: dict[str, str] = {}
        self.notebooks = Notebooks()
        self.placeholders = Placeholders()
        self.reading_order: list[Page] = []
        self.captions: list[Callable[[Page, Shown, str], str]] = []  # added by other plugins

    def on_startup(self, *, command: Literal["build", "gh-deploy", "serve"], dirty: bool) -> None:
        """Prepare to serve, if asked to; this event keeps the plugin across rebuilds."""
        self.live = Live(self) if command == "serve" else None
        if self.live:
            self.book = None  # a build of this process has another kind of runner
            take_over(self.live)
        self.may_end = command == "build" and not (dirty or self.only_reads)

    def on_build_error(self, *, error: Exception) -> None:
        """Record nothing of a build that failed."""
        self._close_last()

    def on_shutdown(self) -> None:
        """Stop all runs, and record the build, which has ended well unless it is closed by now."""
        if self.last and self.book and self.book.is_kept and None not in self.lab_runs:
            pages = [dict(seen) for seen in self.book.asked]
            self.last.record([*pages, *filter(None, self.lab_runs)])
        self._close_last()
        if self.book:
            self.book.close()
        if self.live:
            self.live.close()
            hand_back()
            self.live = self.book = None

    def on_config(self, config: MkDocsConfig) -> MkDocsConfig:
        """Add the Markdown extensions that chapters need, and open the book.

        Raises:
            SystemExit: The site is there, and would be the same; 0, as after a build.
        """
        refuse_unproved_notebooks(config.plugins)
        self.captions = []
        self.found = []
        self.told = set()
        self.lab_runs = []
        given: list[Any] = [name for name in config.markdown_extensions if name != "proofbook"]
        settings = self.settings = settings_of(config)
        if self.only_reads:
            return config
        if self.may_end:
            self.last = LastBuild(config, settings)
            if self.last.is_the_same():
                log.info("Nothing has changed since %s was built", config.site_dir)
                self.last = None
                raise SystemExit(0)
            self.last.begin()
        if self.book is None:
            self.book = Book(settings, make_runner=self.live.make_runner if self.live else Runner)
        self.book.renew(settings)
        missing = [name for name in settings.extensions if name not in given]
        config.markdown_extensions = [*given, *missing, self.extension]
        config.extra_css += [f"{ASSETS}/{name}" for name in _styles(config)]
        config.extra_javascript.append(f"{ASSETS}/proofbook.js")
        return config

    def on_files(self, files: Files, *, config: MkDocsConfig) -> Files:
        """Run all chapters, several at a time; while serving, they run behind."""
        _refuse_unknown(self.settings, files)
        if self.only_reads:
            return files
        book = self._book
        try:
            self.about = provenance(book.settings, self.about if self.live else {})
        except FileNotFoundError as error:
            raise PluginError(f"hashed: {error}") from error
        self.assets = {}
        self.offered = {}
        self.placeholders = Placeholders()
        texts: dict[str, str] = {}
        for file in files.documentation_pages():
            if not is_markdown_file(file.src_uri):  # another plugin handles notebooks
                continue
            path = self.name(file)
            try:
                texts[path] = file.content_string
            except (UnicodeDecodeError, OSError) as error:
                problem = Problem(path, 1, f"this file cannot be read: {error}")
                self.found.append(problem)
                files.remove(file)
                text = f"# {path}\n\n<pre>{escape(str(problem))}</pre>\n"
                files.append(File.generated(config, file.src_uri, content=text))
        if not self.live:
            checked = book.check(texts, lambda one: _progress(one.page.chapter, one.run))
            if not all(one.page.converts for one in checked):
                self._tell_problems()
        for name in (*_styles(config), "proofbook.js"):
            source = str(STATIC / name)
            files.append(File.generated(config, f"{ASSETS}/{name}", abs_src_path=source))
        return files

    def on_nav(self, nav: Navigation, *, config: MkDocsConfig, files: Files) -> None:
        """Record the reading order of the pages."""
        self.reading_order = nav.pages

    @event_priority(-100)
    def on_page_markdown(
        self, markdown: str, *, page: Page, config: MkDocsConfig, files: Files
    ) -> None:
        """Give the page's conversion a separate extension."""
        if self.only_reads:
            return
        book = self._book
        self.path = self.name(page.file)
        renderer = self.renderer = PageRenderer(
            book,
            self.path,
            self.about,
            self.asset_url(page.url),
            self._offer(page),
            lambda *_: self.notebooks.of(renderer.known, book.settings, self.about),
            self.placeholders.put,
            self._caption(page),
        )
        own = MarkingExtension()
        own.use(renderer)
        self._render_with(own, page)

    @event_priority(100)
    def on_page_content(self, html: str, *, page: Page, config: MkDocsConfig, files: Files) -> None:
        """Report a page that was converted without its checked results."""
        if self.renderer.checked is not None or not is_markdown_file(page.file.src_uri):
            return
        chapter = self._book.of(self.path, page.markdown or "").page.chapter
        if chapter.blocks or chapter.claims:
            message = "another plugin converts this page without its Markdown extensions"
            self.found.append(
                Problem(self.path, 1, f"{message}: readers would not see what was checked")
            )

    def on_env(self, env: Any, *, config: MkDocsConfig, files: Files) -> Any:
        """Add the files that pages use and offer; fail if a chapter doesn't pass."""
        if self.live:
            return env
        for target, path in self.assets.items():
            files.append(File.generated(config, target, abs_src_path=str(path)))
        self._hand_over_offers(files, config, files)
        self.found += strange_symbols(self._book.results, self._book.settings)
        self._tell_problems()
        self._summarize(files)
        return env

    @event_priority(-100)
    def on_page_context(
        self, context: Any, *, page: Page, config: MkDocsConfig, nav: Navigation
    ) -> None:
        """Replace placeholders with their markup, after the search has read the page."""
        page.content = self.placeholders.put_back(page.content or "")

    @event_priority(-100)
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Write the site's ledger; fail if a text that was converted late doesn't pass."""
        self._tell_problems()
        ledger = verified_json(self._book.results, self.about, self.labs)
        (Path(config.site_dir) / "verified.json").write_text(ledger, encoding="utf-8")

    def on_serve(
        self, server: LiveReloadServer, *, config: MkDocsConfig, builder: Callable[..., Any]
    ) -> LiveReloadServer:
        """Watch the modules, too."""
        for folder in self._book.settings.source_folders:
            if folder.is_dir():
                server.watch(str(folder))
        return server

    def _close_last(self) -> None:
        if self.last:
            self.last.close()
            self.last = None

    def name(self, file: File) -> str:
        """Return the name under which a page runs."""
        return name_of(file, self.settings)

    def check(self, files: Iterable[File]) -> None:
        """Check pages, as far as they have run."""
        pages = [file for file in files if is_markdown_file(file.src_uri)]
        self._book.check({self.name(file): file.content_string for file in pages})

    def begin_page(self, file: File) -> None:
        """Prepare to convert a page of a served book."""
        self.assets, self.offered, self.placeholders = {}, {}, Placeholders()
        self.check([file])

    def end_page(self, file: File) -> None:
        """Finish a page of a served book, and write the files that it needs."""
        assert self.live
        site = self.live.site
        self._summarize(Files([file]))
        self._tell_problems()
        folder = Path(site.config.site_dir)
        for target, path in self.assets.items():
            write_file(path.read_bytes(), str(folder / target))
        offers = Files([])
        self._hand_over_offers(offers, site.config, site.files)
        offers.copy_static_files()

    def ran(self, chapter: Chapter, run: Run) -> None:
        """Report a page that has run."""
        _progress(chapter, run)

    def _tell_problems(self) -> None:
        """Fail if anything is wrong; while serving, report what has not been reported yet.

        Something missing on this machine causes only a warning, which fails strict builds once
        everything is written.

        Raises:
            PluginError: There are problems, and the site is being built, not served.
        """
        book = self._book
        problems = [*self.found, *book.problems]
        absences = [one for one in problems if one.is_one_of(book.settings.absences)]
        faults = [one for one in problems if one not in absences]
        if faults and not self.live:
            listing = "\n\n".join(map(str, faults))
            raise PluginError(f"{_count(len(faults), 'problem')} in the book\n\n{listing}")
        for problem in problems:
            if problem not in self.told:
                (log.warning if problem in absences else log.error)("%s", problem)
        self.told.update(problems)

    def _hand_over_offers(self, files: Files, config: MkDocsConfig, others: Files) -> None:
        """Add the files that pages offer, unless the book has a file with the same name."""
        taken = {file.dest_uri: file for file in others if file.inclusion.is_included()}
        for target, text in self.offered.items():
            if own := taken.get(target):
                message = "a download of a page would replace this file"
                path = self.name(own)
                self.found.append(Problem(path, 1, f"{message}; give it another name", target))
            else:
                files.append(File.generated(config, target, content=text))

    def _render_with(self, own: MarkingExtension, page: Page) -> None:
        """Have a page converted with its own extension instead of the shared one."""
        render = page.render

        def render_with_own(config: MkDocsConfig, files: Files) -> None:
            given = config.markdown_extensions
            config = copy(config)
            config.markdown_extensions = [own if one is self.extension else one for one in given]  # type: ignore[misc]
            render(config, files)

        page.render = render_with_own  # type: ignore[method-assign]

    def _aside(self) -> AsideRenderer | None:
        """Return a renderer for a text that isn't a page; `None` before a book is open."""
        if self.book is None:
            return None
        return AsideRenderer(self.book, "", self.about, asset_data_url, data_url, self.notebooks.of)

    def _pass_by(self, text: str) -> None:
        """Report claims in a text that is converted within a page."""
        self.found += self._book.unchecked(self.path, text)

    def _summarize(self, files: Files) -> None:
        """Fill in what pages say about the whole book, now that all pages have run."""
        book = self._book
        asking = [file.page for file in files.documentation_pages() if file.page]
        asking = [page for page in asking if page.content and has_places(page.content)]
        is_running = self.live and self.live.is_running
        ledger = None if is_running else account(book.results, self.about, self.labs)
        for page in asking:
            links = {
                self.name(one.file): (str(one.title), one.file.url_relative_to(page.file))
                for one in self.reading_order
            }
            try:
                page.content = filled(page.content or "", ledger, links)
            except ValueError as error:
                raise PluginError(f"{self.name(page.file)}: {error}") from error

    @property
    def _book(self) -> Book:
        assert self.book is not None
        return self.book

    def asset_url(self, page_url: str) -> Callable[[str, str], str]:
        """Return a function that has the site serve a file, and returns its URL on a page."""

        def url(name: str, path: str) -> str:
            digest = hashlib.sha256(Path(path).read_bytes()).hexdigest()[:8]
            target = f"{ASSETS}/{digest}-{name}"
            self.assets[target] = Path(path)
            return get_relative_url(target, page_url)

        return url

    def _caption(self, page: Page) -> Caption:
        """Return a function that captions shown sources, with the additions of other plugins."""

        def caption(shown: Shown, place: str) -> str:
            for one in self.captions:
                place = one(page, shown, place)
            return place

        return caption

    def _offer(self, page: Page) -> Callable[[str, str], str]:
        """Return a function that puts files next to a page."""

        def url(name: str, text: str) -> str:
            target = (PurePosixPath(page.file.dest_uri).parent / name).as_posix()
            self.offered[target] = text
            return get_relative_url(target, page.url)

        return url


def _styles(config: MkDocsConfig) -> list[str]:
    """Return the names of a site's style sheets; Material doesn't need `themes.css`."""
    return ["proofbook.css", *(["themes.css"] if config.theme.name != "material" else [])]


def _refuse_unknown(settings: Settings, files: Files) -> None:
    """Raise an error if a page listed in `first` or a package in `preload` doesn't exist."""
    known = {file.src_uri for file in files.documentation_pages()}
    if unknown := [page for page in settings.first if page not in known]:
        raise PluginError(f"first: the book has no page {', '.join(unknown)}")
    folders = [str(one) for one in (settings.root, *settings.source_folders)]
    for name in settings.preload:
        top = name.partition(".")[0]
        if not (PathFinder.find_spec(top, folders) or find_spec(top)):
            raise PluginError(f"preload: no package {name!r} is installed")


def _progress(chapter: Chapter, run: Run) -> None:
    how = "from the cache" if run.cached else f"in {run.seconds:.1f} s"
    log.info("%s: %s %s", chapter.path, _count(len(chapter.blocks), "block"), how)
    for reason in run.unkept:
        log.info("%s: not kept: %s", chapter.path, reason)


def _count(number: int, word: str) -> str:
    return f"{number} {word}{'' if number == 1 else 's'}"
