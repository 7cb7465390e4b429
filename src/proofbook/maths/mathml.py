"""Convert a TeX formula to MathML Core, which browsers draw without a script."""

import html
import re
from xml.etree.ElementTree import Element

from latex2mathml.converter import convert_to_element
from markdown.util import AtomicString

_ENVIRONMENTS = {
    *("matrix", "pmatrix", "bmatrix", "vmatrix", "array", "cases"),
    *("align", "align*", "aligned", "split"),
}
_THIN = "0.167em"


def to_mathml(tex: str, display: bool = False) -> Element:
    """Convert one formula.

    Raises:
        ValueError: The TeX is invalid, or browsers couldn't show the result; the message quotes it.
    """
    try:
        _check_source(tex)
        # `split` looks the same as `aligned`, and the library knows only `split`.
        source = re.sub(r"\\(begin|end)\{aligned\}", r"\\\1{split}", tex)
        math = convert_to_element(source, display="block" if display else "inline")
        _check_result(math)
    except Exception as error:
        reason = str(error) or type(error).__name__
        raise ValueError(f"formula: {reason}, in {tex!r}") from error
    _to_core(math)
    _space_names(math)
    return math


def _check_source(tex: str) -> None:
    """Raise an error for TeX that the library accepts but converts to nonsense."""
    depth = 0
    for brace in re.findall(r"(?<!\\)[{}]", tex.replace(r"\\", "")):
        depth += 1 if brace == "{" else -1
        if depth < 0:
            break
    if depth != 0:
        raise ValueError("braces do not balance")
    for name in re.findall(r"\\begin\{([^}]*)\}", tex):
        if name not in _ENVIRONMENTS:
            raise ValueError(f"unknown environment {name}")


def _check_result(math: Element) -> None:
    for part in math.iter():
        if part.text and part.text.startswith("\\"):
            raise ValueError(f"unknown command {part.text}")
        variant = part.get("mathvariant", "normal")
        drawn = ("normal", "monospace") if part.tag == "mtext" else ("normal",)
        if variant not in drawn:
            raise ValueError(f"letters in {variant}, which browsers do not draw")


def _to_core(math: Element) -> None:
    """Convert the library's older MathML to MathML Core, which browsers draw."""
    math.attrib.pop("xmlns", None)
    if math.get("display") == "inline":
        del math.attrib["display"]
    for part in math.iter():
        if part.text:
            part.text = AtomicString(html.unescape(part.text))
        if part.tag == "mtext" and part.attrib.pop("mathvariant", None) == "monospace":
            part.set("class", "maths-code")
            part.text = AtomicString((part.text or "").replace("\\_", "_"))
        # A named operator is an identifier in upright letters; as <mo>, it would get wide margins.
        if part.tag == "mo" and part.text and len(part.text) > 1 and part.text.isalpha():
            part.tag = "mi"
        if part.text == ";":  # separates arguments, like a comma
            part.tag = "mo"
        # Infinity is a quantity; as an operator, it would be spaced away from its sign.
        if part.text == "∞":
            part.tag = "mi"
        # Only bars set with \left and \right stretch, and no bar has space around it. Without
        # these attributes, a browser would have to guess.
        if part.tag == "mo" and part.text in ("|", "‖"):
            part.attrib = {"stretchy": "false", "lspace": "0", "rspace": "0"} | part.attrib
        # TeX's idiom softmax\!\left( removes a space that MathML doesn't add.
        if part.get("width") == "negativethinmathspace":
            part.set("width", "0")
        if side := part.attrib.pop("columnalign", None):
            part.set("style", f"text-align:{side}")


def _space_names(math: Element) -> None:
    """Insert a thin space between a named function and adjacent letters, as in n log n."""
    for parent in list(math.iter()):
        if parent.tag != "mrow":
            continue
        for index in range(len(parent) - 1, 0, -1):
            left, right = parent[index - 1], parent[index]
            if (_is_name(left) or _is_name(right)) and not {left.tag, right.tag} & {"mo", "mspace"}:
                parent.insert(index, Element("mspace", width=_THIN))


def _is_name(part: Element) -> bool:
    while part.tag in ("msub", "msup", "munder") and len(part):
        part = part[0]
    return part.tag == "mi" and len(part.text or "") > 1
