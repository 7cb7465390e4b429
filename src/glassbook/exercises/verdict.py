"""The verdict of a checker: right, not yet, or nothing to check."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

from glassbook.exercises.keeping import defined, kept

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
        answer: The function that was checked, if it's right.
        check: What checks it again, once it's in another file.
    """

    right: bool
    says: str
    because: tuple[str, ...] = ()
    answer: Callable[..., Any] | None = field(default=None, compare=False)
    check: "Callable[..., Verdict] | None" = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return self.right

    def __str__(self) -> str:
        return "\n".join([self.says, *(f"  {line}" for line in self.because)])

    __repr__ = __str__

    def keep(self, file: str) -> "Verdict":
        """Write a right function into a Python file, in place of an earlier version.

        It stays out if it would be wrong there because something that it calls is missing. The
        verdict that's returned has a line more, which says whether the function is in the file.
        """
        if self.answer is None:
            return self
        path, name = Path(file), getattr(self.answer, "__name__", "it")
        try:
            text = kept(path.read_text(encoding="utf-8") if path.exists() else "", self.answer)
            there = self.check and self.check(defined(text, file)[name])
            if there is not None and not there:
                says = there.says.removeprefix("Not yet. ")
                raise ValueError(f"Keep what it calls first. {says}")
            path.write_text(text, encoding="utf-8")
            told = f"{name} is in {file} now."
        except Exception as error:  # the file is the reader's, and may hold any
            told = f"{name} isn't in {file}. {error}"
        return replace(self, because=(*self.because, told))

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
