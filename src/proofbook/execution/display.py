"""Show the value of a block's last expression, and its figures, as a notebook would."""

import io
import itertools
import os
import re
import sys
from collections.abc import Collection, Mapping
from typing import Any, Literal

from proofbook.execution import markup
from proofbook.execution.capture import Capture
from proofbook.model import Output
from proofbook.text import clipped, encodable, readable

# RDF metadata isn't HTML, and details finer than a hundredth of a point are invisible.
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
"""The media types that objects may offer, best first, and their methods."""


class Shown:
    """The outputs that a block shows, in order, with the text printed in between.

    Args:
        capture: Holds the printed text.
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
            prefix: Prefix of the ids in its pictures.
            prints: Whether it shows only text, as a doctest does.
        """
        self._prefix, self._prints = prefix, prints
        self._outputs, self._values = [], []
        self._numbers = itertools.count(1)

    def display(self, *values: object, **options: object) -> None:
        """Show values one by one; where only text is shown, print them, as IPython does.

        Raises:
            TypeError: Options were given; a page can't update what it has shown.
        """
        for name in options:
            raise TypeError(f"display() on a page takes only values, not {name}=")
        if self._prints:
            print(*values)
            return
        for value in values:
            self._take_printed()
            shown = show_value(value, f"{self._prefix}-d{next(self._numbers)}")
            self._take_printed()  # printed by its repr
            self._outputs.append(shown)
            self._values.append(value)

    def end(self, value: object) -> bool:
        """Show a block's last value; return whether it is shown as text."""
        shown = show(value, self._prefix, {id(value) for value in self._values})
        self._take_printed()
        self._outputs += shown
        return value is not None and shown[0].kind == "text"

    def take(self) -> list[Output]:
        """Return everything that was shown; later output belongs to no block."""
        self._take_printed()
        self._prints, self._values = True, []
        return self._outputs

    def _take_printed(self) -> None:
        if text := self._capture.take():
            self._outputs.append(Output("stdout", text))


def show(value: Any, prefix: str, displayed: Collection[int] = ()) -> list[Output]:
    """Show a value, then pyplot's open figures, and close them.

    Args:
        value: A block's last value, shown as markup, a figure, or its repr; `None` is not shown.
        prefix: Prefix of the ids in figures, different for each block of a page.
        displayed: The ids of the objects that the block has already shown.
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
        ValueError: One of its methods returned something that no page can show.
    """
    kind = type(value)  # a class with such methods is itself shown by its repr
    if hasattr(kind, "_repr_page_"):
        # The first choice, since many views on a page can share an asset; a notebook can't do that.
        html, assets = value._repr_page_()
        files = {name: os.path.abspath(path) for name, path in assets.items()}
        return Output("html", encodable(html), files, _plain(value))
    figure = sys.modules.get("matplotlib.figure")
    given, about, said = _richest(value)
    if given is not None:
        return _rich(given, about, said or _plain(value), prefix)
    if figure is not None and isinstance(value, figure.Figure):
        return Output("svg", _svg(value, prefix))
    return Output("text", clipped(readable(said or repr(value))))


def _richest(value: Any) -> tuple[tuple[str, Any] | None, Mapping[str, Any], str]:
    """Return a value's richest form with its media type, its metadata, and its plain text."""
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


def _plain(value: Any) -> str:
    """Return the repr of a value shown as markup, without memory addresses.

    The default repr is reduced to the name of the type.
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
            image.set_interpolation("none")  # one pixel per number; the browser enlarges them
    with matplotlib.rc_context({"svg.hashsalt": "proofbook"}):
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    svg = buffer.getvalue()
    svg = _METADATA.sub("", svg[svg.index("<svg") :])
    svg = _COORDINATES.sub(lambda drawn: _FRACTION.sub(r"\1", drawn[0]), svg)
    # Every figure calls its first axes `axes_1`; on a page, each id must be unique.
    return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
