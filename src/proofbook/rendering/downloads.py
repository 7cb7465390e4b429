"""What a page offers to be taken along."""

import base64
from collections.abc import Callable
from html import escape
from pathlib import PurePosixPath

Offer = Callable[[str, str], str]
"""Takes the name and the text of a file, and says at which URL the page can have it."""


def notebook_name(path: str) -> str:
    """What the notebook of a page is called, from the name of the page's file."""
    return f"{PurePosixPath(path).stem}.ipynb"


def link_html(name: str, url: str) -> str:
    """A quiet link that takes a notebook along, with or without scripts."""
    return (
        f'<p class="proofbook-download"><a href="{escape(url)}" download="{escape(name)}">'
        "Download as a notebook</a></p>"
    )


def data_url(name: str, text: str) -> str:
    """A URL that holds the file itself, for a builder that takes no files."""
    return f"data:application/x-ipynb+json;base64,{base64.b64encode(text.encode()).decode()}"
