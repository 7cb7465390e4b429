"""Join all style sheets of a page into one, since each delays the page's first word.

The sheets of a page are read from its head. Only the theme's template knows the names of its own
sheets, and its links to the book's are outside of any block that could be overridden.
"""

import hashlib
import re
from pathlib import Path
from posixpath import dirname, join, normpath

from mkdocs.exceptions import PluginError
from mkdocs.utils import get_relative_url

from glassbook.site.finish.theme import Repairs

SHEETS = re.compile(r'<link rel="stylesheet" href="([^"]+\.css)">\s*')
IN_SHEET = re.compile(r"url\(([\"']?)(?!data:|[#/\"'])")
FOLDER = "assets/css/"


class StyleSheets:
    """The joined style sheets of a site, by the sheets that they are made from."""

    def __init__(self, site: Path, repairs: Repairs) -> None:
        self.site = site
        self.repairs = repairs
        self.joined: dict[tuple[str, ...], str] = {}

    def join(self, html: str, url: str) -> str:
        """Have a page link to one style sheet.

        Args:
            html: The page.
            url: Its address in the site.

        Raises:
            PluginError: the page links to none.
        """
        head, end, body = html.partition("</head>")
        folder = url if url.endswith("/") else dirname(url)
        names = tuple(normpath(join(folder, link)) for link in SHEETS.findall(head))
        first = SHEETS.search(head)
        if first is None:
            raise PluginError(f"{url} links to no style sheet the way the theme's pages did")
        link = f'<link rel="stylesheet" href="{get_relative_url(self._made(names), url)}">\n'
        return head[: first.start()] + link + SHEETS.sub("", head[first.start() :]) + end + body

    def _made(self, names: tuple[str, ...]) -> str:
        """Return the name of the sheet that is made from these."""
        if names not in self.joined:
            text = "\n".join(map(self._sheet, names))
            name = f"{FOLDER}{hashlib.sha256(text.encode()).hexdigest()[:8]}.css"
            (self.site / name).write_text(text, encoding="utf-8")
            self.joined[names] = name
        return self.joined[names]

    def _sheet(self, name: str) -> str:
        """Read a style sheet, with addresses relative to the folder of the joined ones."""
        text = (self.site / name).read_text(encoding="utf-8")
        text = self.repairs.sheet(text.replace("/*# sourceMappingURL", "/* "))
        return IN_SHEET.sub(rf"url(\1{get_relative_url(dirname(name) + '/', FOLDER)}", text)
