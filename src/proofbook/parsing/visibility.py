"""What becomes of the fences and claims of a text when Markdown makes a page of it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, field
from html import unescape
from typing import Any

from markdown import Markdown
from markdown.extensions import Extension
from markdown.util import Registry

from proofbook.caching.text_cache import TextCache
from proofbook.parsing.markdown_processors import TAG, MarkingExtension
from proofbook.parsing.readings import Reading, readings
from proofbook.parsing.source import Marks, SourceText, read

PIECE = re.compile(
    r"(?P<hidden><!--.*?-->|<pre\b.*?</pre>)"
    r"|(?P<code><code\b.*?</code>)"
    r"|(?P<tag></?[a-zA-Z](?:\"[^\"]*\"|'[^']*'|[^'\">])*>)"
    r"|⟦(?P<kind>fence|claim|end|stray) (?P<index>\d+)⟧",
    re.DOTALL,
)
MARK = re.compile(r"⟦(fence|claim|stray) (\d+)⟧")
REVERTED = re.compile(rf"{TAG}=(?:&quot;|\")(\d+)")
LEFT_OVER = re.compile(
    r"\{:?\s*(?:\.literal\b|(?:equals?|values?|reason)\s*=|holds?(?=[\s=}]))[^}\n\0]*\}?"
)
FROM_TEXT_ALONE = frozenset(
    [
        *("abbr", "admonition", "attr_list", "def_list", "fenced_code", "footnotes"),
        *("md_in_html", "smarty", "tables", "toc"),
        *("proofbook.maths", "pymdownx.details", "pymdownx.highlight"),
        *("pymdownx.superfences", "pymdownx.tabbed"),
    ]
)
"""Extensions that, as to where text ends up, read no file and ask no clock."""

Mark = tuple[str, int]


@dataclass
class Visibility:
    """Where the marks of fences (`"fence", n`) and claims (`"claim", n`) were found.

    Attributes:
        source: The text as the preprocessors saw it.
        seen: Those on the page, as a reader sees them.
        hidden: Those in comments and code blocks, which are no part of the chapter.
        in_tag: Those within a tag: an attribute.
        strays: The code of fences on the page that the source does not know.
        left_over: Braces that read like a claim's, and that a reader sees.
        readings: For each claim that a reader sees, what is read at and beside it.
    """

    source: SourceText
    seen: set[Mark] = field(default_factory=set)
    hidden: set[Mark] = field(default_factory=set)
    in_tag: set[Mark] = field(default_factory=set)
    strays: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    readings: dict[int, Reading] = field(default_factory=dict)


def recall(
    body: str,
    extensions: Sequence[str | Extension],
    configs: Mapping[str, Mapping[str, Any]],
    text_cache: TextCache,
) -> Visibility:
    """Answer as `follow` does, from the cache where an earlier build has put it there."""
    if not all(isinstance(one, str) and one in FROM_TEXT_ALONE for one in extensions):
        return follow(body, extensions, configs)
    question = ("visibility", body, tuple(extensions), configs)
    if (found := text_cache.get(*question)) is None:
        visibility = follow(body, extensions, configs)
        sets = [sorted(marks) for marks in (visibility.seen, visibility.hidden, visibility.in_tag)]
        text_cache.put(
            [
                *(visibility.source.text, *sets, visibility.strays, visibility.left_over),
                [[index, *astuple(one)] for index, one in visibility.readings.items()],
            ],
            *question,
        )
        return visibility
    text, *lists, strays, left_over, read_at = found
    seen, hidden, in_tag = ({(kind, index) for kind, index in marks} for marks in lists)
    known = {
        index: Reading(at, before, after, tuple(tags)) for index, at, before, after, tags in read_at
    }
    return Visibility(read(text), seen, hidden, in_tag, strays, left_over, known)


def follow(
    body: str, extensions: Sequence[str | Extension], configs: Mapping[str, Mapping[str, Any]]
) -> Visibility:
    """Convert a text with a mark for each fence and claim, and find the marks."""
    collector = _Collector()
    marking = MarkingExtension()
    marking.use(collector)
    options = {name: dict(config) for name, config in configs.items()}
    md = Markdown(extensions=[*extensions, marking], extension_configs=options)
    md.treeprocessors = _only(md.treeprocessors, {"footnote": 50, "inline": 20})
    html = md.convert(body)
    visibility = Visibility(collector.source, readings=readings(html))
    visible: list[str] = []
    at = 0
    for piece in PIECE.finditer(html):
        visible.append(html[at : piece.start()])
        at = piece.end()
        marks = {(kind, int(index)) for kind, index in MARK.findall(piece[0])}
        if piece["hidden"]:
            visibility.hidden |= marks
            visibility.hidden |= {("fence", int(index)) for index in REVERTED.findall(piece[0])}
        elif piece["tag"]:
            visibility.in_tag |= marks
        else:
            visibility.seen |= marks
    visible.append(html[at:])
    visibility.left_over = LEFT_OVER.findall(unescape("\0".join(visible)))
    visibility.strays = [
        collector.strays[n] for kind, n in sorted(visibility.seen) if kind == "stray"
    ]
    return visibility


def _only(registry: Registry[Any], names: Mapping[str, float]) -> Registry[Any]:
    """Return the processors that decide where text ends up.

    The rest, half of the work, adorns it.
    """
    kept: Registry[Any] = Registry()
    for name, priority in names.items():
        if name in registry:
            kept.register(registry[name], name, priority)
    return kept


class _Collector:
    """Leaves a recognisable mark for each fence and claim."""

    def __init__(self) -> None:
        self.source = read("")
        self.strays: list[str] = []

    def open(self, text: str) -> SourceText:
        self.source = read(text)
        return self.source

    def has_fence(self, index: int) -> bool:
        return True

    def fence(self, index: int, md: Markdown) -> str:
        return f"<div>⟦fence {index}⟧</div>"

    def stray(self, code: str) -> str:
        self.strays.append(code)
        return f"<div>⟦stray {len(self.strays) - 1}⟧</div>"

    def claim(self, index: int) -> Marks:
        target = self.source.text[slice(*self.source.spans[index].inner)]
        return f"⟦claim {index}⟧", target, f"⟦end {index}⟧"

    def ends(self) -> tuple[str, str]:
        return "", ""
