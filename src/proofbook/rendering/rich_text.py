"""Render a block's Markdown and TeX as the book renders its own."""

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

    TeX is shown as code where the book has no formulas, and where its converter cannot read it.

    Args:
        output: The output.
        settings: The book.
        prefix: What ids in it begin with.
    """
    formulas = [name for name in settings.extensions if name in FORMULAS]
    names = [name for name in settings.extensions if name not in CONTENTS]
    if output.kind == "latex":
        names = formulas
    if names:
        md = Markdown(extensions=names, extension_configs=_options(settings))
        try:
            return with_own_ids(md.convert(output.data), prefix)
        except ValueError:  # what no formula of the book may be, somebody's object may give
            pass
    return f'<pre tabindex="0"><code>{escape(output.data)}</code></pre>'


def _options(settings: Settings) -> dict[str, Mapping[str, Any]]:
    """Return the options of the book's extensions; letters are explained in its own prose alone."""
    options = {name: dict(given) for name, given in settings.configs.items()}
    options.get("proofbook.maths", {}).pop("symbols", None)
    return options  # type: ignore[return-value]
