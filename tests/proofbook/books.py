"""Throwaway books, made in a test and built as an author builds them."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from mkdocs.commands.build import build as mkdocs_build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

CONFIG = "site_name: A throwaway book\nplugins: [proofbook]\n"


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


def build(book: Path) -> Path:
    """Build a book in this process; gives the folder of the site."""
    config = load_config(str(book / "mkdocs.yml"))
    config.plugins.on_startup(command="build", dirty=False)
    try:
        mkdocs_build(config)
    finally:
        config.plugins.on_shutdown()
    return Path(config.site_dir)


def build_error(book: Path) -> str:
    """Build a book that must fail; gives what the failure says."""
    with pytest.raises(Abort, match="Aborted with a BuildError") as error:
        build(book)
    return str(error.value.__context__)
