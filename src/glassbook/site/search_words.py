"""Add words that the search finds sections by, besides those in their text.

The index by subject lists other names for each subject and links to the sections about it. The
glossary links each term to the chapter that explains it. A page's front matter can add more words:
`section_tags: {anchor: [word, …]}`.
"""

import json
import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

from mkdocs.config import config_options as options
from mkdocs.config.base import Config
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.plugins import BasePlugin, event_priority
from mkdocs.structure.files import Files

from glassbook.site.glossary.terms import read_terms
from glassbook.site.page_text import is_markdown, read_page, text_at

ROW = re.compile(r"^\| (?!subject \||-)(.+?)(?: \((.+?)\))? \| (.+) \|$", re.MULTILINE)
LINK = re.compile(r"\]\(([\w/.-]+)#([\w-]+)\)")
INDEX = "search/search_index.json"


class SearchWordsConfig(Config):
    """The index by subject and the glossary, relative to the docs folder."""

    topics = options.Type(str)
    glossary = options.Type(str)


class SearchWordsPlugin(BasePlugin[SearchWordsConfig]):
    """Adds the words to the search's entries as tags."""

    def __init__(self) -> None:
        self.words: dict[str, list[str]] = {}

    @event_priority(-200)  # once all files exist
    def on_files(self, files: Files, /, *, config: MkDocsConfig) -> None:
        """Read the words, by the address of each section.

        Raises:
            PluginError: The index by subject or the glossary is missing.
        """
        self.words = {}
        for file in files.documentation_pages():
            if is_markdown(file):
                tags = read_page(file.content_string).meta.get("section_tags", {})
                for anchor, words in tags.items():
                    self._add(words, file.src_uri, f"#{anchor}", files)
        folder = posixpath.dirname(self.config.topics)
        for words, page, anchor in subjects(text_at(self.config.topics, files)):
            self._add(words, posixpath.normpath(posixpath.join(folder, page)), f"#{anchor}", files)
        for form, term in read_terms(text_at(self.config.glossary, files)).terms.items():
            self._add([form], term.home, "", files)

    def _add(self, words: list[str], page: str, anchor: str, files: Files) -> None:
        there = files.get_file_from_path(page)
        if there is not None:  # MkDocs warns about broken links
            url = "" if there.url == "./" else there.url  # the search's address for the home page
            self.words.setdefault(f"{url}{anchor}", []).extend(words)

    @event_priority(-100)  # after the search has written its index
    def on_post_build(self, *, config: MkDocsConfig) -> None:
        """Add the words.

        Raises:
            PluginError: A section isn't in the search index.
        """
        file = Path(config.site_dir, INDEX)
        index = json.loads(file.read_text(encoding="utf-8"))
        entries = {unquote(entry["location"]): entry for entry in index["docs"]}
        if lost := sorted({*self.words} - {*entries}):
            raise PluginError(f"search-words: the search has no section {', '.join(lost)}")
        for place, words in self.words.items():
            tags = entries[place].get("tags", [])
            entries[place]["tags"] = list(dict.fromkeys([*tags, *words]))
        text = json.dumps(index, separators=(",", ":"), ensure_ascii=False)
        file.write_text(text, encoding="utf-8")


def subjects(index: str) -> Iterator[tuple[list[str], str, str]]:
    """Yield the names of each subject, with a page and an anchor that it links to.

    >>> list(subjects("| Masks (causal, padding) | Masks: [One](masks.md#one) |"))
    [(['Masks', 'causal', 'padding'], 'masks.md', 'one')]
    """
    for name, others, places in ROW.findall(index):
        names = [name, *(others.split(", ") if others else [])]
        for page, anchor in LINK.findall(places):
            yield names, page, anchor
