"""Hook into Python-Markdown: insert marks before it reads the fences, and a foot at the end.

A `Renderer` decides what replaces the marks: one collects a page's contents, another shows them.
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, Protocol
from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from pymdownx.superfences import SuperFencesCodeExtension, SuperFencesException

from proofbook.parsing.fences import LANGUAGES
from proofbook.parsing.source import Marks, SourceText
from proofbook.settings import REQUIRED_EXTENSIONS

FENCES = "fenced_code_block"
TAG = "proofbook"

_converting: ContextVar[Markdown | None] = ContextVar("_converting", default=None)
"""The conversion in progress; any other that begins before it ends is nested in it."""


class Renderer(Protocol):
    """Decides what each fence, each claim, and the ends of a page become."""

    @property
    def stray(self) -> Callable[[str], str] | None:
        """The function for fences missing from the source; `None` leaves them unchanged."""

    def open(self, text: str) -> SourceText:
        """Begin a page; return its source."""

    def has_fence(self, index: int) -> bool:
        """Return whether the page shows the n-th fence as a fence."""

    def fence(self, index: int, md: Markdown) -> str:
        """Return the HTML of the n-th fence."""

    def claim(self, index: int) -> Marks | None:
        """Return the Markdown before, in place of, and after the n-th claim's target."""

    def fact(self, index: int) -> tuple[str, str]:
        """Return the Markdown before and after the phrase of the n-th fact."""

    def ends(self) -> tuple[str, str]:
        """Return the HTML at the beginning and at the end of the page."""


class MarkingExtension(Extension):
    """Inserts into a page what a renderer returns.

    A text that is converted while a page is being converted, such as a docstring or the source of a
    block, is left alone.
    """

    def __init__(self, **options: Any) -> None:
        self.renderer: Renderer | None = None
        super().__init__(**options)

    def use(self, renderer: Renderer) -> None:
        """Show pages with this renderer."""
        self.renderer = renderer

    def begin(self) -> Renderer | None:
        """Return the renderer for a new conversion, or `None` to leave its text alone."""
        return self.renderer

    def pass_by(self, text: str) -> None:
        """Take note of a text that is converted within a page; by default, do nothing."""

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the processors, SuperFences, and the other required extensions."""
        md.registerExtension(self)
        present = {type(extension).__module__ for extension in md.registeredExtensions}
        for name in REQUIRED_EXTENSIONS:
            if name not in present and f"markdown.extensions.{name}" not in present:
                md.registerExtensions([name], {})
        marker = _Marker(md, self)
        md.preprocessors.register(marker, TAG, 25.5)
        md.treeprocessors.register(_Foot(md, marker), TAG, -10)
        md.convert = marker.around(md.convert)  # type: ignore[method-assign]


def renderer_of(md: Markdown) -> Renderer | None:
    """Return the renderer of the current conversion; `None` if its text is left alone."""
    marker = md.preprocessors[TAG] if TAG in md.preprocessors else None  # noqa: SIM401
    return marker.renderer if isinstance(marker, _Marker) else None


class _Marker(Preprocessor):
    def __init__(self, md: Markdown, marking: MarkingExtension) -> None:
        super().__init__(md)
        self.marking = marking
        self.renderer: Renderer | None = None
        self.ready: SuperFencesCodeExtension | None = None

    def around(self, convert: Callable[[str], str]) -> Callable[[str], str]:
        """Wrap a conversion to provide a renderer until it ends, even if it fails."""

        def converted(source: str) -> str:
            if _converting.get() is not None:
                self.marking.pass_by(source)
                return convert(source)
            under_way = _converting.set(self.md)
            try:
                self.renderer = self.marking.begin()
                return convert(source)
            finally:
                self.renderer = None
                _converting.reset(under_way)

        return converted

    def run(self, lines: list[str]) -> list[str]:
        """Tag each fence with its number and surround each claim with its marks."""
        renderer = self.renderer
        if renderer is None:
            return lines
        self._take_fences()
        source = renderer.open("\n".join(lines))

        def header(index: int) -> str | None:
            language = source.fences[index].language
            return f'{language} {TAG}="{index}"' if renderer.has_fence(index) else None

        def marks(index: int) -> Marks | None:
            found = renderer.claim(index)
            if found is None:
                return None
            before, target, after = found
            return before and store(before), target, after and store(after)

        def phrase(index: int) -> tuple[str, str]:
            before, after = renderer.fact(index)
            return before and store(before), after and store(after)

        store = self.md.htmlStash.store
        return source.marked(header, marks, phrase).split("\n")

    def _take_fences(self) -> None:
        """Make the SuperFences instance that was registered last ask us first."""
        superfences = self.md.preprocessors[FENCES].extension  # type: ignore[attr-defined]
        if superfences is self.ready:
            return
        for language in LANGUAGES:
            superfences.extend_super_fences(language, self._format, self._validate, None)
        self.ready = superfences

    def _validate(
        self, language: str, inputs: dict[str, str], options: dict[str, Any], *_: Any
    ) -> bool:
        if self.renderer is None:
            return False
        options[TAG] = inputs.get(TAG)
        return options[TAG] is not None or self.renderer.stray is not None

    def _format(
        self, src: str, language: str, options: dict[str, Any], md: Markdown, **_: Any
    ) -> str:
        renderer = self.renderer
        assert renderer is not None
        try:
            if options[TAG] is None and renderer.stray is not None:
                return renderer.stray(src)
            return renderer.fence(int(options[TAG]), md)
        except Exception as error:  # SuperFences would swallow it and print the fence as prose
            raise SuperFencesException(f"{type(error).__name__}: {error}") from error


class _Foot(Treeprocessor):
    def __init__(self, md: Markdown, marker: _Marker) -> None:
        super().__init__(md)
        self.marker = marker

    def run(self, root: Element) -> None:
        """Add the two ends of the page."""
        renderer = self.marker.renderer
        if renderer is None:
            return
        head, foot = renderer.ends()
        for html, place in ((head, 0), (foot, len(root) + 1)):
            if html and self.md is not None:
                end = Element("div", {"class": "proofbook-end", "data-search-exclude": ""})
                end.text = self.md.htmlStash.store(html)
                root.insert(place, end)
