"""The state that a served book keeps between builds."""

from collections.abc import Callable

import jinja2
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.livereload import LiveReloadServer
from mkdocs.structure.files import File, Files
from mkdocs.structure.nav import Navigation
from mkdocs.utils import clean_directory

from proofbook.integrations.kept import Once, Say
from proofbook.integrations.kept_pages import KeptPages
from proofbook.integrations.kept_search import KeptSearch
from proofbook.integrations.kept_templates import Compiled, KeptTemplates, made_light
from proofbook.integrations.live import Live, Site


class Serving:
    """The conversions, templates, and search entries of the last build, and the next builder.

    Args:
        say: Called with each message for the author.
        dirty: Whether `--dirty` asked for edited pages only. All pages are built anyway: the
            others cost little, and could be out of date otherwise.

    Attributes:
        pages: The conversions of the last build.
        nav: The navigation of the build that is under way.
    """

    def __init__(self, say: Say, dirty: bool = False) -> None:
        once = Once(say)
        self.pages = KeptPages(once)
        self.nav: Navigation | None = None
        self._templates = KeptTemplates(once)
        self._search = KeptSearch()
        self._compiled = Compiled()
        self._dirty = dirty
        self._site: Site | None = None
        self._live: Live | None = None

    def go_live(
        self,
        server: LiveReloadServer,
        build: Callable[[], None],
        renew: Callable[[Site, File], Callable[[], None]],
    ) -> Live:
        """Return the builder that is called after each edit."""

        def renewed(site: Site, file: File) -> Callable[[], None]:
            self._templates.look_again()
            return renew(site, file)

        self._live = Live(server, build, self._last, renewed)
        return self._live

    def open(self, config: MkDocsConfig) -> None:
        """Begin a build, in a folder that isn't being served."""
        if self._live:
            config.site_dir = self._live.folder
        if self._dirty:  # otherwise, MkDocs has done this
            clean_directory(config.site_dir)
        config.theme.get_env = made_light(config.theme.get_env, self._compiled)  # type: ignore[method-assign]

    def take_all(self, files: Files) -> None:
        """Have MkDocs treat all files as edited."""
        if self._dirty:
            for file in files:
                file.is_modified = lambda: True  # type: ignore[method-assign]

    def begin(
        self, env: jinja2.Environment, config: MkDocsConfig, files: Files
    ) -> jinja2.Environment:
        """Start writing pages, all of them converted by now; return the template environment."""
        names = {file.src_uri for file in files.documentation_pages()}
        self.pages.forget(names)
        self._templates.forget(names)
        self._search.begin(config)
        env = self._templates.begin(env, config)
        assert self.nav is not None
        self._site = Site(config, Files(files), self.nav, env)
        return env

    def pause(self) -> None:
        """Abandon a build that a newer one will replace."""
        if self._live:
            self._live.stop_if_superseded()

    def close(self) -> None:
        """Remove what was built."""
        if self._live:
            self._live.close()

    def _last(self) -> Site:
        assert self._site is not None
        return self._site
