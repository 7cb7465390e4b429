"""The Markdown of each page beside it, and where it can be edited, if there is such a place.

A MkDocs hook; `overrides/partials/actions.html` has the buttons.
"""

import os
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page
from mkdocs.utils import write_file


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Take the address under which pages are edited from the environment, where it is set."""
    config.edit_uri = os.environ.get("GLASSFORMER_EDIT_URI") or config.edit_uri
    return config


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> None:
    """Write the page's source where the button leads to."""
    if page.file.src_uri.endswith(".md") and not page.file.generated_by:
        write_file(page.file.content_bytes, str(Path(config.site_dir) / page.file.src_uri))
