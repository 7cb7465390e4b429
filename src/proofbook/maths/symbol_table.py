"""A book's table of symbols, and the values that they have on a page.

A book keeps its symbols in tables on one page, set by `proofbook.maths: {symbols: notation.md}`:

    | $d_k$ { #d_k } | width of a head | `head_dim` | [Attention](attention.md) |

The first cell is the symbol, with its anchor; the second is its meaning; the others are for
readers. A symbol marked `.local` has this meaning only on the page that its row links to. A page
sets values in its front matter, as in `symbols: {d_k: "query.shape[-1]"}`. They are expressions
that use names from the page's blocks, evaluated after all blocks have run.
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
        key: Its anchor, which front matter uses to refer to it.
        tex: Its TeX source.
        meaning: Its meaning, as plain text.
        home: For a local symbol, its page, relative to the docs folder; otherwise "".
    """

    key: str
    tex: str
    meaning: str
    home: str = ""


def read_symbols(text: str, page: str) -> list[Symbol]:
    """Return the rows of the tables on a page.

    Args:
        text: The page.
        page: Its path, relative to the docs folder.

    Raises:
        ValueError: Two rows have the same anchor, or a local symbol links to no page.
    """
    found: dict[str, Symbol] = {}
    for row in ROW.finditer(text):
        pages = [target for _, target in LINK.findall(row["rest"]) if target.endswith(".md")]
        if row["key"] in found:
            raise ValueError(f"{page}: two symbols have the anchor {row['key']!r}")
        if row["local"] and not pages:
            raise ValueError(f"{page}: {row['key']!r} is local, but its row links to no page")
        home = posixpath.normpath(posixpath.join(posixpath.dirname(page), *pages[:1]))
        meaning = re.sub(r"[`*$\\]", "", LINK.sub(r"\1", row["meaning"]))
        found[row["key"]] = Symbol(row["key"], row["tex"], meaning, home if row["local"] else "")
    return list(found.values())


def strange_symbols(pages: Iterable[Checked], settings: Settings) -> list[Problem]:
    """List the symbols that pages give values for but that the book's table lacks."""
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
