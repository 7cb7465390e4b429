"""What a page brings with it: style sheets, styles, the numbers of views, and scripts.

The style sheets are joined into one, since each delays the page's first word. They are read from
the page's head: only the theme's template knows the names of its own sheets, and its links to the
book's are outside of any block that could be overridden.
"""

import base64
import hashlib
import json
import re
from pathlib import Path
from posixpath import dirname, join, normpath

from mkdocs.exceptions import PluginError
from mkdocs.utils import get_relative_url

from glassbook.site.finish.theme import Repairs

SHEETS = re.compile(r'<link rel="stylesheet" href="([^"]+\.css)">\s*')
IN_SHEET = re.compile(r"url\(([\"']?)(?!data:|[#/\"'])")
FOLDER = "assets/css/"
# Drawings and shadow trees have styles of their own; any other style is the page's.
STYLES = re.compile(r"<(svg|template)\b.*?</\1>|<style>.*?</style>", re.DOTALL)
PACKED = re.compile(r'data-packed="([A-Za-z0-9+/]{40,}={0,2})"')
# Of the theme, of the engine, and our own. Those that change what is shown stay where they are.
LATE = re.compile(
    r'<script src="(?P<src>[^"]*(?:javascripts/bundle\.\w+\.min|js/search|js/theme|js/aids|'
    r'proofbook/proofbook)\.js)"(?P<last> defer)?></script>\s*'
)
# They start in their order, and when the last has started, this one goes: not before the theme,
# whose script begins with a timer of its own.
LOADER = """<script id="after-first-frame">
requestAnimationFrame(() => setTimeout(() => {
  const begin = document.getElementById("after-first-frame");
  const scripts = %s.map((src) =>
    Object.assign(document.createElement("script"), { src, async: false }));
  scripts.at(-1).onload = scripts.at(-1).onerror = () => setTimeout(() => begin.remove());
  begin.before(...scripts);
}));
</script>
"""


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
            PluginError: The page links to none.
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


def without_styles(html: str) -> tuple[str, list[str]]:
    """Move the styles, which belong in the head, out of the body of a page.

    Returns:
        The remaining HTML, and each style once.
    """
    styles: dict[str, None] = {}

    def take(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        styles[found[0]] = None
        return ""

    return STYLES.sub(take, html), list(styles)


def numbers_aside(html: str, url: str) -> tuple[str, dict[str, bytes]]:
    """Move the numbers of views out of a page, which fetches them when a view is drawn.

    Args:
        html: The page.
        url: Its address in the site.

    Returns:
        The page without them, and the files with them, by their place in the site.
    """
    files = {}

    def put_aside(found: re.Match[str]) -> str:
        data = base64.b64decode(found[1])
        target = f"assets/views/{hashlib.sha256(data).hexdigest()[:16]}.bin"
        files[target] = data
        return f'data-packed-url="{get_relative_url(target, url)}"'

    return PACKED.sub(put_aside, html), files


def after_first_frame(html: str) -> str:
    """Have a page's scripts start when the browser has drawn it once.

    A browser runs scripts at the end of a page before it draws the page. On a phone, the theme's
    takes as long as everything else, so a reader would wait twice as long for the text.
    """
    found = list(LATE.finditer(html))
    if not found:
        return html
    sources = [one["src"] for one in sorted(found, key=lambda one: bool(one["last"]))]
    head, body_end, rest = LATE.sub("", html).rpartition("</body>")
    return head + LOADER % json.dumps(sources) + body_end + rest
