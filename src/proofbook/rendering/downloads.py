"""The notebook that a page offers for download."""

import base64
from collections.abc import Callable
from html import escape
from pathlib import PurePosixPath

Offer = Callable[[str, str], str]
"""Takes the name and the text of a file, and returns a URL for the page to link to."""


def notebook_name(path: str) -> str:
    """Return the name of a page's notebook, made from the name of the page's file."""
    return f"{PurePosixPath(path).stem}.ipynb"


def link_html(name: str, url: str) -> str:
    """Write an unobtrusive link that downloads a notebook, with or without scripts."""
    return (
        f'<p class="proofbook-download"><a href="{escape(url)}" download="{escape(name)}">'
        "Download as a notebook</a></p>"
    )


def data_url(name: str, text: str) -> str:
    """Return a URL that contains the file itself, for builders that can't add files."""
    return f"data:application/x-ipynb+json;base64,{base64.b64encode(text.encode()).decode()}"
