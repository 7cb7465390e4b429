"""Pages as Markdown converted them at the last build, used again where nothing they show is new.

A conversion is compared by what it is given (the text, the extensions and their settings, the files
that links can lead to, the checked page) and by what others answer it: where an asset is served,
what a shown source is called. Those are asked again, in the same order, which also makes them do
again whatever they do when they are asked.
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
READING = ("pymdownx.snippets", "pymdownx.b64", "pymdownx.pathconverter")  # other files

Question = tuple[str, tuple[Any, ...], Any]
"""Where a conversion asked, what it asked, and the answer."""


@runtime_checkable
class Declared(Protocol):
    """A Markdown extension that says what its work on a page depends on, besides the text."""

    def depends_on(self) -> Any:
        """Return something that is equal to what it was where the extension does the same."""


class Asking:
    """Passes on the questions of a conversion, and notes what was answered."""

    def __init__(self, doors: Mapping[str, Callable[..., Any]]) -> None:
        self.doors = doors
        self.asked: list[Question] = []

    def through(self, name: str) -> Callable[..., Any]:
        """Return the function that asks through one of the doors."""

        def ask(*question: Any) -> Any:
            answer = self.doors[name](*question)
            self.asked.append((name, question, answer))
            return answer

        return ask

    def is_answered_alike(self, asked: Sequence[Question]) -> bool:
        """Ask the same questions again; tell whether all answers are the same."""
        return all(self.doors[name](*question) == answer for name, question, answer in asked)


@dataclass(frozen=True)
class Conversion:
    """What a page was converted from, and what the conversion left on it."""

    given: Any
    text: str
    checked: Checked | None
    asked: list[Question]
    left: dict[str, Any]


class Listener(logging.Handler):
    """Hears whether anything was logged: what is kept would not say it again."""

    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.heard = False

    def emit(self, record: logging.LogRecord) -> None:
        """Note that something was said."""
        self.heard = True


class KeptPages:
    """The conversions of the last build."""

    def __init__(self, say: Once) -> None:
        self.say = say
        self._kept: dict[str, Conversion] = {}
        self._site: Any = None  # what all pages of a build are given, and what that was made from
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
            files: What its links can lead to.
            renderer: What shows its blocks and claims.
            asking: Through which that asks others.
            convert: Converts the page.
            found: The problems that a conversion adds to; with any, nothing is kept.
        """
        name = page.file.src_uri
        try:
            given = self._given(page, config, files, renderer)
        except UnknownError as unknown:
            self.say(
                f"pages are converted anew at each edit, as nobody knows the state of {unknown}"
            )
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
        """Forget the pages that are no longer there."""
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
        """Return what each page is given; one object as long as that is the same."""
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
    """Return what an extension does, to be compared.

    Raises:
        UnknownError: It may do anything.
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
    """Return the symbols that explain the formulas of a book."""
    name = config.mdx_configs.get("proofbook.maths", {}).get("symbols")
    if not name:
        return None
    file = Path(config.docs_dir, name)
    try:
        return list(read_table(file, name, file.stat().st_mtime_ns).known.items())
    except (OSError, ValueError) as error:
        raise UnknownError(f"the table of symbols: {error}") from error


def _still_holds(kept: Conversion, renderer: PageRenderer, asking: Asking) -> bool:
    """Tell whether a page has passed as before, and whether those it asked say the same."""
    if kept.checked is not None:
        renderer.open(kept.text)
        if not _same(kept.checked, renderer.known):
            return False
    return asking.is_answered_alike(kept.asked)


def _same(one: Checked, other: Checked) -> bool:
    """Compare all that a page shows of its run: not how long it took, nor whether it was kept."""

    def seen(run: Run) -> Run:
        return replace(run, cached=False, unkept=(), seconds=0.0)

    return (
        one.page == other.page
        and one.problems == other.problems
        and one.sources == other.sources
        and seen(one.run) == seen(other.run)
    )


def _left(before: dict[str, Any], page: Page) -> dict[str, Any]:
    """Return what a conversion has set on a page."""
    after = vars(page)
    left = {
        name: one for name, one in after.items() if name not in before or before[name] is not one
    }
    if "toc" in left:
        left["toc"] = copied(page.toc)
    if "links_to_anchors" in left:  # by file, and the next build has other files
        links = page.links_to_anchors or {}
        left["links_to_anchors"] = {file.src_uri: dict(one) for file, one in links.items()}
    return left


def _leave(left: dict[str, Any], page: Page, files: Files) -> None:
    """Set on a page what its conversion would."""
    vars(page).update(left)
    if "toc" in left:
        page.toc = copied(left["toc"])
    if "links_to_anchors" in left:
        found = {
            files.get_file_from_path(name): one for name, one in left["links_to_anchors"].items()
        }
        page.links_to_anchors = {file: dict(one) for file, one in found.items() if file}
