"""Find the addresses on other hosts that a browser loads as soon as it opens some markup.

Pages must not load anything from other hosts. Scripts are read, not run, so an address that a
script builds from parts goes undetected.
"""

import re
from collections.abc import Iterator
from html.parser import HTMLParser

LOADING = {"background", "data", "href", "imagesrcset", "poster", "src", "srcset", "xlink:href"}
FOLLOWED = {"a", "area"}
PASSIVE = {"alternate", "author", "canonical", "help", "license", "next", "prev", "search"}
"""`rel` values of links for which nothing is loaded."""
DATA = re.compile(r"(?!.*importmap).*(?:json|plain|tex|template)", re.IGNORECASE)
"""Script types that no browser runs."""

ADDRESS = r"(?:[a-z][a-z0-9+.-]*:)?[/\\]{2}[^\s\"'`()<>,;]+"
ANY = re.compile(rf"(?<![\w:/\\.-])(?!asset:){ADDRESS}", re.IGNORECASE)
HELD = re.compile(r"data:\S*", re.IGNORECASE)
IN_STYLE = re.compile(rf"(?:url\(\s*|@import\s+)[\"']?(?!asset:)({ADDRESS})", re.IGNORECASE)
LITERAL = rf"[\"'`](?!asset:)({ADDRESS})"
LOADS = re.compile(
    r"(?:\bimport\b\s*\(?|\bfrom\b|\b(?:fetch|importScripts|require|sendBeacon|getScript|getJSON"
    r"|Worker|SharedWorker|EventSource|WebSocket|Request|csv|json|tsv)\s*\(\s*\[?"
    r"|\.open\s*\(\s*[\"'`]\w+[\"'`]\s*,|\.(?:src|poster)\s*=)"
    rf"\s*{LITERAL}",
    re.IGNORECASE,
)
HOSTS = re.compile(
    r"[/\\]{2}[^/\\]*(?:\bcdn|cdn\b|cdnjs|jsdelivr|unpkg|esm\.sh|skypack|polyfill|googleapis|gstatic)",
    re.IGNORECASE,
)
"""Hosts that serve only resources for pages to load."""


def asked_by(markup: str) -> tuple[str, ...]:
    """Return each address on another host that a browser loads when it opens the markup."""
    if not re.search(r"[/\\]\s*[/\\]|&", markup):
        return ()
    opened = _Opened()
    opened.feed(markup)
    opened.close()
    return tuple(dict.fromkeys(opened.asked))


class _Opened(HTMLParser):
    """A parser that reads markup as a browser would."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self._within = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        is_passive = tag == "link" and {*given.get("rel", "").lower().split()} <= PASSIVE
        for name, value in given.items():
            text = re.sub(r"[\t\n\r]", "", value)
            if name == "srcdoc":
                self.asked += asked_by(value)
            elif name.startswith("on"):
                self.asked += _by_script(value)
            elif name in LOADING and tag not in FOLLOWED and not is_passive:
                self.asked += ANY.findall(HELD.sub("", text))
            elif tag == "meta" and name == "content" and "http-equiv" in given:
                self.asked += re.findall(rf"url\s*=\s*[\"']?({ADDRESS})", text, re.IGNORECASE)
            elif "url(" in text.lower():
                self.asked += IN_STYLE.findall(text)
        self._within = tag if tag in ("script", "style") else ""
        if tag == "script" and DATA.fullmatch(given.get("type", "")):
            self._within = ""

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._within = ""

    def handle_endtag(self, tag: str) -> None:
        self._within = ""

    def handle_data(self, data: str) -> None:
        if self._within == "script":
            self.asked += _by_script(data)
        elif self._within == "style":
            self.asked += IN_STYLE.findall(data)


def _by_script(code: str) -> Iterator[str]:
    yield from LOADS.findall(code)
    yield from (one for one in re.findall(LITERAL, code, re.IGNORECASE) if HOSTS.match(_bare(one)))


def _bare(address: str) -> str:
    """Return an address without its scheme."""
    return re.sub(r"^[a-z][a-z0-9+.-]*:", "", address, flags=re.IGNORECASE)
