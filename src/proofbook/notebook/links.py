"""Convert a page's links to links that work when the page is read outside the site."""

import posixpath
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path, PurePosixPath
from urllib.parse import urljoin

from proofbook.caching.fingerprint import signature
from proofbook.parsing.front_matter import split_front_matter
from proofbook.parsing.page import normal
from proofbook.parsing.source import edited, read
from proofbook.settings import Settings

TITLE = re.compile(r"^title:\s*(?:\"(.*)\"|'(.*)'|(.*?))\s*$", re.MULTILINE)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:|//", re.IGNORECASE)
FENCE = re.compile(r"^[ >]*(?:`{3}|~{3})", re.MULTILINE)
HEADING = re.compile(r"^# +(.+?)(?: +#+)?\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Links:
    """The links of one page.

    Attributes:
        settings: The book.
        path: The page's file, relative to the project.
        titles: The titles of other pages looked up so far, by file.
    """

    settings: Settings
    path: str
    titles: dict[Path, str] = field(default_factory=dict)

    @property
    def page(self) -> str:
        """The page's file, relative to the docs folder."""
        file = self.settings.root / self.path
        docs = self.settings.docs
        return file.relative_to(docs).as_posix() if file.is_relative_to(docs) else self.path

    @property
    def address(self) -> str:
        """The page's address; "" if the book has no `site_url`."""
        return self._absolute(self.page)

    def link(self, text: str, target: str, title: str = "", is_image: bool = False) -> str:
        """Return a link as Markdown that works anywhere.

        If the book has an address, a relative target becomes absolute. If not, only the link's
        text is left, followed by the page's title unless the text contains it.
        """
        mark = "!" if is_image else ""
        target = target.strip("<>")
        if ELSEWHERE.match(target):
            return f"{mark}[{text}]({target}{title})"
        address = self._address(target)
        if address:
            return f"{mark}[{text}]({address}{title})"
        if is_image:
            return f"*{text}*"
        name = "" if target.startswith(("#", "/")) else self._title(target)
        return text if not name or name.casefold() in text.casefold() else f"{text} (“{name}”)"

    def still_hold(self) -> bool:
        """Return whether the titles that were looked up are unchanged."""
        return all(title_of(file) == title for file, title in self.titles.items())

    def _title(self, target: str) -> str:
        file = self._file(target)
        return self.titles.setdefault(file, title_of(file))

    def _address(self, target: str) -> str:
        if not self.settings.site_url:
            return ""
        if target.startswith("/"):
            return urljoin(self.settings.site_url, target)
        path, sharp, anchor = target.partition("#")
        return f"{self._absolute(self._named(path) if path else self.page)}{sharp}{anchor}"

    def _absolute(self, name: str) -> str:
        base = self.settings.site_url
        if not base:
            return ""
        return f"{base.rstrip('/')}/{served(name, self.settings.directory_urls)}"

    def _named(self, path: str) -> str:
        """Return a link's path, relative to the docs folder."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.page), path))

    def _file(self, target: str) -> Path:
        return self.settings.docs / self._named(target.partition("#")[0])


def served(name: str, directory_urls: bool) -> str:
    """Return where a site serves a file of the docs folder; a page loses its `.md`."""
    path = PurePosixPath(name)
    if path.suffix != ".md":
        return name
    stem = "index" if path.name == "README.md" else path.stem
    if not directory_urls:
        return path.with_name(f"{stem}.html").as_posix()
    folder = path.parent if stem == "index" else path.with_name(stem)
    return "" if folder == PurePosixPath() else f"{folder}/"


def title_of(file: Path) -> str:
    """Return a page's title: its first heading, or the title in its front matter, or ""."""
    state = signature(str(file)) if file.suffix == ".md" else None
    return _title(file, *state) if state else ""


@lru_cache(maxsize=1024)  # every link to a page asks for its title
def _title(file: Path, *state: int) -> str:
    """Return a page's title; the file's state is only part of the cache's key."""
    text = normal(file.read_text(encoding="utf-8", errors="replace"))
    body, _ = split_front_matter(text)
    before_fences = FENCE.split(body, maxsplit=1)[0]
    heading = HEADING.search(_seen(before_fences)) or HEADING.search(_seen(body))
    if heading:
        return heading[1].strip("`*_ ")
    named = TITLE.search(text[: len(text) - len(body)])
    return next((part for part in named.groups() if part), "") if named else ""


def _seen(text: str) -> str:
    """Return a text without its fences, with only the visible text of its claims."""
    source = read(text)
    spans = [(span.start, span.end, source.text[slice(*span.inner)]) for span in source.spans]
    fences = [(fence.body[0], fence.body[1], "") for fence in source.fences]
    return edited(text, [*spans, *fences])
