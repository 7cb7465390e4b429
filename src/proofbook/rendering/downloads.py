"""What a page offers to take along: a notebook, a script, and a link that copies part of it."""

import base64
import json
from collections.abc import Callable
from html import escape
from pathlib import PurePosixPath

from proofbook.notebook.programs import Program

Offer = Callable[[str, str], str]
"""Takes the name and the text of a file, and returns a URL for the page to link to."""
PLACE = "proofbook-downloads"
"""The id of the links."""
KINDS = {".ipynb": "application/x-ipynb+json", ".py": "text/x-python"}


def downloads_html(page: str, notebook: str, script: str, offer: Offer) -> str:
    """Write unobtrusive links that download a page's notebook and script.

    Args:
        page: The page's file.
        notebook: The text of its notebook.
        script: The text of its script.
        offer: Offers a file.
    """
    links = []
    for suffix, kind, text in ((".ipynb", "notebook", notebook), (".py", "script", script)):
        name = f"{PurePosixPath(page).stem}{suffix}"
        address = escape(offer(name, text))
        links.append(f'<a href="{address}" download="{escape(name)}">{kind}</a>')
    return f'<p class="proofbook-download" id="{PLACE}">Download as a {" or a ".join(links)}</p>'


def program_html(program: Program) -> str:
    """Return a hidden element with a program, for the buttons that copy a part of it."""
    steps = [[code] if code == printing else [code, printing] for code, printing in program.steps]
    text = json.dumps({"start": program.start, "steps": steps}).replace("<", "\\u003c")
    return f'<script type="application/json" class="proofbook-program">{text}</script>'


def copy_html(number: int, address: str = f"#{PLACE}") -> str:
    """Return the link that copies a block with what it needs.

    Args:
        number: The index of the block.
        address: Where it leads without scripts: to where the page's script can be downloaded.
    """
    return (
        f'<a class="proofbook-copy" href="{escape(address)}" data-step="{number}" '
        'title="Copy with what it needs" aria-label="Copy with what it needs"></a>'
    )


def data_url(name: str, text: str) -> str:
    """Return a URL that contains the file itself, for builders that can't add files."""
    kind = KINDS[PurePosixPath(name).suffix]
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"
