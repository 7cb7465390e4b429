"""Throwaway books, made in a test and built as an author builds them."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from markdown import Markdown
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from proofbook.checking.book import Book
from proofbook.integrations.reading import load
from proofbook.notebook.export import Notebooks
from proofbook.parsing.markdown_processors import MarkingExtension
from proofbook.rendering.page_renderer import PageRenderer

CONFIG = "site_name: A throwaway book\nplugins: [proofbook]\n"
# What a page was verified under.
ABOUT = {"versions": {"python": "3.11.0"}, "data": {}, "variables": [], "commit": "", "built": ""}


def make_book(
    folder: Path,
    pages: Mapping[str, str],
    files: Mapping[str, str] | None = None,
    config: str = CONFIG,
) -> Path:
    """Write a book from its pages and its other files, by name; gives its folder."""
    (folder / "docs").mkdir(parents=True, exist_ok=True)
    named = {f"docs/{name}": text for name, text in pages.items()}
    for name, text in {**named, **(files or {}), "mkdocs.yml": config}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def run_in(book: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run `python -m …` in the folder of a book."""
    return subprocess.run(
        [sys.executable, "-m", *arguments],
        cwd=book,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


def build(book: Path, dirty: bool = False, **options: Any) -> Path:
    """Build a book in this process, with options of the command; gives the folder of the site."""
    config = load_config(str(book / "mkdocs.yml"), **options)
    config.plugins.on_startup(command="build", dirty=dirty)
    try:
        mkdocs_build(config, dirty=dirty)
    finally:
        config.plugins.on_shutdown()
    return Path(config.site_dir)


def build_error(book: Path) -> str:
    """Build a book that must fail; gives what the failure says."""
    with pytest.raises(Abort, match="Aborted with a BuildError") as error:
        build(book)
    return str(error.value.__context__)


@contextmanager
def opened(
    folder: Path,
    pages: Mapping[str, str] | None = None,
    files: Mapping[str, str] | None = None,
    config: str = CONFIG,
    **options: Any,
) -> Iterator[Book]:
    """Write a book and open it, to check pages that need not be among its files."""
    made = make_book(folder, pages or {}, files, config)
    with Book(load(made / "mkdocs.yml"), **options) as book:
        yield book


def rendered(
    book: Book,
    text: str,
    path: str = "docs/p.md",
    extensions: Sequence[str] = (),
    offered: dict[str, str] | None = None,
    **configs: Any,
) -> str:
    """Give the HTML of a page whose files are named and lie nowhere.

    Args:
        book: The book that checks the page.
        text: The page.
        path: Its file.
        extensions: Of Markdown, beside the engine's own.
        offered: Takes what the page offers to download, by name.
        configs: Of these extensions.
    """
    marking = MarkingExtension()
    downloads = {} if offered is None else offered

    def offer(name: str, text: str) -> str:
        downloads[name] = text
        return name

    marking.use(PageRenderer(book, path, ABOUT, lambda name, _: name, offer, Notebooks().of))
    return Markdown(extensions=[*extensions, marking], extension_configs=configs).convert(text)
