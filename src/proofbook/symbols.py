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
from collections.abc import Iterator
from dataclasses import dataclass

import yaml

from proofbook.model import Claim

ROW = re.compile(
    r"^\| *\$(?P<tex>[^$]+)\$ *\{ *#(?P<key>[\w-]+)(?P<local> +\.local)? *\} *"
    r"\| *(?P<meaning>.*?) *\|(?P<rest>.*)$",
    re.MULTILINE,
)
LINK = re.compile(r"\[([^\]]*)\]\(([^)#\s]*)[^)]*\)")
HEADER = re.compile(r"---[ ]*\n(.*?\n)(?:---|\.\.\.)[ ]*\n", re.DOTALL)

Fault = tuple[int, str, str]


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


def given_values(text: str, place: int) -> tuple[dict[str, Claim], list[Fault]]:
    """What a page's front matter gives for its symbols, as claims that fill in a value.

    Args:
        text: The whole page.
        place: How many blocks it has; the expressions are evaluated after all of them.

    Returns:
        A claim by the anchor of its symbol; line, message and excerpt of what cannot be one.
    """
    header = HEADER.match(text)
    if not header or "symbols:" not in header[1]:
        return {}, []
    claims: dict[str, Claim] = {}
    faults: list[Fault] = []
    for key, value in _entries(header[1]):
        line = key.start_mark.line + 2
        expression = value.value if isinstance(value, yaml.ScalarNode) else ""
        try:
            compile(expression, "<symbol>", "eval")
        except (SyntaxError, ValueError) as error:
            faults.append((line, f"symbols: {key.value}: no expression: {error}", expression))
        else:
            claims[key.value] = Claim("", line, place, value=expression)
    return claims, faults


def _entries(header: str) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    """The entries of `symbols:`, with the places where they stand."""
    try:
        root = yaml.compose(header, yaml.SafeLoader)
    except yaml.YAMLError:  # for the builder of the site to tell
        return
    for name, entries in root.value if isinstance(root, yaml.MappingNode) else ():
        if name.value == "symbols" and isinstance(entries, yaml.MappingNode):
            yield from entries.value
