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
from dataclasses import dataclass

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
    """The rows of the tables on a page.

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
