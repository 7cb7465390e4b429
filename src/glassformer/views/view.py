"""The base of all views: an HTML picture with a plain-text twin."""

import re
import unicodedata
from dataclasses import dataclass
from html import escape

from torch import Tensor

# For words and numbers that only screen readers need: out of sight, and laid out when near.
UNSEEN = (
    "position:absolute;width:1px;height:1px;margin:-1px;padding:0;overflow:hidden;"
    "clip-path:inset(50%);white-space:nowrap;border:0;content-visibility:auto"
)


JOINERS = "\u200c\u200d"  # between two characters, they join them into one, as in 👩‍👧


@dataclass(frozen=True, repr=False)
class View:
    """A picture that notebooks and books show as HTML, and terminals as text.

    Attributes:
        html: Self-contained markup, which needs no network.
        text: The same facts as plain text.
    """

    html: str
    text: str

    def _repr_html_(self) -> str:
        return self.html

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


def words(tokens: object) -> list[str]:
    """Return tokens (or other labels) as visible strings: whitespace becomes a visible sign."""
    values = (
        token.item() if isinstance(token, Tensor) else token  # an id
        for token in tokens  # type: ignore[attr-defined]
    )
    return [visible(str(value)) for value in values]


def visible(token: str) -> str:
    """Return a token with visible characters only: `Ġ` and `▁`, which mark a space, become `␣`.

    So do spaces, except for a single space within a label. A newline, in GPT-2's alphabet `Ċ`,
    becomes `↵`.
    """
    token = token.replace("Ġ", "␣").replace("▁", "␣").replace("Ċ", "↵")
    token = re.sub(r"(?<!\S) | (?!\S)", "␣", token)
    inner = range(1, len(token) - 1)
    return "".join(
        c if c.isprintable() or (c in JOINERS and i in inner) else escaped(c)
        for i, c in enumerate(token)
    )


def escaped(character: str) -> str:
    """Return an invisible character as Python writes it."""
    return character.encode("unicode_escape").decode()


def isolated(word: str) -> str:
    """Isolate a right-to-left word in a sentence, so its neighbors keep their order."""
    turns = any(unicodedata.bidirectional(c) in ("R", "AL") for c in word)
    return f"\u2068{word}\u2069" if turns else word


def columns_of(token: str) -> int:
    """Count the columns that a word takes in a terminal; wide letters (CJK, emoji) take two.

    A mark above another letter, or a character joined to the one before, takes none.
    """
    return sum(
        0
        if unicodedata.category(c) in ("Mn", "Me", "Cf") or before == "\u200d"
        else 2
        if unicodedata.east_asian_width(c) in "WF"
        else 1
        for before, c in zip(" " + token, token, strict=False)
    )


def number(value: float | int, largest: float | int) -> str:
    """Format a number: two decimals, fewer if `largest` is 10 or more, none for counts."""
    if isinstance(value, int):
        return str(int(value))
    if value != value:
        return "nan"
    if value in (float("inf"), float("-inf")):
        return "∞" if value > 0 else "-∞"
    counted = largest >= 10 and largest % 1 == value % 1 == 0
    digits = 0 if counted or largest >= 100 else 1 if largest >= 10 else 2
    text = f"{value:.{digits}f}"
    return text if float(text) else text.lstrip("-")


def chance(value: float | int, digits: int = 2) -> str:
    """Write a probability; one that would be written as 0 is said to be less than a last digit."""
    least = 10.0**-digits
    return f"{value:.{digits}f}" if value >= least / 2 else f"< {least:g}" if value > 0 else "0"


def minus(written: str) -> str:
    """Write a minus sign for each hyphen that begins a number."""
    return re.sub(r"(?<!\w)-(?=[\d∞])|(?<=\de)-(?=\d)", "−", written)


def table(header: list[str], rows: list[list[str]], *, caption: str, css: str) -> str:
    """Write an HTML table whose first column names its rows; every word is escaped."""
    head = "".join(
        f'<th scope="col">{escape(word)}</th>' if word else "<td></td>" for word in header
    )
    body = "".join(
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    )
    return (
        f'<table class="{css}"><caption>{escape(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    )


TABLE = """
.glassformer-table{overflow-x:auto;margin:1em 0}
.glassformer-table table{border-collapse:collapse;width:100%;font-size:.86em;
font-variant-numeric:tabular-nums}
.glassformer-table :is(th,td){padding:.35em .6em;text-align:left;vertical-align:baseline;
border-bottom:1px solid rgba(128,128,128,.25)}
@media print{.glassformer-table{overflow:visible}.glassformer-table tr{break-inside:avoid}}
""".replace("\n", "")


def scrolling(header: str, body: str, *, name: str, style: str) -> str:
    """Return a table that scrolls by itself if it's wider than its column.

    Args:
        header: The cells of its header, as HTML.
        body: One or several `tbody`.
        name: Its accessible name.
        style: CSS that only this kind of table needs.
    """
    return (
        f'<div class="glassformer-table" tabindex="0" role="group" aria-label="{escape(name)}" '
        f"data-search-exclude><style>{TABLE}</style><style>{style}</style>"
        f"<table><thead><tr>{header}</tr></thead>{body}</table></div>"
    )


def aligned(rows: list[list[str]]) -> str:
    """Return rows as text, with each column as wide as its widest entry."""
    widths = [max(columns_of(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            " " * (wide - columns_of(entry)) + entry
            for entry, wide in zip(row, widths, strict=True)
        )
        for row in rows
    )
