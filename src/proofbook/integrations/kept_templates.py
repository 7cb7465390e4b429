"""Rendered pages of the last build, reused if nothing in their templates has changed.

A template can read the whole site. Most read only what the navigation says about other pages. If
any template reads their texts too, every page is rendered again at each build.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.bccache import Bucket
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.nav import Link, Section
from mkdocs.structure.pages import Page

from proofbook.integrations.kept import Once, UnknownError, frozen

OURS = ("jinja2.", "mkdocs.", "markupsafe.", "builtins.", "operator.", "_operator.", "gettext.")
TEXTS = {"content", "markdown", "toc", "content_string", "content_bytes", "site_dir"}
"""Attributes that a template may read only from its own page."""
RELATIVES = {"children", "parent", "previous_page", "next_page", "render"}
OWN = {"file", "toc", "links_to_anchors", "present_anchor_ids"}
BODY = OWN | {"markdown", "content", "_title_from_render", "_Page__active"}
APART = {
    *("plugins", "theme", "markdown_extensions", "hooks", "watch", "site_dir", "dev_addr"),
    *("exclude_docs", "draft_docs", "not_in_nav"),  # the navigation says which files there are
}
Fill = Callable[[Mapping[str, Any]], str]


class KeptTemplates:
    """The rendered pages and the compiled templates of the last build.

    Attributes:
        config: The site that is being built.
    """

    def __init__(self, say: Once) -> None:
        self.say = say
        self.config: MkDocsConfig | None = None
        self._kept: dict[str, tuple[Any, str]] = {}
        self._state: Any = None
        self._env: jinja2.Environment | None = None
        self._site: Any = None  # what all templates can see in this build, once needed
        self._last_site: Any = None
        self._built: Any = None
        self._checked: set[str] = set()
        self._sees_texts = ""

    def begin(self, env: jinja2.Environment, config: MkDocsConfig) -> jinja2.Environment:
        """Return the last build's environment, unless its templates are outdated."""
        self.config = config
        self._site = None
        try:
            state = _sources(config), _functions(env)
            if self._env is not None:  # constants are filtered when a template is compiled
                _functions(self._env)
        except UnknownError as unknown:
            self.say(f"each edit renders all templates again; cannot compare {unknown}")
            self._env = None
            env.bytecode_cache = None
            return env
        if self._env is None or state != self._state:
            env.template_class = _template_class(self)
            self._env, self._state = env, state
            self._kept.clear()
            self._checked.clear()
            self._sees_texts = ""
        return self._env

    def look_again(self) -> None:
        """Compare the site again, since one of its pages has been read again."""
        self._site = None

    def fill(self, context: dict[str, Any], fill: Fill) -> str:
        """Render a page with its template, or reuse the result of the last build."""
        if self._built is None:
            self._built = context.get("build_date_utc")
        context["build_date_utc"] = self._built  # one per session, as in the ledger
        page = context.get("page")
        if page is None or self._env is None:
            return fill(context)
        try:
            given = self._seen(context), _own(page), _rest(context)
        except UnknownError as unknown:
            self.say(f"each edit renders all templates again; cannot compare {unknown}")
            return fill(context)
        name = page.file.src_uri
        known, html = self._kept.get(name, (None, ""))
        if known != given:
            html = fill(context)
            self._kept[name] = given, html
        return html

    def forget(self, names: set[str]) -> None:
        """Forget pages that no longer exist."""
        self._kept = {name: one for name, one in self._kept.items() if name in names}

    def _seen(self, context: Mapping[str, Any]) -> Any:
        """Return what every template can see in this build."""
        if self._site is None:
            assert self.config is not None
            assert self._env is not None
            self._look_for_texts()
            if self._sees_texts:
                raise UnknownError(f"what {self._sees_texts}")
            site = (
                frozen(_settings(self.config)),
                tuple(_items(context["nav"])),
                _functions(self._env),
                self._built,
            )
            same = self._last_site == site
            self._site = self._last_site = self._last_site if same else site
        return self._site

    def _look_for_texts(self) -> None:
        """Check whether the templates that have been used read the texts of other pages."""
        assert self._env is not None
        assert self._env.loader is not None
        assert self.config is not None
        for _, name in list(self._env.cache or ()):
            if name in self._checked or name in self.config.theme.static_templates:
                continue
            self._checked.add(name)
            source, _, _ = self._env.loader.get_source(self._env, name)
            for read in _texts_read(self._env.parse(source)):
                self._sees_texts = self._sees_texts or f"{name} reads: {read}"


def _template_class(kept: KeptTemplates) -> type[jinja2.Template]:
    class KeptTemplate(jinja2.Template):
        """A template whose pages are kept."""

        def render(self, *args: Any, **kwargs: Any) -> str:
            """Render the template, or reuse the earlier result."""
            return kept.fill(dict(*args, **kwargs), super().render)

    return KeptTemplate


class Compiled(jinja2.BytecodeCache):
    """Templates compiled for other environments; Jinja checks whether they still apply."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket with its stored contents."""
        if bucket.key in self.known:
            bucket.bytecode_from_string(self.known[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Store the contents of a bucket."""
        self.known[bucket.key] = bucket.bytecode_to_string()


def made_light(
    get_env: Callable[[], jinja2.Environment], compiled: Compiled
) -> Callable[[], jinja2.Environment]:
    """Leave hidden files of a theme, such as thousands of icons, out of file listings.

    MkDocs lists all files to find those to copy, and it never copies hidden ones. It also makes
    several environments per build, which share compiled templates.
    """

    def get_lister() -> jinja2.Environment:
        env = get_env()
        env.bytecode_cache = compiled
        if isinstance(env.loader, jinja2.FileSystemLoader):
            env.loader.list_templates = partial(_listed, env.loader)  # type: ignore[method-assign]
        return env

    return get_lister


def _listed(loader: jinja2.FileSystemLoader) -> list[str]:
    found = set()
    for start in loader.searchpath:
        for place, folders, names in os.walk(start, followlinks=loader.followlinks):
            folders[:] = [one for one in folders if not one.startswith(".")]
            below = Path(place).relative_to(start).as_posix()
            found |= {name if below == "." else f"{below}/{name}" for name in names}
    return sorted(found)


def _texts_read(tree: nodes.Template) -> Iterator[str]:
    """Find what a template reads that no comparison covers."""
    for name in tree.find_all(nodes.Name):
        if name.name == "pages" and name.ctx == "load":
            yield name.name
    for one in tree.find_all((nodes.Getattr, nodes.Getitem)):
        assert isinstance(one, nodes.Getattr | nodes.Getitem)
        base = one.node
        read = one.attr if isinstance(one, nodes.Getattr) else _constant(one.arg)
        its_own = isinstance(base, nodes.Name) and base.name == "page"
        is_setting = isinstance(base, nodes.Getattr) and base.attr == "mdx_configs"
        if read in TEXTS and not its_own and not is_setting:
            yield str(read)


def _constant(node: nodes.Expr) -> Any:
    return node.value if isinstance(node, nodes.Const) else None


def _sources(config: MkDocsConfig) -> Any:
    """Return where templates come from, and the state of each of their files except icons."""
    found = []
    for folder in config.theme.dirs:
        for place, folders, names in os.walk(folder):
            if folder != config.theme.custom_dir:
                folders[:] = [one for one in folders if not one.startswith(".")]
            for name in names:
                if name.endswith((".html", ".svg", ".xml", ".mo", ".yml")):
                    status = os.stat(os.path.join(place, name))
                    found.append((place, name, status.st_mtime_ns, status.st_size))
    return tuple(config.theme.dirs), str(config.theme.locale), tuple(sorted(found))


def _functions(env: jinja2.Environment) -> Any:
    """Return the names of everything that templates can call.

    Raises:
        UnknownError: A plugin has added something with an unknown state.
    """
    given = {**env.filters, **env.tests, **env.globals}
    for name, one in given.items():
        module = f"{getattr(one, '__module__', type(one).__module__)}."
        if not module.startswith(OURS):
            raise UnknownError(f"{name!r}, which a plugin adds to templates")
    return tuple(sorted(given)), tuple(sorted(env.extensions))


def _settings(config: MkDocsConfig) -> dict[str, Any]:
    theme = config.theme
    extensions = config.markdown_extensions
    return {
        **{name: one for name, one in config.items() if name not in APART},
        "extensions": [one if isinstance(one, str) else type(one).__name__ for one in extensions],
        "plugins": {name: dict(getattr(one, "config", {})) for name, one in config.plugins.items()},
        "theme": {name: one for name, one in theme.items() if name != "locale"},
        "of theme": (theme.name, sorted(theme.static_templates)),
    }


def _items(items: Iterable[Any]) -> Iterator[Any]:
    """Yield what the navigation says about each of its items."""
    for item in items:
        if isinstance(item, Page):
            yield Page, item.title, _file(item), _apart(item, BODY)
        elif isinstance(item, Section):
            yield Section, item.title, tuple(_items(item.children))
        elif isinstance(item, Link):
            yield Link, item.title, item.url
        else:
            raise UnknownError(f"the item {item!r} of the navigation")


def _own(page: Page) -> Any:
    """Return what a template can see of its own page."""
    relatives = [page.previous_page, page.next_page, *page.ancestors]
    return (
        page.title,
        frozen(page.toc),
        _file(page),
        _apart(page, OWN),
        [one and (one.title, getattr(one, "url", None)) for one in relatives],
    )


def _apart(page: Page, left_out: set[str]) -> Any:
    rest = {name: one for name, one in vars(page).items() if name not in left_out | RELATIVES}
    return frozen(rest)


def _file(page: Page) -> Any:
    file = page.file
    return file.src_uri, file.dest_uri, file.url, file.edit_uri, file.generated_by, file.inclusion


def _rest(context: Mapping[str, Any]) -> Any:
    """Return everything else that a template can see, such as what plugins have added."""
    known = {"nav", "pages", "config", "page", "build_date_utc"}
    return frozen({name: one for name, one in context.items() if name not in known})
