"""Shows the value of a block's last expression, and its figures, as a notebook would."""

import io
import itertools
import os
import re
import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any, Literal

from proofbook.execution import markup
from proofbook.execution.capture import Capture
from proofbook.execution.requests_made import asked_by
from proofbook.execution.showing import How, how_to_print
from proofbook.model import Output
from proofbook.text import clipped, encodable, readable

# RDF about the file is no HTML, and what is finer than a hundredth of a point cannot be seen.
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_COORDINATES = re.compile(r' (?:d|points)="[^"]*"')
_FRACTION = re.compile(r"(\d\.\d\d)\d+")

ADDRESS = re.compile(r" at 0x[0-9A-Fa-f]+")
REPRS = {
    "text/html": "_repr_html_",
    "image/svg+xml": "_repr_svg_",
    "image/png": "_repr_png_",
    "image/jpeg": "_repr_jpeg_",
    "text/markdown": "_repr_markdown_",
    "text/latex": "_repr_latex_",
}
"""The media types that objects may offer, the best first, and their methods."""


class Shown:
    """What a block shows, in the order in which it shows it, with what it prints in between.

    Args:
        capture: Holds what is printed.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self._prefix = ""
        self._prints = True
        self._outputs: list[Output] = []
        self._values: list[object] = []
        self._numbers = itertools.count(1)

    def begin(self, prefix: str, *, prints: bool) -> None:
        """Begin a block.

        Args:
            prefix: What the ids in its pictures begin with.
            prints: Whether it shows text alone, as a doctest does.
        """
        self._prefix, self._prints = prefix, prints
        self._outputs, self._values = [], []
        self._numbers = itertools.count(1)

    def display(self, *values: object, **options: object) -> None:
        """Show values, one after the other; print them where text alone is shown, as IPython's.

        Raises:
            TypeError: If it is given options: nothing on a page changes once it is shown.
        """
        for name in options:
            raise TypeError(f"display() on a page takes only values, not {name}=")
        if self._prints:
            print(*values)
            return
        for value in values:
            self._take_printed()
            shown = show_value(value, f"{self._prefix}-d{next(self._numbers)}")
            self._take_printed()  # by its repr
            self._outputs.append(shown)
            self._values.append(value)

    def end(self, value: object) -> How | None:
        """Show what a block ends with; say how a program shows it."""
        shown = show(value, self._prefix, {id(value) for value in self._values})
        self._take_printed()
        self._outputs += shown
        if value is None:
            return None
        return how_to_print(value, shown[0].data) if shown[0].kind == "text" else "display"

    def take(self) -> list[Output]:
        """Return all that was shown; what comes now is no block's."""
        self._take_printed()
        self._prints, self._values = True, []
        return self._outputs

    def _take_printed(self) -> None:
        if text := self._capture.take():
            self._outputs.append(Output("stdout", text))


def show(value: Any, prefix: str, displayed: Collection[int] = ()) -> list[Output]:
    """Show a value, then pyplot's open figures, which are closed.

    Args:
        value: What a block ends with: shown as markup, as a figure, or as its repr; `None` not.
        prefix: What the ids of figures begin with, different for each block of a page.
        displayed: The identities of what the block has shown already.
    """
    figures = _open_figures()
    try:
        shown = [] if value is None else [show_value(value, prefix)]
        for number, figure in enumerate(figures, start=1):
            if figure is not value and id(figure) not in displayed:
                shown.append(Output("svg", _svg(figure, f"{prefix}-{number}")))
    finally:
        if figures:
            sys.modules["matplotlib.pyplot"].close("all")
    return shown


def show_value(value: Any, prefix: str) -> Output:
    """Show a value in its richest form, in Jupyter's order of preference.

    Raises:
        ValueError: If it returns something no page can show.
    """
    kind = type(value)  # a class that has these methods is itself shown by its repr
    if hasattr(kind, "_repr_page_"):
        # Before all others: a page can share an asset between many views, a notebook cannot.
        html, assets = value._repr_page_()
        files = {name: os.path.abspath(path) for name, path in assets.items()}
        return _asking(Output("html", encodable(html), files, _plain(value)))
    figure = sys.modules.get("matplotlib.figure")
    given, about, said = _richest(value)
    if given is not None:
        return _asking(_rich(given, about, said or _plain(value), prefix))
    if figure is not None and isinstance(value, figure.Figure):
        return Output("svg", _svg(value, prefix))
    return Output("text", clipped(readable(said or repr(value))))


def _richest(value: Any) -> tuple[tuple[str, Any] | None, Mapping[str, Any], str]:
    """Return a value's best form with its media type; its metadata; its text."""
    said = ""
    if hasattr(type(value), "_repr_mimebundle_"):
        given = value._repr_mimebundle_(include=None, exclude=None)
        bundle, about = given if isinstance(given, tuple) else (given, {})
        said = str((bundle or {}).get("text/plain", ""))
        for media in REPRS:
            if (bundle or {}).get(media) is not None:
                return (media, bundle[media]), about.get(media, {}), said
    for media, method in REPRS.items():
        given = getattr(value, method)() if hasattr(type(value), method) else None
        data, about = given if isinstance(given, tuple) else (given, {})
        if data is not None:
            return (media, data), about or {}, said
    return None, {}, said


def _rich(given: tuple[str, Any], about: Mapping[str, Any], text: str, prefix: str) -> Output:
    media, data = given
    text = clipped(readable(text))
    if media.startswith("image/") and media != "image/svg+xml":
        return Output("image", markup.image(data, media, about, text), plain=text)
    data = encodable("".join(data) if isinstance(data, list) else str(data))
    if media == "image/svg+xml":
        return Output("svg", markup.own_svg(data, prefix), plain=text)
    kinds: dict[str, Literal["html", "markdown", "latex"]] = {
        "text/html": "html",
        "text/markdown": "markdown",
        "text/latex": "latex",
    }
    return Output(kinds[media], data, plain=text)


def _asking(output: Output) -> Output:
    """Add what a browser would load from other hosts."""
    html = output.data
    if output.kind == "markdown":
        from markdown import markdown  # a page that shows none does without

        html = markdown(html, extensions=["attr_list", "fenced_code", "md_in_html", "tables"])
    return replace(output, asks=asked_by(html) if output.kind != "latex" else ())


def _plain(value: Any) -> str:
    """Return the repr of what is shown as markup, without addresses in memory.

    One that would be nothing else is a name.
    """
    kind = type(value)
    if kind.__repr__ is object.__repr__:
        return f"<{kind.__name__}>"
    return ADDRESS.sub("", clipped(readable(repr(value))))


def _open_figures() -> list[Any]:
    pyplot = sys.modules.get("matplotlib.pyplot")
    return [pyplot.figure(number) for number in pyplot.get_fignums()] if pyplot else []


def _svg(figure: Any, prefix: str) -> str:
    import matplotlib

    buffer = io.StringIO()
    for image in figure.findobj(matplotlib.image.AxesImage):
        if image.get_interpolation() in ("auto", "antialiased"):
            image.set_interpolation("none")  # one pixel a number; the browser enlarges them
    with matplotlib.rc_context({"svg.hashsalt": "proofbook"}):
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    svg = buffer.getvalue()
    svg = _METADATA.sub("", svg[svg.index("<svg") :])
    svg = _COORDINATES.sub(lambda drawn: _FRACTION.sub(r"\1", drawn[0]), svg)
    # Every figure calls its first axes `axes_1`; on one page each id needs a name of its own.
    return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
