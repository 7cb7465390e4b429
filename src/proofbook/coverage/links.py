"""Find links on a page to files that don't exist."""

import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from proofbook.coverage.candidates import Candidate
from proofbook.coverage.masking import blank
from proofbook.parsing.inline_code import inline_code
from proofbook.parsing.source import SourceText

TARGET = re.compile(
    r"\]\(<?([^()\s>]+)>?(?:\s+[\"'][^\n]*?[\"'])?\)|^ {0,3}\[[^\]^\n]+\]:\s*(\S+)", re.M
)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//|#|/", re.IGNORECASE)


def broken_links(source: SourceText, folder: Path) -> Iterator[Candidate]:
    """Yield each relative link to a missing file; links start from the page's folder."""
    text = source.text  # code and the braces of claims contain no Markdown
    for code in inline_code(source, ()):
        text = blank(text, code.start, code.end)
    for span in source.spans:
        text = blank(text, span.inner[1] + 1, span.end)
    for start, end in source.prose:
        for match in TARGET.finditer(text, start, end):
            target = match[1] or match[2]
            if ELSEWHERE.match(target):
                continue
            path = unquote(target.partition("#")[0].partition("?")[0])
            if path and not (folder / path).exists():
                yield Candidate(match.start(), "link", target)
