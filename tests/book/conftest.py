"""The built site, once a session, and for each file of tests a server and a browser."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock
from pages import ROOT

from browser import launched, served
from proofbook.checking.book import Book
from proofbook.integrations.reading import load


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of the site, built strictly, as `make build` builds it, by the first to ask."""
    base = tmp_path_factory.getbasetemp()
    shared = base if worker_id == "master" else base.parent
    folder, said = shared / "site", shared / "site.txt"
    with FileLock(shared / "site.lock"):
        if not said.exists():
            command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-d", str(folder)]
            result = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                check=False,
            )
            said.write_text(str(result.returncode), encoding="utf-8")
            assert result.returncode == 0, result.stdout
    if said.read_text(encoding="utf-8") != "0":
        pytest.fail("the site could not be built; another test says why", pytrace=False)
    return folder


@pytest.fixture(scope="session")
def book(site: Path) -> Iterator[Book]:
    """The book, whose pages the build of the site has run: their results are in the cache."""
    with Book(load(ROOT / "mkdocs.yml"), covers=True) as book:
        yield book


@pytest.fixture(scope="module")
def address(site: Path) -> Iterator[str]:
    """Where the site is served, with a slash at the end."""
    with served(site) as url:
        yield url


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """One at a time: Playwright refuses a second one beside it."""
    with launched() as browser:
        yield browser
