"""Shows the value of a block's last expression, and its figures, as a notebook would."""

import io
import os
import re
import sys
from typing import Any

from proofbook.model import Output
from proofbook.text import clipped, encodable, readable

# RDF about the file is no HTML, and what is finer than a hundredth of a point cannot be seen.
_METADATA = re.compile(r"<metadata>.*?</metadata>\s*", re.DOTALL)
_COORDINATES = re.compile(r' (?:d|points)="[^"]*"')
_FRACTION = re.compile(r"(\d\.\d\d)\d+")


def show(value: Any, prefix: str) -> list[Output]:
    """Show a value, then pyplot's open figures, which are closed.

    Args:
        value: What a block ends with: shown as markup, as a figure, or as its repr; `None` not.
        prefix: What the ids of figures begin with, different for each block of a page.
    """
    figures = _open_figures()
    try:
        shown = [] if value is None else [_show_value(value, prefix)]
        for number, figure in enumerate(figures, start=1):
            if figure is not value:
                shown.append(Output("svg", _svg(figure, f"{prefix}-{number}")))
    finally:
        if figures:
            sys.modules["matplotlib.pyplot"].close("all")
    return shown


def _show_value(value: Any, prefix: str) -> Output:
    kind = type(value)  # a class that has these methods is itself shown by its repr
    if hasattr(kind, "_repr_page_"):
        # Before `_repr_html_`: a page can share an asset between many views, a notebook cannot.
        html, assets = value._repr_page_()
        files = {name: os.path.abspath(path) for name, path in assets.items()}
        return Output("html", encodable(html), files, _plain(value))
    if hasattr(kind, "_repr_html_") and (html := value._repr_html_()) is not None:
        return Output("html", encodable(html), plain=_plain(value))
    figure = sys.modules.get("matplotlib.figure")
    if figure is not None and isinstance(value, figure.Figure):
        return Output("svg", _svg(value, prefix))
    return Output("text", clipped(readable(repr(value))))


def _plain(value: Any) -> str:
    """Return the repr of what is shown as markup.

    One that would be an address in memory is a name.
    """
    kind = type(value)
    if kind.__repr__ is object.__repr__:
        return f"<{kind.__name__}>"
    return clipped(readable(repr(value)))


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
