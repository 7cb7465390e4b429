"""Page conversions of the last build, reused for pages on which nothing has changed.

A conversion is reused if it would have the same inputs (the text, the extensions and their
settings, the files that links can point to, the checked page) and get the same answers from others,
such as where an asset is served or how a shown source is captioned. Those questions are asked
again, in the same order, which also repeats their side effects.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_not
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files
from mkdocs.structure.pages import Page

from proofbook.checking.book import Checked
from proofbook.integrations.kept import Once, UnknownError, copied, frozen
from proofbook.maths.explain import read_table
from proofbook.model import Run
from proofbook.rendering.page_renderer import PageRenderer

STANDARD = {
    *("abbr", "admonition", "attr_list", "codehilite", "def_list", "extra", "fenced_code"),
    *("footnotes", "legacy_attrs", "legacy_em", "md_in_html", "meta", "nl2br", "sane_lists"),
    *("smarty", "tables", "toc", "wikilinks"),
}
FAMILIES = ("markdown.extensions.", "pymdownx.", "proofbook.maths")
READING = ("pymdownx.snippets", "pymdownx.b64", "pymdownx.pathconverter")  # they read other files

Question = tuple[str, tuple[Any, ...], Any]
"""The name of the function that a conversion asked, the arguments, and the answer."""


@runtime_checkable
class Declared(Protocol):
    """A Markdown extension that reports what its output depends on, besides the text."""

    def depends_on(self) -> Any:
        """Return a value that stays equal as long as the extension works the same way."""


class Asking:
    """A recorder of a conversion's questions to other functions, with their answers.

    Args:
        doors: The functions that can be asked, by name.
    """

    def __init__(self, doors: Mapping[str, Callable[..., Any]]) -> None:
        self.doors = doors
        self.asked: list[Question] = []

    def through(self, name: str) -> Callable[..., Any]:
        """Return a function that asks the named one and records the answer."""

        def ask(*question: Any) -> Any:
            answer = self.doors[name](*question)
            self.asked.append((name, question, answer))
            return answer

        return ask

    def is_answered_alike(self, asked: Sequence[Question]) -> bool:
        """Ask the same questions again; return whether all answers are the same."""
        return all(self.doors[name](*question) == answer for name, question, answer in asked)


@dataclass(frozen=True)
class Conversion:
    """The inputs of a page's conversion, and the attributes that it set on the page."""

    given: Any
    text: str
    checked: Checked | None
    asked: list[Question]
    left: dict[str, Any]


class Listener(logging.Handler):
    """A handler that notes whether anything was logged; a reused page wouldn't log it again."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.heard = False

    def emit(self, record: logging.LogRecord) -> None:
        """Record that something was logged."""
        self.heard = True


class KeptPages:
    """The conversions of the last build."""

    def __init__(self, say: Once) -> None:
        self.say = say
        self._kept: dict[str, Conversion] = {}
        self._site: Any = None  # the inputs that all pages share, and their origin
        self._made_from: Any = ((), -1)

    def convert(
        self,
        page: Page,
        config: MkDocsConfig,
        files: Files,
        renderer: PageRenderer,
        asking: Asking,
        convert: Callable[[], None],
        found: Sequence[Any],
    ) -> None:
        """Convert a page, or reuse its last conversion.

        Args:
            page: The page, as read.
            config: Its site, with the extensions that convert it.
            files: The files that its links can point to.
            renderer: Shows its blocks and claims.
            asking: Passes on the questions that the renderer asks others.
            convert: Converts the page.
            found: The list of problems; if the conversion adds to it, nothing is kept.
        """
        name = page.file.src_uri
        try:
            given = self._given(page, config, files, renderer)
        except UnknownError as unknown:
            self.say(f"each edit converts all pages again; cannot compare {unknown}")
            convert()
            return
        kept = self._kept.pop(name, None)
        if kept and kept.given == given and _still_holds(kept, renderer, asking):
            _leave(kept.left, page, files)
            self._kept[name] = kept
            return
        before, problems, listener = dict(vars(page)), len(found), Listener()
        logger = logging.getLogger("mkdocs")
        logger.addHandler(listener)
        try:
            convert()
        finally:
            logger.removeHandler(listener)
        if not listener.heard and len(found) == problems:
            left = _left(before, page)
            self._kept[name] = Conversion(
                given, renderer.text, renderer.checked, list(asking.asked), left
            )

    def forget(self, names: set[str]) -> None:
        """Forget pages that no longer exist."""
        self._kept = {name: one for name, one in self._kept.items() if name in names}

    def _given(
        self, page: Page, config: MkDocsConfig, files: Files, renderer: PageRenderer
    ) -> tuple[Any, ...]:
        file = page.file
        return (
            page.markdown,
            (file.src_uri, file.url, file.inclusion, config.use_directory_urls),
            [_state(extension, renderer) for extension in config.markdown_extensions],
            self._given_all(config, files, renderer),
            renderer.book.settings,
        )

    def _given_all(self, config: MkDocsConfig, files: Files, renderer: PageRenderer) -> Any:
        """Return the inputs that all pages share; the same object until an input changes."""
        made_from = files, config.mdx_configs, renderer.about
        known, count = self._made_from
        if count != len(files) or any(map(is_not, made_from, known)):
            site = (
                frozen(config.mdx_configs),
                frozen(config.validation),
                {one.src_uri: (one.url, one.inclusion) for one in files},
                frozen(renderer.about),
                _symbols(config),
            )
            self._made_from = made_from, len(files)
            self._site = self._site if self._site == site else site
        return self._site


def _state(extension: Any, renderer: PageRenderer) -> Any:
    """Return a value that identifies what an extension does, for comparison.

    Raises:
        UnknownError: The extension may do anything.
    """
    if isinstance(extension, str):
        name = extension.partition(":")[0]
        if name in STANDARD or (name.startswith(FAMILIES) and not name.startswith(READING)):
            return extension
        raise UnknownError(f"the Markdown extension {extension}")
    if getattr(extension, "renderer", None) is renderer:
        return "proofbook"
    if isinstance(extension, Declared):
        return type(extension), extension.depends_on()
    raise UnknownError(f"the Markdown extension {type(extension).__qualname__}")


def _symbols(config: MkDocsConfig) -> Any:
    """Return the symbols that explain a book's formulas."""
    name = config.mdx_configs.get("proofbook.maths", {}).get("symbols")
    if not name:
        return None
    file = Path(config.docs_dir, name)
    try:
        return list(read_table(file, name, file.stat().st_mtime_ns).known.items())
    except (OSError, ValueError) as error:
        raise UnknownError(f"the table of symbols: {error}") from error


def _still_holds(kept: Conversion, renderer: PageRenderer, asking: Asking) -> bool:
    """Return whether a page is checked as before and its questions get the same answers."""
    if kept.checked is not None:
        renderer.open(kept.text)
        if not _same(kept.checked, renderer.known):
            return False
    return asking.is_answered_alike(kept.asked)


def _same(one: Checked, other: Checked) -> bool:
    """Compare what pages show of their runs, ignoring how long they took and caching."""

    def seen(run: Run) -> Run:
        return replace(run, cached=False, unkept=(), seconds=0.0)

    return (
        one.page == other.page
        and one.problems == other.problems
        and one.sources == other.sources
        and seen(one.run) == seen(other.run)
    )


def _left(before: dict[str, Any], page: Page) -> dict[str, Any]:
    """Return the attributes that a conversion has set on a page."""
    after = vars(page)
    left = {
        name: one for name, one in after.items() if name not in before or before[name] is not one
    }
    if "toc" in left:
        left["toc"] = copied(page.toc)
    if "links_to_anchors" in left:  # its keys are file objects, which the next build recreates
        links = page.links_to_anchors or {}
        left["links_to_anchors"] = {file.src_uri: dict(one) for file, one in links.items()}
    return left


def _leave(left: dict[str, Any], page: Page, files: Files) -> None:
    """Set the attributes on a page that its conversion would set."""
    vars(page).update(left)
    if "toc" in left:
        page.toc = copied(left["toc"])
    if "links_to_anchors" in left:
        found = {
            files.get_file_from_path(name): one for name, one in left["links_to_anchors"].items()
        }
        page.links_to_anchors = {file: dict(one) for file, one in found.items() if file}
