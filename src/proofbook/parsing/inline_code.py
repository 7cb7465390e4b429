"""Find inline code in a page's prose, and the names in it."""

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from proofbook.parsing.claims import CODE_SPAN, paragraphs
from proofbook.parsing.source import SourceText

NAME = re.compile(r"(\.?[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)(\(.*\))?", re.DOTALL)
FILE = re.compile(r"[\w.~*-]*/[\w.~*/-]*|[\w.*-]*\.(?:csv|json|md|py|safetensors|toml|txt|ya?ml)")


@dataclass(frozen=True)
class Inline:
    """A piece of inline code.

    Attributes:
        start: Where its first backtick is in the text.
        end: Where its last backtick ends.
        code: What is between the backticks, in one line.
    """

    start: int
    end: int
    code: str

    @property
    def name(self) -> str:
        """The name that it consists of or calls; "" if it is something else."""
        match = NAME.fullmatch(self.code)
        return match[1] if match and not FILE.fullmatch(self.code) else ""

    @property
    def looks_like_a_name(self) -> bool:
        """Whether it can only be a name; a plain word may be a token, or just monospaced."""
        return bool(self.name) and not re.fullmatch(r"[a-z]+", self.code)


def inline_code(source: SourceText, claims: Collection[int]) -> Iterator[Inline]:
    """Yield the inline code of a source outside these claims, in reading order."""
    taken = [source.spans[index] for index in claims]
    for start, end in paragraphs(source.text, source.prose):
        for match in CODE_SPAN.finditer(source.text, start, end):
            if not any(span.start <= match.start() < span.end for span in taken):
                yield Inline(*match.span(), " ".join(match[2].split()))


def names(source: SourceText) -> tuple[str, ...]:
    """Return the words that the prose of a source uses as names, each once."""
    found = {code.name for code in inline_code(source, range(len(source.spans)))}
    return tuple(sorted(found - {""}))
