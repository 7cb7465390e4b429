"""Makes a page's top easy to take in: what it gives, what it takes, and what is in it.

A MkDocs hook. The two opening lines become two lines on the page as well. In a chapter, a box with
its sections follows them where the window has no room for a table of contents beside it.
"""

import re

from mkdocs.structure.pages import Page

OPENING = re.compile(r"<p>(<em>You will know:</em>.*?)\n(<em>You need:</em>.*?</p>)", re.DOTALL)


def on_page_content(html: str, *, page: Page, **_: object) -> str:
    """Mark the opening of a page, and put a chapter's contents behind it."""
    box = contents(page) if "modules" in page.meta else ""
    return OPENING.sub(rf'<p class="opening">\1<br>\n\2{box.replace(chr(92), "")}', html, count=1)


def on_post_page(output: str, *, page: Page, **_: object) -> str:
    """Say of a chapter that it is one: its sections are numbered, beside it too."""
    if "modules" not in page.meta:
        return output
    return output.replace("<body ", '<body class="chapter" ', 1)


def contents(page: Page) -> str:
    """A box with the sections of a page."""
    sections = [section for top in page.toc for section in top.children]
    items = "".join(f'<li><a href="{section.url}">{section.title}</a></li>' for section in sections)
    return f'<details class="contents"><summary>In this chapter</summary><ol>{items}</ol></details>'
