"""What every view is: an HTML picture with a plain-text twin."""

import re
import unicodedata
from dataclasses import dataclass
from html import escape

# Words and numbers of a view, for screen readers: on the page, out of sight, laid out when near.
UNSEEN = (
    "position:absolute;width:1px;height:1px;margin:-1px;padding:0;overflow:hidden;"
    "clip-path:inset(50%);white-space:nowrap;border:0;content-visibility:auto"
)


JOINERS = "\u200c\u200d"  # between two signs they make one of them, as in 👩‍👧


@dataclass(frozen=True, repr=False)
class View:
    """A picture that notebooks and books show as HTML, and terminals as text.

    Attributes:
        html: Self-contained markup; nothing in it asks for the network.
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
    """Tokens (or other labels) as strings that can be seen: white space becomes a visible sign."""
    return [visible(str(token)) for token in tokens]  # type: ignore[attr-defined]


def visible(token: str) -> str:
    """One token as a reader can see it: `Ġ` and `▁` mark a space, and so does `␣` here.

    A single space within a label can be seen as it is.
    """
    token = token.replace("Ġ", "␣").replace("▁", "␣")
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
    """Isolate a word in a sentence, so that one from right to left turns nothing beside it."""
    turns = any(unicodedata.bidirectional(c) in ("R", "AL") for c in word)
    return f"\u2068{word}\u2069" if turns else word


def columns_of(token: str) -> int:
    """Count how many columns of a terminal a word takes; wide letters (CJK, emoji) take two.

    What is set above another letter, or joined to the one before, takes none.
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
    """Write a number for the eye: two decimals, fewer beside larger numbers, none for counts."""
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


def room(width: float, height: float, narrowest: float, widest: float) -> str:
    """Return the sizes of a picture as properties of CSS, for pages that keep room for it undrawn.

    Args:
        width: Of its coordinates.
        height: Of its coordinates.
        narrowest: Pixels below which it scrolls.
        widest: Pixels above which it does not grow.
    """
    sizes = f"--narrowest:{narrowest:.0f}px;--widest:{widest:.0f}px"
    return f'style="{sizes};--shape:{height:.1f}/{width:.1f}"'


def aligned(rows: list[list[str]]) -> str:
    """Rows as text, each column as wide as its widest entry."""
    widths = [max(columns_of(row[k]) for row in rows) for k in range(len(rows[0]))]
    return "\n".join(
        "  ".join(
            " " * (wide - columns_of(entry)) + entry
            for entry, wide in zip(row, widths, strict=True)
        )
        for row in rows
    )
