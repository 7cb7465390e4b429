"""The list of all modules, with the names in each, grouped by the pages that describe them."""

import re
from collections.abc import Callable, Mapping, Sequence
from html import escape

from glassbook.site.api.entry import is_listed, listed
from glassbook.site.api.symbol import Symbol


def contents(
    groups: Mapping[str, Sequence[Symbol]], address: Callable[[Symbol], str | None]
) -> str:
    """List each module with its first sentence and the names in it, under its page's link."""
    parts = (f"<h3>{page}</h3>{described(modules, address)}" for page, modules in groups.items())
    return "".join(parts)


def described(modules: Sequence[Symbol], address: Callable[[Symbol], str | None]) -> str:
    """List modules."""

    def link(symbol: Symbol, name: str) -> str:
        return f'<a class="symbol" href="{address(symbol)}"><code>{name}</code></a>'

    rows = []
    for module in modules:
        about = escape(module.doc.split("\n\n")[0].replace("\n", " "))
        about = re.sub("`([^`]+)`", r"<code>\1</code>", about)
        names = ", ".join(link(one, one.short) for one in module.members if is_listed(one))
        text = f"<p>{about}</p>" + (f"<p>{names}</p>" if names else "")
        rows.append((link(module, module.name), text))
    return listed(rows, "api-contents")
