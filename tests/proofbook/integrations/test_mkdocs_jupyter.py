"""Notebooks shown by mkdocs-jupyter prove something only if they are run at each build."""

import pytest
from books import build, make_book
from mkdocs.exceptions import ConfigurationError

from tables import table


@table(
    ("settings", "complaint"),
    [
        ("{execute: true, cache: false}", "allow_errors: false   # is true"),
        ("{execute: true, allow_errors: false}", "cache: false   # is true"),
        ("{allow_errors: false, cache: false}", "execute: true   # is false"),
    ],
)
def test_settings_that_prove_nothing_are_refused(tmp_path, settings, complaint):
    config = f"site_name: x\nplugins:\n  - proofbook\n  - mkdocs-jupyter: {settings}\n"
    pages = {"index.md": "# Home\n", "lab.py": "# %%\n1 + 1\n"}
    with pytest.raises(ConfigurationError, match=complaint):
        build(make_book(tmp_path, pages, config=config))
