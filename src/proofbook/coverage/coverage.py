"""Count how many possible claims on a page are claims, and list the others."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proofbook.checking.book import Checked
from proofbook.coverage.candidates import COUNT, Candidate, candidates
from proofbook.coverage.lexicon import (
    DIGIT,
    NUMBER,
    named,
)
from proofbook.coverage.links import broken_links
from proofbook.coverage.sentences import sentences, unbound
from proofbook.parsing.claims import Span
from proofbook.parsing.inline_code import FILE, Inline, inline_code
from proofbook.parsing.source import SourceText
from proofbook.settings import Settings

FORMULAS = {"proofbook.maths", "pymdownx.arithmatex"}
ESCAPING = {
    *("", "console", "doctest", "ipython", "ipython3", "log", "none", "output", "plain"),
    *("plaintext", "py", "py3", "pycon3", "pyconsole", "pytb", "python", "python-console"),
    *("python-repl", "python2", "python3", "shell-session", "terminal", "text", "txt"),
}
"""Languages of fences that look like code that runs, or like its output."""
LIKE_CODE = re.compile(
    r"^\s*(?:>>>|import |from \w|def |class |\w+ ?= ?\S|\w+\(.*\)$)", re.MULTILINE
)
SHAPE = re.compile(r"[(\[]\s*\w+\s*(?:,\s*\w*\s*)+[)\]]")
COVERED = "covered"
PICTURES = ("html", "svg", "image")


@dataclass(frozen=True)
class Coverage:
    """The possible claims on a page.

    Attributes:
        path: The page.
        covered: How many are claims or checked inline code.
        exempt: How many are in literals or in a fence with a reason not to run.
        uncovered: Line, kind, and text of each one that is neither.
        unbound: Line and text of each sentence that binds nothing.
        counts: Line and text of each uncovered number word in a sentence without a value.
    """

    path: str
    covered: int
    exempt: int
    uncovered: tuple[tuple[int, str, str], ...] = ()
    unbound: tuple[tuple[int, str], ...] = ()
    counts: tuple[tuple[int, str], ...] = ()

    @property
    def candidates(self) -> int:
        """How many candidates there are."""
        return self.covered + self.exempt + len(self.uncovered)


def cover(checked: Checked, settings: Settings) -> Coverage:
    """Measure the coverage of a page whose run looked up the names in its prose."""
    page, source = checked.page, checked.page.source
    names = named(settings.coverage.names)
    maths = not FORMULAS.isdisjoint(settings.extensions)
    found = candidates(source, [*page.claims, *page.literals], names, maths)
    phrases = [(source.facts[index].start, source.facts[index].end) for index in page.facts]
    found = [
        one for one in found if one.kind not in ("comparative", COUNT) or not _in_any(one, phrases)
    ]
    covered = len(page.claims) + len(page.facts)
    for code in inline_code(source, page.claims):
        kind = "" if names.fullmatch(code.code) else _kind(code, checked, settings)
        if kind == COVERED:
            covered += 1
        elif kind:
            found.append(Candidate(code.start, kind, code.code))
    exempt = {one for span in _literals(checked) for one in found if _is_within(one, span)}
    bare = [*(one for one in found if one not in exempt), *_idle(checked, found)]
    bare += broken_links(source, (settings.root / page.chapter.path).parent)
    stretches = list(sentences(source))
    counts = [one for one in bare if one.kind == COUNT]
    counted = [one for one in counts if _in_any(one, stretches)]
    lines = [(_line(source, one), one.kind, one.text) for one in bare if one.kind != COUNT]
    lines += _fences(checked)
    off = sum(source.fences[index].kind == "off" for index in page.shown)
    uncovered = sorted((page.offset + line, kind, text) for line, kind, text in lines)
    bound = [(source.spans[index].start, source.spans[index].end) for index in page.claims]
    return Coverage(
        page.chapter.path,
        covered,
        len(exempt) + off,
        tuple(uncovered),
        tuple(unbound(page, [*bound, *phrases])),
        tuple((page.offset + _line(source, one), one.text) for one in counted),
    )


def _literals(checked: Checked) -> list[Span]:
    return [checked.page.source.spans[index] for index in sorted(checked.page.literals)]


def _line(source: SourceText, one: Candidate) -> int:
    return source.text.count("\n", 0, one.start) + 1


def _in_any(one: Candidate, stretches: list[tuple[int, int]]) -> bool:
    return any(start <= one.start < end for start, end in stretches)


def _is_within(candidate: Candidate, span: Span) -> bool:
    return span.start <= candidate.start < span.end


def _idle(checked: Checked, found: list[Candidate]) -> Iterator[Candidate]:
    """Find literals that contain nothing that could be a claim."""
    for span in _literals(checked):
        if not any(_is_within(one, span) for one in found):
            yield Candidate(span.start, "literal that exempts nothing", span.text)


def _kind(code: Inline, checked: Checked, settings: Settings) -> str:
    """Return `covered`, or what inline code could claim; "" if it claims nothing."""
    is_shape = SHAPE.fullmatch(code.code)
    states_all = is_shape or NUMBER.fullmatch(code.code)
    if not states_all and _is_quoted(code.code, checked):
        return COVERED
    exists = code.name in settings.environment or checked.run.names.get(code.name)
    if exists and not re.search(DIGIT, code.code.removeprefix(code.name)):
        return COVERED  # for the name alone, not for digits in its arguments
    if code.looks_like_a_name and not exists:
        return "name"
    if is_shape:
        return "shape"
    if not re.search(DIGIT, code.code):
        return ""
    is_file = FILE.fullmatch(code.code) and (settings.root / code.code).exists()
    return COVERED if is_file else "code"


def _is_quoted(code: str, checked: Checked) -> bool:
    """Return whether code occurs in a block, a shown source, or a visible output."""
    found = re.compile(rf"(?<!\w){re.escape(code)}(?!\w)")
    return any(found.search(" ".join(text.split())) for text in _ran_or_came_out(checked))


def _ran_or_came_out(checked: Checked) -> Iterator[str]:
    yield from (block.code for block in checked.page.chapter.blocks)
    yield from (shown.code for shown in checked.sources.values())
    for block, result in zip(checked.page.chapter.blocks, checked.run.blocks, strict=False):
        if not block.shows:  # readers can't see its output
            continue
        yield from (out.data for out in result.outputs if out.kind not in PICTURES)


def _fences(checked: Checked) -> Iterator[tuple[int, str, str]]:
    """Find unchecked fences of code or output, and numerals in the titles of other fences."""
    for fence in checked.page.source.foreign:
        holds = re.search(DIGIT, fence.code) or LIKE_CODE.search(fence.code)
        if holds and fence.language.lower() in ESCAPING:
            yield fence.line, "fence that does not run", f"```{fence.language}"
    for index in sorted(checked.page.shown):
        one = checked.page.source.fences[index]
        if re.search(DIGIT, one.options.get("title", "")):
            yield one.line, "caption", one.options["title"]
