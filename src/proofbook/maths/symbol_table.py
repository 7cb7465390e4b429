"""A book's table of symbols, and what a page says a symbol's value is in its run.

A book keeps its symbols in tables of one of its pages, `proofbook.maths: {symbols: notation.md}`:

    | $d_k$ { #d_k } | width of a head | `head_dim` | [Attention](attention.md) |

The first cell is the symbol, with its anchor; the second says what it means; what else stands there
is for readers. A symbol that is `.local` means this only on the page that its row links to. A page
gives values in its front matter, `symbols: {d_k: "query.shape[-1]"}`: expressions over what its
blocks made, evaluated when they have run.
"""

import posixpath
import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import get_close_matches

from proofbook.checking.book import Checked
from proofbook.problems import Problem
from proofbook.settings import Settings

ROW = re.compile(
    r"^\| *\$(?P<tex>[^$]+)\$ *\{ *#(?P<key>[\w-]+)(?P<local> +\.local)? *\} *"
    r"\| *(?P<meaning>.*?) *\|(?P<rest>.*)$",
    re.MULTILINE,
)
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]*)[^)]*\)")


@dataclass(frozen=True)
class Symbol:
    """One row of the table.

    Attributes:
        key: Its anchor, under which front matter speaks of it.
        tex: How it is written.
        meaning: What it means, as plain text.
        home: For a symbol of one page, that page, from the folder of the chapters; else "".
    """

    key: str
    tex: str
    meaning: str
    home: str = ""


def read_symbols(text: str, page: str) -> list[Symbol]:
    """Return the rows of the tables on a page.

    Args:
        text: The page.
        page: Its path, from the folder of the chapters.

    Raises:
        ValueError: Two rows have one anchor, or a local symbol links to no page.
    """
    found: dict[str, Symbol] = {}
    for row in ROW.finditer(text):
        pages = [target for _, target in LINK.findall(row["rest"]) if target.endswith(".md")]
        if row["key"] in found:
            raise ValueError(f"{page}: two symbols have the anchor {row['key']!r}")
        if row["local"] and not pages:
            raise ValueError(f"{page}: {row['key']!r} is local, and its row links to no page")
        home = posixpath.normpath(posixpath.join(posixpath.dirname(page), *pages[:1]))
        meaning = re.sub(r"[`*$\\]", "", LINK.sub(r"\1", row["meaning"]))
        found[row["key"]] = Symbol(row["key"], row["tex"], meaning, home if row["local"] else "")
    return list(found.values())


def strange_symbols(pages: Iterable[Checked], settings: Settings) -> list[Problem]:
    """List the values that pages give for symbols that the book's table doesn't have."""
    page = settings.configs.get("proofbook.maths", {}).get("symbols")
    giving = [one for one in pages if one.page.symbols]
    if not page or not giving:
        return []
    try:
        known = {one.key for one in read_symbols((settings.docs / page).read_text("utf-8"), page)}
    except (OSError, ValueError) as error:
        return [Problem(settings.name(settings.docs / page), 1, f"no table of symbols: {error}")]
    problems = []
    for one in giving:
        chapter = one.page.chapter
        for key, number in one.page.symbols.items():
            if key not in known:
                near = get_close_matches(key, sorted(known), 1)
                guess = f" (did you mean {near[0]!r}?)" if near else ""
                message = f"symbols: no row of {page} has the anchor {key!r}{guess}"
                problems.append(Problem(chapter.path, chapter.claims[number].line, message, key))
    return problems
