"""Convert a page to plain Markdown that any notebook can show, split at the code that runs.

This edits the text with regular expressions because no parser returns Markdown. Python-Markdown's
tree is close to HTML: it has no positions in the text, and its formulas and links are already
converted. jupytext and markdown-it read CommonMark, where the content of a fold or a tab is
indented code, so they miss the blocks there. They also leave attribute lists in the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from proofbook.checking.book import Checked
from proofbook.checking.source_lookup import Shown
from proofbook.coverage.masking import MATHS
from proofbook.notebook.links import Links
from proofbook.parsing.fences import OPENING, Fence
from proofbook.parsing.source import SourceText, edited

MARK = re.compile("\x02(claim|block|kept) (\\d+)\x03")
"""Placeholders for text that must not be changed or that must be found again."""
ALONE = re.compile("([> ]*)\x02(block|kept) (\\d+)\x03", re.MULTILINE)
CONTAINER = re.compile(r'(?:(?:!!!|\?\?\?\+?)(?=[ ])|===[!+]?)[ ]*([\w -]*?)[ ]*(?:"(.*)")?[ ]*')
HEADING = re.compile(r"#{1,6}\s")

_CODE = r"(?<![\\`])(?P<ticks>`+)(?!`).+?(?<!`)(?P=ticks)(?!`)"
_LINK = (
    r"(?P<image>!?)\[(?P<text>(?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]"
    r"\((?P<target><[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?P<title>\s+(?:\"[^\"]*\"|'[^']*'))?\)"
)
_ICON = r":(?:material|fontawesome|octicons|simple)-[\w-]+:(?:\{[^{}\n]*\})?[ ]?"
_ATTRIBUTE = r"(?:[.#][\w:-]+|[\w:-]+=(?:\"[^\"\n]*\"|'[^'\n]*'|[\w./%-]+))"
_ATTRIBUTES = rf"[ ]*\{{:?[ ]*{_ATTRIBUTE}(?:[ ]+{_ATTRIBUTE})*[ ]*\}}"
INLINE = re.compile(f"{_CODE}|{_LINK}|{_ICON}|<!--.*?-->|{_ATTRIBUTES}", re.DOTALL)
INLINE_WITH_MATHS = re.compile(f"{INLINE.pattern}|(?P<maths>{MATHS.pattern})", re.DOTALL)


@dataclass(frozen=True)
class Text:
    """Prose between two blocks, or between a block and a heading.

    Attributes:
        markdown: The prose, including fences that are only shown.
        claims: The claims in it, by their number in the chapter.
        begins: Whether it begins with a heading.
    """

    markdown: str
    claims: tuple[int, ...]
    begins: bool


@dataclass(frozen=True)
class Code:
    """A block of the chapter, by its number."""

    block: int


def pieces(checked: Checked, links: Links, maths: bool) -> Iterator[Text | Code]:
    """Yield the prose and the blocks of a page, in order.

    Args:
        checked: The page and its run.
        links: Rewrites the page's links.
        maths: Whether the book has formulas between dollar signs, which are left as they are.
    """
    marked, kept = _marked(checked, links)
    paragraphs = re.split(r"(\n[ >]*\n)", marked)
    plain = "".join(_cleaned(part, links, maths) for part in paragraphs)
    collected: list[str] = []
    indent = 0
    for line in [*_unfolded(plain.split("\n")), None]:
        alone = ALONE.fullmatch(line) if line is not None else None
        cut = alone is not None and alone[2] == "block"
        if line is None or cut or HEADING.match(line):
            yield from _text(collected, kept)
            collected = []
        if line is None:
            return
        if alone is not None and cut:
            yield Code(int(alone[3]))
            indent = len(alone[1])
            continue
        if indent and line.strip() and line[:indent].strip():
            indent = 0
        collected.append(line[indent:])


def _text(lines: list[str], kept: list[str]) -> Iterator[Text]:
    """Yield one piece of prose, if there is any, with kept fences put back."""

    def unkept(match: re.Match[str]) -> str:
        inner = kept[int(match[3])].split("\n")
        return "\n".join(f"{match[1]}{line}".rstrip() for line in inner)

    text = ALONE.sub(unkept, "\n".join(lines))
    claims = tuple(int(number) for kind, number in MARK.findall(text))
    text = re.sub(r"\n{3,}", "\n\n", MARK.sub("", text)).strip("\n")
    if text.strip():
        yield Text(text.rstrip(), claims, bool(HEADING.match(text)))


# -- Marks -----------------------------------------------------------------------------------


def _marked(checked: Checked, links: Links) -> tuple[str, list[str]]:
    """Return the text, with claims as readers see them and fences as marks, and the kept fences.

    A fence that runs becomes a mark with its block's number; the text of any other is kept.
    """
    page, source = checked.page, checked.page.source
    kept: list[str] = []
    edits: list[tuple[int, int, str]] = []
    for index, number in page.claims.items():
        span = source.spans[index]
        edits.append((span.start, span.end, f"{_seen(checked, index)}\x02claim {number}\x03"))
    for index, number in page.facts.items():
        end = source.facts[index].end
        edits.append((end, end, f"\x02claim {number}\x03"))
    for index in page.literals:
        span = source.spans[index]
        edits.append((span.start, span.end, source.text[slice(*span.inner)]))
    for index in page.shown:
        fence = source.fences[index]
        start, end, prefix = _extent(source, fence.line)
        if fence.kind == "facts":
            edits.append((start, end, ""))
            continue
        if fence.runs:
            mark = f"block {page.blocks[index]}"
        else:
            mark = f"kept {len(kept)}"
            kept.append(_as_shown(fence, checked.sources.get(index), links))
        edits.append((start, end, f"{prefix}\x02{mark}\x03"))
    for foreign in source.foreign:
        start, end, prefix = _extent(source, foreign.line)
        edits.append((start, end, f"{prefix}\x02kept {len(kept)}\x03"))
        kept.append(_fenced(foreign.code, foreign.language))
    return edited(source.text, edits), kept


def _seen(checked: Checked, index: int) -> str:
    """Return what a reader sees of a claim, as Markdown, with its value filled in."""
    page, source = checked.page, checked.page.source
    span = source.spans[index]
    claim = page.chapter.claims[page.claims[index]]
    inner = source.text[slice(*span.inner)]
    if claim.value is None:
        return inner
    value = str(checked.run.values[claim.value, claim.place].data)
    mark = re.match(r"\*+|_+", inner)
    if inner.startswith("`"):
        return f"`{value}`"
    value = re.sub(r"([\\`*_\[\]<>|$])", r"\\\1", value)
    return f"{mark[0]}{value}{mark[0]}" if mark else value


def _extent(source: SourceText, line: int) -> tuple[int, int, str]:
    """Return where the fence that opens at a line starts and ends in the text, and its prefix."""
    lines = source.text.split("\n")
    opening = OPENING.match(lines[line - 1])
    assert opening is not None
    end = line
    while lines[end].lstrip("> ").rstrip() != opening["ticks"]:
        end += 1
    start = sum(len(one) + 1 for one in lines[: line - 1])
    length = sum(len(one) + 1 for one in lines[line - 1 : end + 1]) - 1
    return start, start + length, opening["prefix"]


def _as_shown(fence: Fence, shown: Shown | None, links: Links) -> str:
    """Return a fence that doesn't run: shown source, or code with the reason it isn't run."""
    if shown is None:
        return f"{_fenced(fence.code, 'python')}\n\n*Not run: {fence.options['reason']}*"
    name = links.settings.name(shown.path)
    where = f"*`{name}`, {shown.place}*"
    return f"{_fenced(shown.code, 'python')}\n\n{where}"


def _fenced(code: str, language: str) -> str:
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    ticks = "`" * (longest + 1)
    return f"{ticks}{language}\n{code}\n{ticks}"


# -- Syntax ----------------------------------------------------------------------------------


def _cleaned(text: str, links: Links, maths: bool) -> str:
    """Drop attribute lists, icons, and comments, and make links work from a notebook."""

    def plain(match: re.Match[str]) -> str:
        if match["text"] is not None:
            inner = _cleaned(match["text"], links, maths)
            bare = MARK.sub("", inner)
            title = match["title"] or ""
            linked = links.link(bare, match["target"], title, bool(match["image"]))
            return linked.replace(bare, inner, 1)
        if match["ticks"] or (maths and match["maths"]):
            return match[0]
        return ""

    return (INLINE_WITH_MATHS if maths else INLINE).sub(plain, text)


def _unfolded(lines: list[str]) -> list[str]:
    """Replace each admonition, fold, and tab with a bold title and its content.

    Those without code become block quotes.
    """
    out: list[str] = []
    at = 0
    while at < len(lines):
        opening = CONTAINER.fullmatch(lines[at])
        if opening is None:
            out.append(lines[at])
            at += 1
            continue
        end = at + 1
        while end < len(lines) and (not lines[end].strip() or lines[end].startswith("    ")):
            end += 1
        body = _unfolded([line[4:] for line in lines[at + 1 : end]])
        out += _contained(_title(opening), "\n".join(body).strip("\n").split("\n"))
        at = end
    return out


def _title(opening: re.Match[str]) -> str:
    return opening[1].partition(" ")[0].capitalize() if opening[2] is None else opening[2]


def _contained(title: str, body: list[str]) -> list[str]:
    head = [f"**{title}**", ""] if title else []
    if any(ALONE.fullmatch(line) for line in body):
        return [*head, *body, ""]
    return [*(f"> {line}".rstrip() for line in [*head, *body]), ""]
