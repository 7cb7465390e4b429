"""What every view is: an HTML picture with a plain-text twin."""

import unicodedata
from dataclasses import dataclass
from html import escape

# Words and numbers of a view, for screen readers: on the page, out of sight, laid out when near.
UNSEEN = (
    "position:absolute;width:1px;height:1px;margin:-1px;padding:0;overflow:hidden;"
    "clip-path:inset(50%);white-space:nowrap;border:0;content-visibility:auto"
)


JOINERS = "\u200c\u200d"  # between two signs they make one of them, as in 👩‍👧
LIGHT = (
    "--pos:#1f4fb5;--neg:#b0440b;--cell:#1a47a8;--negative:#8f3405;--number:#000;"
    "--edge:rgba(0,0,0,.16);--hover:rgba(0,0,0,.1);"
    "--glow:#7fb0f5;--lift:1;--rest:.07;--ink:#202020;--surface:var(--md-default-bg-color,var(--jp-layout-color0,#fff))"
)
DARK = (
    "--pos:#4a82e6;--neg:#d0601f;--cell:#3b6dcc;--negative:#b9500f;--number:#fff;"
    "--edge:rgba(255,255,255,.2);--hover:rgba(255,255,255,.16);"
    "--glow:#2c5cb0;--lift:1.7;--rest:.16;--ink:#e2e4e9;--surface:var(--md-default-bg-color,var(--jp-layout-color0,#181a20))"
)
VIEWS = ":is(.glassformer-heatmap,.glassformer-flow,.glassformer-arcs,glassformer-view)"
# Colours by the system's choice, and by the switches of Material and Jupyter; paper is light.
THEME = (
    f"{VIEWS}{{{LIGHT}}}@media (prefers-color-scheme:dark){{{VIEWS}{{{DARK}}}}}"
    f":is([data-md-color-scheme=default],[data-jp-theme-light=true]) {VIEWS}{{{LIGHT}}}"
    f":is([data-md-color-scheme=slate],[data-jp-theme-light=false]) {VIEWS}{{{DARK}}}"
    f"@media print{{html body {VIEWS}{VIEWS}{{{LIGHT}}}}}"
)
# At an edge behind which more of a picture can be scrolled to, a shadow.
SHADOWS = (
    "background:"
    "linear-gradient(to right,var(--surface) 40%,transparent) 0/24px 100% no-repeat local,"
    "linear-gradient(to left,var(--surface) 40%,transparent) 100%/24px 100% no-repeat local,"
    "linear-gradient(to right,var(--hover),transparent) 0/12px 100% no-repeat scroll,"
    "linear-gradient(to left,var(--hover),transparent) 100%/12px 100% no-repeat scroll"
)


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
    """One token as a reader can see it: `Ġ` and `▁` mark a space, and so does `␣` here."""
    token = token.replace("Ġ", "␣").replace("▁", "␣").replace(" ", "␣")
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


def number(value: float, largest: float) -> str:
    """Write a number for the eye: two decimals, fewer beside larger numbers, none for counts."""
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
    head = "".join(f'<th scope="col">{escape(word)}</th>' for word in header)
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
