"""A description of a page, taken from its opening.

If there is a formula in the opening, the page's front matter has to describe it.
"""

import re
from html.parser import HTMLParser

from glassbook.site.opening import GIVES, OPENED, TAKES

LONGEST = 300  # characters; most places show half of a description
SHORTEST = 40  # characters; a shorter paragraph says too little about its page
VOID = {"br", "hr", "img", "input", "wbr"}


class _Texts(HTMLParser):
    """Collects the headings and paragraphs of a page as text, without what the search leaves out.

    Attributes:
        found: Tag, class, and text of each.
    """

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str, str]] = []
        self.text: list[str] | None = None
        self.css = ""
        self.left_out = 0  # open elements within one that is left out

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if self.left_out or "data-search-exclude" in given or given.get("class") == "headerlink":
            self.left_out += tag not in VOID
            return
        if tag in ("h2", "p"):
            self.text, self.css = [], given.get("class") or ""

    def handle_endtag(self, tag: str) -> None:
        if self.left_out:
            self.left_out -= 1
        elif tag in ("h2", "p") and self.text is not None:
            self.found.append((tag, self.css, " ".join("".join(self.text).split())))
            self.text = None

    def handle_data(self, data: str) -> None:
        if self.text is not None and not self.left_out:
            self.text.append(data)


def described(html: str) -> str:
    """Describe a page: a chapter by its question and what it teaches, others by how they begin.

    Args:
        html: The page's text.

    >>> opening = "<p class='opening'><em>You will know:</em> what. <em>You need:</em> a pen.</p>"
    >>> described(f"<h2>Why not?</h2><p>Because.</p>{opening}")
    'Why not? You will know what.'
    """
    texts, is_chapter = _Texts(), OPENED in html
    for part in re.split(r"(?<=</p>)", html):
        texts.feed(part)
        tag, css, text = texts.found[-1] if texts.found else ("", "", "")
        if tag == "p" and css == "opening":
            gives = text.removeprefix(GIVES).partition(TAKES)[0].strip()
            question = next((text for tag, _, text in texts.found if tag == "h2"), "")
            asked = f"{question} " if question.endswith("?") else ""
            return shortened(f"{asked}{GIVES.removesuffix(':')} {gives}")
        if tag == "p" and css in ("", "lead") and len(text) >= SHORTEST and not is_chapter:
            return shortened(text)
    return ""


def shortened(text: str) -> str:
    """Cut a text after its last sentence that fits, or else after its last word."""
    if len(text) <= LONGEST:
        return text
    text = text[:LONGEST]
    ends = [found.end() for found in re.finditer(r"[.?!](?= )", text)]
    return text[: ends[-1]] if ends else text.rpartition(" ")[0].rstrip(",;:") + "…"
