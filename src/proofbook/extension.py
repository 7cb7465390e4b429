"""The Markdown extension: runs the page that is being converted, in whatever builder converts it."""

import atexit
import base64
import mimetypes
from pathlib import Path
from typing import Any

from proofbook.book import Book
from proofbook.bookfile import load
from proofbook.face import PageFace
from proofbook.ledger import circumstances
from proofbook.problems import ChapterError
from proofbook.sheet import Sheet
from proofbook.weave import Weaver


class ProofbookExtension(Weaver):
    """Runs and shows the chapters of a book.

    Under the MkDocs plugin the pages are run beforehand, and `face` is set for each. Alone, the
    extension runs the page that it is given, and raises `ChapterError` where that does not pass.
    """

    def __init__(self, **options: Any) -> None:
        self.config = {
            "config_file": ["mkdocs.yml", "The file with the settings of the book"],
            "preload": [[], "Packages to import before any page runs"],
            "timeout": [60.0, "Seconds until a block counts as hanging"],
            "jobs": [0, "How many pages run side by side; 0 leaves it to the machine"],
            "cache_dir": ["", "Where results are kept"],
            "environment": [[], "Environment variables on which results depend"],
            "sources": [["src"], "Folders of the modules that pages show and import"],
            "hashed": [{}, "Label to file, each hashed in the ledger"],
            "source_url": ["", "Where {path}, lines {first} to {last}, can be read"],
        }
        super().__init__()
        self.setConfigs(options)
        self.options = {name: value for name, value in options.items() if name != "config_file"}
        self.with_plugin = False

    def extendMarkdown(self, md: Any) -> None:  # noqa: N802
        """Register the processors; alone, open the book."""
        super().extendMarkdown(md)
        if self.face is None and not self.with_plugin:
            book = Book(load(Path(self.getConfig("config_file")), self.options))
            atexit.register(book.close)
            self.turn(_LoneFace(book, "", circumstances(book.settings), _data_url))


class _LoneFace(PageFace):
    """Shows a page that nobody has run before, or stops at its problems."""

    def open(self, text: str) -> Sheet:
        self.path = self.book.path_of(text) or "<page>"
        sheet = super().open(text)
        if self.known.problems:
            raise ChapterError(self.known.problems)
        return sheet


def _data_url(name: str, path: str) -> str:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(Path(path).read_bytes()).decode()}"


def makeExtension(**options: Any) -> ProofbookExtension:  # noqa: N802
    """Python-Markdown's way to ask for the extension."""
    return ProofbookExtension(**options)
