"""What a test wants to know about a page of the site."""

from dataclasses import dataclass, field
from functools import cache, cached_property
from html.parser import HTMLParser
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHAPTERS = sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md"))
VERBATIM = {"code", "pre", "script", "style", "math", "svg", "template"}
VOID = {"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "wbr"}
# What sticks out of the window to the right, and is not inside a box that scrolls by itself.
STICKING_OUT = """() => [...document.querySelectorAll('main *')].filter(element => {
  const box = element.getBoundingClientRect();
  if (box.width === 0 || box.right <= innerWidth + 1) return false;
  for (let e = element; e && e.tagName !== 'MAIN'; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (style.overflowX !== 'visible' || style.clipPath !== 'none') return false;
  }
  return true;
}).map(element => element.outerHTML.slice(0, 120))"""


@dataclass
class Tag:
    """An element, its attributes, and where its text is in that of its page."""

    name: str
    attributes: dict[str, str]
    data: list[str] = field(repr=False)  # of the whole page
    first: int
    last: int | None  # none while it is open

    @cached_property
    def text(self) -> str:
        """The text directly and indirectly within."""
        return "".join(self.data[self.first : self.last])


@dataclass
class Page(HTMLParser):
    """The tags of a page in order, and its words outside code, formulas and drawings.

    What stands in a `<template>` is not yet part of the page.
    """

    path: Path
    tags: list[Tag] = field(default_factory=list)
    prose: str = ""
    lang: str = ""

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[Tag] = []
        self.data: list[str] = []
        self.outside: list[str] = []
        self.templates = self.verbatim = 0  # how many of them are open
        self.feed(self.path.read_text(encoding="utf-8"))
        self.prose = "".join(self.outside)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        made = self.made(tag, attrs)
        if not self.templates:
            self.tags.append(made)
        if tag not in VOID:
            made.last = None
            self.open.append(made)
            self.templates += tag == "template"
            self.verbatim += tag in VERBATIM

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(self.made(tag, attrs))

    def handle_endtag(self, tag: str) -> None:
        if any(open_tag.name == tag for open_tag in self.open):
            closed = None
            while closed is None or closed.name != tag:
                closed = self.open.pop()
                closed.last = len(self.data)
                self.templates -= closed.name == "template"
                self.verbatim -= closed.name in VERBATIM

    def handle_data(self, data: str) -> None:
        self.data.append(data)
        if not self.verbatim:
            self.outside.append(data)

    def made(self, name: str, attributes: list[tuple[str, str | None]]) -> Tag:
        """An element that begins here, and has no text yet."""
        here = len(self.data)
        return Tag(name, {key: value or "" for key, value in attributes}, self.data, here, here)

    def named(self, *names: str) -> list[Tag]:
        """The elements of these names, in order."""
        return [tag for tag in self.tags if tag.name in names]

    @cached_property
    def ids(self) -> list[str]:
        """All ids on the page, repeated ones repeated."""
        return [tag.attributes["id"] for tag in self.tags if tag.attributes.get("id")]

    @cached_property
    def anchors(self) -> set[str]:
        """What an address may name after its `#`."""
        return {*self.ids}


@cache
def read(path: Path) -> Page:
    """A page of the built site, parsed once for all tests."""
    return Page(path)
