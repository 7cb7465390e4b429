"""Render the Markdown and TeX that blocks return as the book renders its own."""

from collections.abc import Mapping
from html import escape
from typing import Any

from markdown import Markdown

from proofbook.coverage.coverage import FORMULAS
from proofbook.execution.markup import with_own_ids
from proofbook.model import Output
from proofbook.settings import Settings

CONTENTS = ("toc", "markdown.extensions.toc")


def rich_text(output: Output, settings: Settings, prefix: str) -> str:
    """Return the HTML of an output that is Markdown or TeX.

    TeX is shown as code if the book has no formulas, or if their converter can't read it.

    Args:
        output: The output.
        settings: The book.
        prefix: The beginning of its ids.
    """
    formulas = [name for name in settings.extensions if name in FORMULAS]
    names = [name for name in settings.extensions if name not in CONTENTS]
    if output.kind == "latex":
        names = formulas
    if names:
        md = Markdown(extensions=names, extension_configs=_options(settings))
        try:
            return with_own_ids(md.convert(output.data), prefix)
        except ValueError:  # an object may return TeX that the converter rejects
            pass
    return f'<pre tabindex="0"><code>{escape(output.data)}</code></pre>'


def _options(settings: Settings) -> dict[str, Mapping[str, Any]]:
    """Return the options of the book's extensions; symbols are explained only in its own prose."""
    options = {name: dict(given) for name, given in settings.configs.items()}
    options.get("proofbook.maths", {}).pop("symbols", None)
    return options  # type: ignore[return-value]
