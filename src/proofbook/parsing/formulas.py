r"""Convert a TeX formula to the letters that a reader sees: `10^3 \cdot` becomes `10^3 ⋅`."""

import re
from unicodedata import normalize

from latex2mathml.symbols_parser import convert_symbol

_DELIMITER = re.compile(r"^\s*\\[(\[]|\\[)\]]\s*$")
_FRACTION = re.compile(
    r"\\[dtc]?frac\s*(?:\{([^{}]*)\}|(\w))\s*(?:\{([^{}]*)\}|(\w))|\{([^{}]*)\\over\b([^{}]*)\}"
)
_COMMAND = re.compile(r"\\(?:[a-zA-Z]+\*?|.)", re.DOTALL)
_FONT = re.compile(r"(?:text|math(?!bin|rel|op|ord)|operatorname|mbox|rm|bf|it)[a-z]*\*?")
_SILENT = re.compile(
    r"quad|qquad|left|right|middle|[bB]igg?[lr]?|mathbin|mathrel|mathop|mathord"
    r"|(?:display|text|script)style|n?limits|[hm]?space\*?|[hv]?phantom|[,;:!> \\]"
)


def letters_of(tex: str) -> str:
    """Return the letters of a formula on one line, with signs for commands and without braces."""
    tex = re.sub(r"(?<!\\)-", "−", _DELIMITER.sub("", tex))
    tex = _FRACTION.sub(lambda parts: "/".join(part for part in parts.groups() if part), tex)
    seen = re.sub(r"[{}]|(?<!\\)[~&]", "", _COMMAND.sub(_sign, tex))
    seen = re.sub("\u0338\\s*(.)", "\\1\u0338", seen)  # TeX strikes the next sign, Unicode the last
    return normalize("NFC", " ".join(seen.replace("!=", "! =").split()))


def _sign(command: re.Match[str]) -> str:
    name = command[0][1:]
    if _SILENT.fullmatch(name):
        return " "
    if _FONT.fullmatch(name):
        return ""
    code = convert_symbol(command[0])
    return chr(int(code, 16)) if code else name
