"""The Markdown extension, which runs each page it converts, in any site builder."""

import atexit
import base64
import json
import mimetypes
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any

from markdown import Markdown

from proofbook.checking.book import Book
from proofbook.integrations.reading import find_config, load
from proofbook.notebook.export import Notebooks
from proofbook.parsing.markdown_processors import MarkingExtension, Renderer
from proofbook.parsing.source import SourceText
from proofbook.problems import ChapterError
from proofbook.rendering.downloads import data_url
from proofbook.rendering.ledger import provenance
from proofbook.rendering.page_renderer import PageRenderer
from proofbook.settings import Options


class ProofbookExtension(MarkingExtension):
    """Runs and shows the chapters of a book.

    It runs each page that is converted, and raises `ChapterError` if the page doesn't pass. It has
    the options of the MkDocs plugin, which doesn't need this extension; options that aren't given
    are read from a `mkdocs.yml`.
    """

    def __init__(self, **options: Any) -> None:
        self.config = {"config_file": ["", "The file with the settings of the book"]}
        for one in fields(Options):
            # Python-Markdown converts a value to a boolean if the default is None.
            default = getattr(Options, one.name, None)
            self.config[one.name] = ["" if default is None else default, one.metadata["meaning"]]
        self.given = {name: value for name, value in options.items() if name != "config_file"}
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        """Register the processors."""
        super().extendMarkdown(md)

    def begin(self) -> Renderer | None:
        """Open the book for the first page: a builder may make an extension only to check it."""
        if self.renderer is None:
            self.use(_LoneRenderer(_open(self.getConfig("config_file"), json.dumps(self.given))))
        return self.renderer

    def pass_by(self, text: str) -> None:
        """Raise an error for claims in a text that is converted within a page."""
        assert isinstance(self.renderer, _LoneRenderer)
        if problems := self.renderer.book.unchecked(self.renderer.path or "<page>", text):
            raise ChapterError(problems)


class _LoneRenderer(PageRenderer):
    """Runs a page when it is opened, and raises an error if it has problems."""

    def __init__(self, book: Book) -> None:
        about = provenance(book.settings)
        super().__init__(book, "", about, asset_data_url, data_url, Notebooks().of)

    def open(self, text: str) -> SourceText:
        self.path, whole = self.book.find(text)
        self.book.check({self.path: whole})
        source = super().open(text)
        if self.known.problems:
            raise ChapterError(self.known.problems)
        return source


@cache
def _open(config_file: str, given: str) -> Book:
    """Return the one book, with one runner, that all pages share."""
    file = Path(config_file) if config_file else find_config(Path())
    book = Book(load(file, json.loads(given)))
    atexit.register(book.close)
    return book


def asset_data_url(name: str, path: str) -> str:
    """Return a URL that contains the asset itself, for builders that can't add files."""
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    return f"data:{kind};base64,{base64.b64encode(Path(path).read_bytes()).decode()}"


def makeExtension(**options: Any) -> ProofbookExtension:  # noqa: N802
    """Make the extension; Python-Markdown calls this."""
    return ProofbookExtension(**options)
