"""Notebooks shown by mkdocs-jupyter are run at each build, and a failing cell fails it."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import books
import pytest
from mkdocs.exceptions import ConfigurationError

from tables import table

SOUND = "{execute: true, allow_errors: false, cache: false}"
CELLS = """\
# %% [markdown]
# # A lab

# %%
from measured import answer

print(f"the answer is {answer}")
"""


def make_book(folder: Path, settings: str, cells: str = CELLS) -> Path:
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text("# Home\n")
    (folder / "docs" / "lab.py").write_text(cells)
    (folder / "measured.py").write_text("answer = 41\n")
    config = f"""\
        site_name: A throwaway book
        plugins:
          - proofbook
          - mkdocs-jupyter: {settings}
        """
    (folder / "mkdocs.yml").write_text(textwrap.dedent(config))
    return folder


def build(book: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(book), "NO_MKDOCS_2_WARNING": "1"}
    command = [sys.executable, "-m", "mkdocs", "build", *flags]
    return subprocess.run(
        command, cwd=book, env=environment, capture_output=True, text=True, check=False
    )


@table(
    ("settings", "complaint"),
    [
        ("{execute: true, cache: false}", "allow_errors: false   # is true"),
        ("{execute: true, allow_errors: false}", "cache: false   # is true"),
        ("{allow_errors: false, cache: false}", "execute: true   # is false"),
    ],
)
def test_settings_that_prove_nothing_are_refused(tmp_path_factory, settings, complaint):
    book = make_book(tmp_path_factory.mktemp("book"), settings)
    with pytest.raises(ConfigurationError, match=complaint):
        books.build(book)


def test_a_failing_cell_fails_the_build_even_when_quiet(tmp_path):
    book = make_book(tmp_path, SOUND, CELLS + "\n# %%\nraise ArithmeticError('seven is odd')\n")
    done = build(book, "--quiet")
    assert done.returncode != 0
    assert "seven is odd" in done.stdout + done.stderr


@pytest.mark.nightly
def test_a_changed_module_changes_the_page(tmp_path):
    book = make_book(tmp_path, SOUND)
    assert build(book).returncode == 0
    page = book / "site" / "lab" / "index.html"
    assert "the answer is 41" in page.read_text()
    (book / "measured.py").write_text("answer = 43\n")
    assert build(book).returncode == 0
    assert "the answer is 43" in page.read_text()
