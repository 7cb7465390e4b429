"""Find the claims in a chapter's prose: `TARGET{ equals="…" }` and its variants, and literals."""

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from proofbook.parsing.bounds import LOOSE, loose_number
from proofbook.parsing.syntax import expression_fault

CODE_SPAN = re.compile(r"(?<![\\`])(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
CANDIDATE = re.compile(
    r"(?<!\\)\{:?\s*(?:[.#][\w-]+\s+)*(?:(?:equals?|values?|reason)\s*=|holds?(?=[\s=}])"
    r"|\.literal(?=[\s}]))"
)
WORD = re.compile(r"\s*([.#]?[A-Za-z][\w-]*)\s*(=)?\s*")
STRING = re.compile(r"""(["'])((?:\\.|(?!\1)[^\\])*)\1""", re.DOTALL)
NEW_START = re.compile(r"\n(?=\s*\n|\s*(?:[|#>]|[-*+] |\d+\. |!!!|\?\?\?|===))")
KINDS = ("equals", "holds", "value")
LITERAL = (".literal", "reason")
REASONS = ("definition", "example", "name", "quotation", "source")
"""Reasons why a number needs no claim, explained in `docs/contributing.md`."""


@dataclass(frozen=True)
class Span:
    """A claim, or a literal, in the text.

    Attributes:
        start: Where its target begins in the text.
        inner: Start and end of what the reader will see, with its markup.
        end: Where the closing brace ends.
        line: Line of the text (from 1) on which it begins.
        text: What the reader sees, without markup.
        expressions: The expression for each of `equals`, `holds`, `value` that is given.
        reason: For a literal, which has no expressions: why it isn't a claim.
    """

    start: int
    inner: tuple[int, int]
    end: int
    line: int
    text: str
    expressions: dict[str, str]
    reason: str = ""


class UnreadableClaimError(Exception):
    """Error for a claim that can't be read."""


def find_claims(
    text: str, prose: list[tuple[int, int]]
) -> tuple[list[Span], list[tuple[int, str, str]]]:
    """Find the claims within a text's stretches of prose.

    Returns:
        The claims in reading order; and the line, message, and excerpt of each unreadable one.
    """
    spans: list[Span] = []
    faults: list[tuple[int, str, str]] = []
    for start, end in paragraphs(text, prose):
        codes = [match.span() for match in CODE_SPAN.finditer(text, start, end)]
        after = start
        for candidate in CANDIDATE.finditer(text, start, end):
            brace = candidate.start()
            if brace < after or any(first <= brace < last for first, last in codes):
                continue
            line = text.count("\n", 0, brace) + 1
            try:
                target, inner = _target(text, brace, start, codes)
                if spans and target <= spans[-1].start:
                    raise UnreadableClaimError("a claim cannot be inside another's target")
                expressions, after = _attributes(text, brace, end)
                line = text.count("\n", 0, target) + 1
                span = Span(target, inner, after, line, _visible(text[slice(*inner)]), expressions)
                spans.append(_checked(span, text))
            except UnreadableClaimError as error:
                faults.append((line, str(error), _excerpt(text, brace)))
    return spans, faults


def _excerpt(text: str, brace: int) -> str:
    """Return the text around a brace, on its line."""
    start = max(text.rfind("\n", 0, brace) + 1, brace - 30)
    return text[start : brace + 50].split("\n")[0].strip()


def paragraphs(text: str, prose: list[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Split stretches where inline code can't continue: at blank lines, rows, and list items."""
    for start, end in prose:
        for cut in NEW_START.finditer(text, start, end):
            yield start, cut.start()
            start = cut.end()
        yield start, end


def _target(
    text: str, brace: int, start: int, codes: list[tuple[int, int]]
) -> tuple[int, tuple[int, int]]:
    """Return the start of a claim's target, and the part of it that readers will see."""
    for first, last in codes:
        if last == brace:
            return first, (first, last)
    before = text[start:brace]
    if before.endswith("]") and not before.endswith("\\]"):
        opening = start + _opening_bracket(before, start, codes)
        if text[opening - 1 : opening] != "!":
            return opening, (opening + 1, brace - 1)
    marks = re.search(r"(?<!\\)(\*+|_+)$", before)
    if marks:
        opening_marks = [
            match.start(1)
            for match in re.finditer(rf"(?<![\\*_\w])({re.escape(marks[1])})(?=[^\s*_])", before)
            if match.end() < marks.start()
        ]
        if opening_marks:
            first = start + opening_marks[-1]
            return first, (first, brace)
    raise UnreadableClaimError(
        "a claim must directly follow inline code, emphasis, or a bracketed span"
    )


def _opening_bracket(before: str, start: int, codes: list[tuple[int, int]]) -> int:
    depth = 0
    for at in reversed(range(len(before))):
        if any(first <= start + at < last for first, last in codes) or before[at - 1 : at] == "\\":
            continue
        depth += {"]": 1, "[": -1}.get(before[at], 0)
        if depth == 0:
            return at
    raise UnreadableClaimError("the bracketed span before this claim has no opening bracket")


def _attributes(text: str, brace: int, end: int) -> tuple[dict[str, str], int]:
    """Read `{ name="…" name='…' name }`; return what was read and where it ends."""
    at = brace + 1 + (text[brace + 1] == ":")
    found: dict[str, str] = {}
    while word := WORD.match(text, at, end):
        name = word[1]
        if name not in (*KINDS, *LITERAL):
            raise UnreadableClaimError(
                f"{name!r} has no meaning beside a claim; known: {', '.join(KINDS)}"
            )
        if name in found:
            raise UnreadableClaimError(f"{name!r} is given twice")
        at = word.end()
        found[name] = ""
        if word[2]:
            string = STRING.match(text, at, end)
            if not string or not string[2].strip():
                raise UnreadableClaimError(f"{name}= needs an expression in quotes")
            unquoted = string[2].replace("\\" + string[1], string[1])
            found[name] = re.sub(r"\s*\n\s*", " ", unquoted).strip()
            at = string.end()
            if at < end and not re.match(r"[\s}]", text[at]):
                raise UnreadableClaimError(_quotes(name, string[1], string[0]))
    closing = re.compile(r"\s*\}").match(text, at, end)
    if not closing:
        raise UnreadableClaimError("this claim is not closed by a brace after its last quote")
    return found, closing.end()


def _quotes(name: str, quote: str, read: str) -> str:
    other = "'" if quote == '"' else '"'
    return (
        f"{name}={read} ends at its second {quote}, and something follows; within the expression "
        f"write {other}, or \\{quote}"
    )


def _checked(span: Span, text: str) -> Span:
    """Return the completed claim, or raise an error that says why it isn't one."""
    expressions = dict(span.expressions)
    if expressions.keys() & {*LITERAL}:
        return _literal(span)
    if "value" in expressions and not expressions.get("holds"):
        raise UnreadableClaimError(
            'value= is filled in at build time and needs a holds="…" that bounds it'
        )
    if "value" in expressions and "equals" in expressions:
        raise UnreadableClaimError("equals= and value= cannot be combined")
    if expressions.get("holds") == "":
        if text[span.start] != "`":
            raise UnreadableClaimError(
                'a bare holds asserts inline code; elsewhere write holds="…"'
            )
        expressions["holds"] = span.text
    elif expressions.keys() == {"holds"} and re.search(r"[^\W\d_]", span.text):
        expressions["holds"] = _after_words(span.text, expressions["holds"])
    if not all(expressions.values()):
        raise UnreadableClaimError("equals= and value= need an expression in quotes")
    _needs_text(span)
    _holds_no_attributes(text[slice(*span.inner)])
    for expression in expressions.values():
        if why := expression_fault(expression):
            raise UnreadableClaimError(f"cannot parse the expression {expression!r}: {why}")
    if expressions.keys() == {"holds"} and text[span.start] != "`":
        words = text[slice(*span.inner)]
        if number := loose_number(words, expressions["holds"]):
            raise UnreadableClaimError(LOOSE.format(number=number))
    return Span(span.start, span.inner, span.end, span.line, span.text, expressions)


def _after_words(words: str, holds: str) -> str:
    """Return an expression without the words that it binds, which it begins with as in a fact.

    So nobody changes the words alone.
    """
    begins = f"{words}: "
    if not holds.startswith(begins):
        raise UnreadableClaimError(
            f'holds= begins with the words that it binds: write holds="{begins}…"'
        )
    return holds.removeprefix(begins).strip()


def _literal(span: Span) -> Span:
    """Return the same span as a literal, or raise an error that says why it isn't one."""
    if span.expressions.keys() != {*LITERAL}:
        raise UnreadableClaimError('write { .literal reason="…" }, with nothing else in the braces')
    reason = span.expressions["reason"]
    if reason not in REASONS:
        raise UnreadableClaimError(f"unknown reason {reason!r}; known: {', '.join(REASONS)}")
    _needs_text(span)
    return replace(span, expressions={}, reason=reason)


def _holds_no_attributes(markup: str) -> None:
    if re.search(r"[*_`)>\]]\{", CODE_SPAN.sub("``", markup)):
        raise UnreadableClaimError("a claim's text cannot contain attributes in braces")


def _needs_text(span: Span) -> None:
    if not span.text:
        raise UnreadableClaimError("this claim has no text for the reader")


def _visible(markup: str) -> str:
    """Return the text that a reader sees in a piece of inline Markdown.

    The result is compared with the page itself once the page is converted.
    """
    code = CODE_SPAN.match(markup)
    if code and code.end() == len(markup):
        return code[2].strip()
    codes = [found[2].strip() for found in CODE_SPAN.finditer(markup)]
    text = CODE_SPAN.sub("\0", markup)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"(?<![\\\w])(\*+|_+)(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", text)
    text = re.sub(r"<[^>]+>", "", text)
    text = re.sub(r"\\([\\`*_{}\[\]()#+.!|>-])", r"\1", text)
    parts = html.unescape(text).split("\0")
    pieces = zip(parts, [*codes, ""], strict=False)
    return " ".join("".join(f"{part}{code}" for part, code in pieces).split())
