"""Compare the output of a doctest on the page with its actual output."""

import re
from collections.abc import Iterator

from proofbook.checking.numerals import Numeral
from proofbook.text import TRACEBACK

QUOTED = r"""(?<!\w)[bBrRuU]{0,2}(?:'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*")(?!\w)"""
NUMBER = (
    r"(?<![\w.\\@])(?<![^\W\d][-/])(?<!==)(?<!\d:)"
    r"[-+]?(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?"
    r"(?![\w\\]|\.\w|[-+/][^\W\d])"
)
"""A number by itself: not part of a version, a date, a path, or a name with dots or hyphens."""
PIECE = re.compile(rf"(?P<quoted>{QUOTED})|(?P<number>{NUMBER})")
_PART = r"(?:nan|inf|(?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][-+]?\d++)?)"
SIGN_OF_ARRAY = re.compile(
    rf"(?P<quoted>{QUOTED})"
    r"|(?P<open>(?:(?<!\w)(?P<array>tensor|array|masked_array|matrix|Array))?\(|\[)"
    r"|(?P<close>[\])])"
    rf"|(?P<item>(?:True|False|\.\.\.|[-+]?{_PART}(?:[-+]{_PART}j|j)?)(?=[\s\[\]]))"
    r"|(?P<other>[\w.+-]++|[^\s\w])"
)
STACK = re.compile(rf"^({re.escape(TRACEBACK)}\n)[ \t]+\.\.\.[ \t]*\n", re.MULTILINE)

Piece = tuple[str, str]


def prints(want: str, got: str) -> bool:
    """Return whether an output on the page agrees with the actual output.

    Whitespace counts, except at line ends and between the items of an array. A float is right if it
    is the actual one rounded to the digits written, unless it's in quotes; everything else must be
    equal. An indented `...` stands for the stack of a traceback.
    """
    want = re.sub(r"(?m)^<BLANKLINE>[ \t]*$", "", STACK.sub(r"\1", want))
    wanted = _pieces(want)
    given = {got.expandtabs(4), got.expandtabs(8)}  # as Markdown and doctest expand tabs
    return any(_pieces_alike(wanted, _pieces(text)) for text in given)


def reprinted(want: str, got: str) -> str:
    """Return the actual output, with as many digits as the page writes where numbers differ."""
    wanted, given = list(PIECE.finditer(want)), list(PIECE.finditer(got))
    numbers = [piece[0] for piece in given if piece["number"]]
    if len(numbers) != sum(piece["number"] is not None for piece in wanted):
        return got
    rest = iter(numbers)
    new = PIECE.sub(
        lambda piece: _like(piece[0], next(rest)) if piece["number"] else piece[0], want
    )
    return new if prints(new, got) else got


def _like(want: str, got: str) -> str:
    """Return a printed number with as many digits as another has."""
    mantissa, *exponent = re.split("[eE]", want)
    digits = len(mantissa.partition(".")[2])
    if _numbers_alike(want, got):
        return want
    if "." not in got or not digits:
        return got
    return f"{float(got):.{digits}{'e' if exponent else 'f'}}"


def _pieces_alike(wanted: list[Piece], given: list[Piece]) -> bool:
    return len(wanted) == len(given) and all(
        kind == other_kind and (_numbers_alike(one, other) if kind == "number" else one == other)
        for (kind, one), (other_kind, other) in zip(wanted, given, strict=True)
    )


def _numbers_alike(want: str, got: str) -> bool:
    if want == got:
        return True
    if re.search(r"\.\d|[eE]", want) and re.search(r"[.eE]", got):
        numeral = Numeral.read(want)
        return numeral is not None and numeral.says(float(got))
    is_same = "." in want and "." in got and float(want) == float(got)
    return is_same and not (want[0] == "-" != got[0])


def _pieces(text: str) -> list[Piece]:
    """Cut an output into numbers, quoted strings, and the text between them."""
    text += "\n" if text and not text.endswith("\n") else ""
    text = _with_tight_arrays(re.sub(r"(?m)(?<![ \t])[ \t]+$", "", text))
    pieces: list[Piece] = []
    at = 0
    for piece in PIECE.finditer(text):
        pieces += [("text", text[at : piece.start()]), (str(piece.lastgroup), piece[0])]
        at = piece.end()
    return [*pieces, ("text", text[at:])]


def _with_tight_arrays(text: str) -> str:
    """Remove the whitespace that only pads arrays and breaks their lines."""
    parts: list[str] = []
    at = 0
    for start, end in sorted(_arrays(text)):
        if start >= at:
            parts += [text[at:start], _tight(text[start:end])]
            at = end
    return "".join([*parts, text[at:]])


def _arrays(text: str) -> Iterator[tuple[int, int]]:
    """Find `tensor(…)` and the like, and brackets whose items are separated only by whitespace."""
    opened: list[tuple[int, str, bool]] = []  # position, bracket, whether it's a call
    only_items: list[bool] = []
    for sign in SIGN_OF_ARRAY.finditer(text):
        if sign["open"]:
            opened.append((sign.start(), sign["open"][-1], bool(sign["array"])))
            only_items.append(sign["open"] == "[")
        elif sign["close"] and opened and opened[-1][1] + sign["close"] in ("[]", "()"):
            start, _, is_call = opened.pop()
            is_array = only_items.pop()
            if is_call or is_array:
                yield start, sign.end()
            if only_items and not is_array:
                only_items[-1] = False
        elif only_items and (sign["other"] or sign["close"]):
            only_items[-1] = False


def _tight(array: str) -> str:
    parts = re.split(rf"({QUOTED})", array)
    for index in range(0, len(parts), 2):
        parts[index] = re.sub(r"\s*([\[\](),])\s*", r"\1", re.sub(r"\s+", " ", parts[index]))
    return "".join(parts)
