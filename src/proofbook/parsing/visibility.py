"""Find where the fences and claims of a text end up when Markdown converts it to a page."""

import contextlib
import re
from collections.abc import Mapping, Sequence
from contextvars import Context
from dataclasses import dataclass, field
from html import unescape
from typing import Any
from unicodedata import normalize

from markdown import Markdown
from markdown.extensions import Extension
from markdown.util import Registry

from proofbook.caching.memo import Memo
from proofbook.parsing.attributes import fault, watch
from proofbook.parsing.markdown_processors import TAG, MarkingExtension
from proofbook.parsing.readings import Reading, readings
from proofbook.parsing.source import Marks, SourceText, read

PIECE = re.compile(
    r"(?P<comment><!--.*?-->)|(?P<literal><pre\b.*?</pre>)"
    r"|(?P<code><code\b.*?</code>)"
    r"|(?P<tag></?[a-zA-Z](?:\"[^\"]*\"|'[^']*'|[^'\">])*>)"
    r"|⟦(?P<kind>fence|claim|fact|end|stray) (?P<index>\d+)⟧",
    re.DOTALL,
)
MARK = re.compile(r"⟦(fence|claim|fact|stray) (\d+)⟧")
PHRASE = re.compile(r"⟦fact (\d+)⟧(.*?)⟦end fact⟧", re.DOTALL)
TAG_ALONE = re.compile(r"<(/?)([a-zA-Z][\w-]*)(?:\"[^\"]*\"|'[^']*'|[^'\">])*?(/?)>")
FACT_MARK = re.compile(r"⟦(?:fact \d+|end fact)⟧")
ANY_MARK = re.compile(r"⟦[^⟧]*⟧")
REVERTED = re.compile(rf"{TAG}=(?:&quot;|\")(\d+)")
LEFT_OVER = re.compile(
    r"\{:?\s*(?:\.literal\b|(?:equals?|values?|reason)\s*=|holds?(?=[\s=}]))[^}\n\0]*\}?"
    r"|\{[^{}]{0,300}?(?<![\w-])(?:equals|holds|value|reason)\s*=\s*[\"'“”‘’«»][^{}\n\0]*\}?"
)
"""Braces that look like a claim's, at their beginning or further on."""
BEHIND_A_SPAN = re.compile(r"(?<=\])\{:?([^{}\n\0]*[\"'“”‘’«»][^{}\n\0]*)\}")
"""Braces with a string in them, which are almost surely a claim if they mean nothing else."""
IN_A_TAG = re.compile(r"(?<=\s)(?:data-)?(?:equals|holds)(?=[\s=>])")
QUOTED = re.compile(r"\"[^\"]*\"|'[^']*'")
FROM_TEXT_ALONE = frozenset(
    [
        *("abbr", "admonition", "attr_list", "def_list", "fenced_code", "footnotes"),
        *("md_in_html", "smarty", "tables", "toc"),
        *("proofbook.maths", "pymdownx.details", "pymdownx.highlight"),
        *("pymdownx.superfences", "pymdownx.tabbed"),
    ]
)
"""Extensions whose result depends on the text alone, not on files or a clock."""

Mark = tuple[str, int]


@dataclass
class Visibility:
    """Where the marks of fences (`"fence", n`), claims (`"claim", n`), and facts were found.

    Attributes:
        source: The text as the preprocessors saw it.
        seen: The marks that readers see on the page.
        hidden: The marks in comments and code blocks, which aren't part of the chapter.
        in_tag: The marks within a tag, in an attribute.
        literal: The hidden marks that readers see as text, in a code block.
        strays: The code of fences on the page that aren't in the source.
        left_over: Braces that readers see and that look like a claim's.
        attributes: The inside of each pair of braces that Markdown turned into attributes.
        tags: Tags with an attribute that looks like a claim's.
        torn: Facts whose marks enclose something other than their phrase in one piece.
        readings: What readers see at and beside each visible claim.
    """

    source: SourceText
    seen: set[Mark] = field(default_factory=set)
    hidden: set[Mark] = field(default_factory=set)
    in_tag: set[Mark] = field(default_factory=set)
    literal: set[Mark] = field(default_factory=set)
    strays: list[str] = field(default_factory=list)
    left_over: list[str] = field(default_factory=list)
    attributes: list[str] = field(default_factory=list)
    tags: list[str] = field(default_factory=list)
    torn: list[int] = field(default_factory=list)
    readings: dict[int, Reading] = field(default_factory=dict)


def recall(
    body: str,
    extensions: Sequence[str | Extension],
    configs: Mapping[str, Mapping[str, Any]],
    memo: Memo,
) -> Visibility:
    """Return the result of `follow`, from the memo if an earlier build has kept it."""
    if all(isinstance(one, str) and one in FROM_TEXT_ALONE for one in extensions):
        with contextlib.suppress(TypeError):  # an option may be no plain data
            return memo.get(follow, body, tuple(extensions), configs)
    return follow(body, extensions, configs)


def follow(
    body: str, extensions: Sequence[str | Extension], configs: Mapping[str, Mapping[str, Any]]
) -> Visibility:
    """Convert a text with a mark for each fence, claim, and fact, and find the marks."""
    collector = _Collector()
    marking = MarkingExtension()
    marking.use(collector)
    options = {name: dict(config) for name, config in configs.items()}
    md = Markdown(extensions=[*extensions, marking], extension_configs=options)
    md.treeprocessors = _only(md.treeprocessors, {"footnote": 50, "inline": 20, "attr_list": 8})
    taken = watch(md.treeprocessors["attr_list"])  # type: ignore[arg-type]
    html = Context().run(md.convert, body)  # a page may be opened while it is being converted
    visibility = Visibility(collector.source, attributes=taken)
    visibility.readings = readings(FACT_MARK.sub("", html))
    visible: list[str] = []
    at = 0
    for piece in PIECE.finditer(html):
        visible.append(html[at : piece.start()])
        at = piece.end()
        marks = {(kind, int(index)) for kind, index in MARK.findall(piece[0])}
        if piece["comment"]:
            visibility.hidden |= marks
        elif piece["literal"]:
            visibility.literal |= marks
            visibility.literal |= {("fence", int(index)) for index in REVERTED.findall(piece[0])}
        elif piece["tag"]:
            visibility.in_tag |= marks
            if IN_A_TAG.search(QUOTED.sub("", piece[0])):
                visibility.tags.append(piece[0])
        else:
            visibility.seen |= marks
    visible.append(html[at:])
    visibility.hidden |= visibility.literal
    read_by_all = normalize("NFKC", unescape("\0".join(visible)))
    behind = (match for match in BEHIND_A_SPAN.finditer(read_by_all) if fault(match[1]))
    visibility.left_over = LEFT_OVER.findall(read_by_all) or [match[0] for match in behind]
    visibility.torn = _torn(collector.source, html)
    visibility.strays = [
        collector.strays[n] for kind, n in sorted(visibility.seen) if kind == "stray"
    ]
    return visibility


def _torn(source: SourceText, html: str) -> list[int]:
    """Return the facts whose marks enclose something other than their phrase in one piece."""
    whole = set()
    for number, inner in PHRASE.findall(html):
        phrase = source.facts[int(number)].phrase
        words = " ".join(unescape(TAG_ALONE.sub("", ANY_MARK.sub("", inner))).split())
        if _is_closed(inner) and (words == phrase or "$" in phrase):
            whole.add(int(number))
    return [index for index in range(len(source.facts)) if index not in whole]


def _is_closed(html: str) -> bool:
    """Return whether a piece of HTML closes all the tags that it opens, and no others."""
    opened: list[str] = []
    for closing, name, alone in TAG_ALONE.findall(html):
        if closing:
            if not opened or opened.pop() != name:
                return False
        elif not alone and name not in ("br", "img", "wbr"):
            opened.append(name)
    return not opened


def _only(registry: Registry[Any], names: Mapping[str, float]) -> Registry[Any]:
    """Return the processors that decide where text ends up.

    The others take half of the time and only decorate.
    """
    kept: Registry[Any] = Registry()
    for name, priority in names.items():
        if name in registry:
            kept.register(registry[name], name, priority)
    return kept


class _Collector:
    """Leaves a recognizable mark for each fence, claim, and phrase."""

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

    def fact(self, index: int) -> tuple[str, str]:
        return f"⟦fact {index}⟧", "⟦end fact⟧"

    def ends(self) -> tuple[str, str]:
        return "", ""
