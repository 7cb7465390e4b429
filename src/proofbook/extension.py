"""The Markdown extension: runs the page that is converted, whichever builder converts it."""

import atexit
import base64
import json
import mimetypes
from functools import cache
from pathlib import Path
from typing import Any

from markdown import Markdown

from proofbook.book import Book
from proofbook.bookfile import load
from proofbook.downloads import data_url
from proofbook.face import PageFace
from proofbook.ledger import circumstances
from proofbook.notebook import Notebooks
from proofbook.problems import ChapterError
from proofbook.sheet import Sheet
from proofbook.weave import Weaver


class ProofbookExtension(Weaver):
    """Runs and shows the chapters of a book.

    Under the MkDocs plugin the pages are run beforehand, and the plugin sets the face of each.
    Alone, the extension runs the page that it is given, and raises `ChapterError` where that does
    not pass. Options are those of the plugin; a `mkdocs.yml` is read for what is not given.
    """

    def __init__(self, *, alone: bool = True, **options: Any) -> None:
        self.config = {
            "config_file": ["mkdocs.yml", "The file with the settings of the book"],
            "preload": [[], "Packages to import before any page runs"],
            "timeout": [60.0, "Seconds until a block counts as hanging"],
            "jobs": [0, "How many pages run side by side; 0 leaves it to the machine"],
            "cache_dir": ["", "Where results are kept"],
            "environment": [[], "Environment variables on which results depend"],
            "sources": [["src"], "Folders of the modules that pages show and import"],
            "hashed": [{}, "Label to file, each hashed in the ledger"],
            "coverage": [{}, "names: texts that claim nothing, for `check --coverage`"],
            "source_url": ["", "Where {path}, lines {first} to {last}, can be read"],
        }
        self.alone = alone
        self.given = {name: value for name, value in options.items() if name != "config_file"}
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the processors; alone, open the book."""
        super().extendMarkdown(md)
        if self.alone:
            self.turn(_LoneFace(_open(self.getConfig("config_file"), json.dumps(self.given))))


class _LoneFace(PageFace):
    """Runs a page that nobody has run before, and stops at its problems."""

    def __init__(self, book: Book) -> None:
        super().__init__(book, "", circumstances(book.settings), _data_url, data_url, Notebooks())

    def open(self, text: str) -> Sheet:
        self.path, whole = self.book.find(text)
        self.book.check({self.path: whole})
        sheet = super().open(text)
        if self.known.problems:
            raise ChapterError(self.known.problems)
        return sheet


@cache
def _open(config_file: str, given: str) -> Book:
    """One book, and one runner, for all pages that a builder converts."""
    book = Book(load(Path(config_file), json.loads(given)))
    atexit.register(book.close)
    return book


def _data_url(name: str, path: str) -> str:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(Path(path).read_bytes()).decode()}"


def makeExtension(**options: Any) -> ProofbookExtension:  # noqa: N802
    """Python-Markdown's way to ask for the extension."""
    return ProofbookExtension(**options)
