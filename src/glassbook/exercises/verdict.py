"""The verdict of a checker: right, not yet, or nothing to check."""

from dataclasses import dataclass
from html import escape

STYLE = (
    ".glassformer-verdict{margin:1em 0;padding:.1em 0 .1em 1em;border-left:.25em solid #c2571a;"
    "font-size:.94em;line-height:1.5;overflow-wrap:anywhere}"
    ".glassformer-verdict.right{border-color:#2f7d4f}"
    ".glassformer-verdict p{margin:.35em 0;max-width:none}"
    ".glassformer-verdict p+p{font-size:.92em;opacity:.85}"
    ".glassformer-verdict summary{cursor:pointer;margin:.35em 0}"
)


@dataclass(frozen=True)
class Verdict:
    """A sentence for the reader, with the evidence for it; true if the answer is right.

    Attributes:
        right: Whether the answer passed every check.
        says: A word or two and a period, then the sentence.
        because: What was checked or seen, one line each.
    """

    right: bool
    says: str
    because: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return "\n".join([self.says, *(f"  {line}" for line in self.because)])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        """Return the verdict as HTML, with the mistake folded because it gives the answer away."""
        word, dot, rest = self.says.partition(". ")
        word = f"<strong>{escape(word + dot)}</strong>"
        kind, found = "glassformer-verdict", [escape(rest), *map(escape, self.because)]
        if self.because and not self.right:
            lines = "".join(f"<p>{line}</p>" for line in found)
            body = f"<details><summary>{word}Show what's wrong</summary>{lines}</details>"
        else:
            body = "".join(f"<p>{line}</p>" for line in [word + found[0], *found[1:]])
        if self.right:
            kind += " right"
        return f'<div class="{kind}" data-search-exclude><style>{STYLE}</style>{body}</div>'
