"""Shows the value of a block's last expression, and its figures, as a notebook would."""

import io
import re
import sys
from typing import Any

from proofbook.model import Output


def show(value: Any, prefix: str) -> Output | None:
    """Show a value: for a page, as HTML, as a figure, or as its repr; `None` shows nothing.

    `_repr_page_()` returns the markup and its assets, file name to path; it goes before
    `_repr_html_()` because a page can share an asset between many views and a notebook cannot.
    """
    if value is None:
        return None
    kind = type(value)  # a class that has these methods is itself shown by its repr
    if hasattr(kind, "_repr_page_"):
        html, assets = value._repr_page_()
        return Output("html", html, {name: str(path) for name, path in assets.items()})
    if hasattr(kind, "_repr_html_") and (html := value._repr_html_()) is not None:
        return Output("html", html)
    figure = sys.modules.get("matplotlib.figure")
    if figure is not None and isinstance(value, figure.Figure):
        return Output("svg", _svg(value, prefix))
    return Output("text", repr(value).encode("utf-8", "backslashreplace").decode())


def show_figures(prefix: str, shown: Any = None) -> list[Output]:
    """Show and close pyplot's open figures, except the one that has been shown."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is None:
        return []
    figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
    outputs = [
        Output("svg", _svg(figure, f"{prefix}-{index}"))
        for index, figure in enumerate(figures)
        if figure is not shown
    ]
    pyplot.close("all")
    return outputs


def _svg(figure: Any, prefix: str) -> str:
    import matplotlib

    buffer = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": "proofbook"}):
        figure.savefig(buffer, format="svg", bbox_inches="tight", metadata={"Date": None})
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :]
    # Every figure calls its first axes `axes_1`; on one page each id needs a name of its own.
    return re.sub(r'( id="|href="#|url\(#)', rf"\g<1>{prefix}-", svg)
