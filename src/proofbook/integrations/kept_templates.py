"""Templates as they were filled in at the last build, used again where nothing in them is new.

A template can read all of the site. What it can see of other pages is what the navigation says of
them; one that reads their texts too is filled in anew each time.
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
"""What a template may read of its own page alone."""
RELATIVES = {"children", "parent", "previous_page", "next_page", "render"}
OWN = {"file", "toc", "links_to_anchors", "present_anchor_ids"}
BODY = OWN | {"markdown", "content", "_title_from_render", "_Page__active"}
APART = {
    *("plugins", "theme", "markdown_extensions", "hooks", "watch", "site_dir", "dev_addr"),
    *("exclude_docs", "draft_docs", "not_in_nav"),  # which files there are, the navigation says
}
Fill = Callable[[Mapping[str, Any]], str]


class KeptTemplates:
    """The pages of the last build, in their templates; and the templates, ready to be filled in.

    Attributes:
        config: The site that is built.
    """

    def __init__(self, say: Once) -> None:
        self.say = say
        self.config: MkDocsConfig | None = None
        self._kept: dict[str, tuple[Any, str]] = {}
        self._state: Any = None
        self._env: jinja2.Environment | None = None
        self._site: Any = None  # what all templates of this build see, once one has asked
        self._last_site: Any = None
        self._built: Any = None
        self._checked: set[str] = set()
        self._sees_texts = ""

    def begin(self, env: jinja2.Environment, config: MkDocsConfig) -> jinja2.Environment:
        """Return the environment of the last build, unless it would give other templates."""
        self.config = config
        self._site = None
        try:
            state = _sources(config), _functions(env)
            if self._env is not None:  # constants are filtered when a template is compiled
                _functions(self._env)
        except UnknownError as unknown:
            self.say(f"templates are filled in anew at each edit, as nobody knows {unknown}")
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
        """Compare the site again: a page of it has been read again since."""
        self._site = None

    def fill(self, context: dict[str, Any], fill: Fill) -> str:
        """Fill a page into its template, or reuse the result of the last build."""
        if self._built is None:
            self._built = context.get("build_date_utc")
        context["build_date_utc"] = self._built  # a session has one time, as the ledger has
        page = context.get("page")
        if page is None or self._env is None:
            return fill(context)
        try:
            given = self._seen(context), _own(page), _rest(context)
        except UnknownError as unknown:
            self.say(f"templates are filled in anew at each edit, as nobody knows {unknown}")
            return fill(context)
        name = page.file.src_uri
        known, html = self._kept.get(name, (None, ""))
        if known != given:
            html = fill(context)
            self._kept[name] = given, html
        return html

    def forget(self, names: set[str]) -> None:
        """Forget the pages that are no longer there."""
        self._kept = {name: one for name, one in self._kept.items() if name in names}

    def _seen(self, context: Mapping[str, Any]) -> Any:
        """Return what every template of this build can see."""
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
        """Look whether the templates that have been used read the texts of other pages."""
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
            """Fill the template in, or reuse the earlier result."""
            return kept.fill(dict(*args, **kwargs), super().render)

    return KeptTemplate


class Compiled(jinja2.BytecodeCache):
    """Templates that have been compiled for another environment; jinja2 sees whether they fit."""

    def __init__(self) -> None:
        self.known: dict[str, bytes] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Fill a bucket with what is known."""
        if bucket.key in self.known:
            bucket.bytecode_from_string(self.known[bucket.key])

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Remember what is in a bucket."""
        self.known[bucket.key] = bucket.bytecode_to_string()


def made_light(
    get_env: Callable[[], jinja2.Environment], compiled: Compiled
) -> Callable[[], jinja2.Environment]:
    """Have hidden files of a theme, such as thousands of icons, left out where files are listed.

    MkDocs lists all of them to find those to be copied, of which these are none. It makes several
    environments for each build, too, and no template need be compiled for each.
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
    """Find what a template reads that isn't compared."""
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
    """Return where templates come from, and the state of each of their files but icons."""
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
    """Return the names of what templates can call.

    Raises:
        UnknownError: A plugin has added something with an unknown state.
    """
    given = {**env.filters, **env.tests, **env.globals}
    for name, one in given.items():
        module = f"{getattr(one, '__module__', type(one).__module__)}."
        if not module.startswith(OURS):
            raise UnknownError(f"the state of {name!r}, which a plugin gives to templates")
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
    """Return what the navigation says of each of its items."""
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
    """Return what else is in sight of a template, such as what plugins have added."""
    known = {"nav", "pages", "config", "page", "build_date_utc"}
    return frozen({name: one for name, one in context.items() if name not in known})
