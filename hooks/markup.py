"""Last touches to the markup of every page: what the theme and the views leave undone.

A MkDocs hook. What it repairs, the checks of `tests/book/test_pages.py` found: without it pages
would not be valid HTML, not whole for those who listen to them, and too heavy and slow.
"""

import base64
import hashlib
import re
from pathlib import Path
from posixpath import dirname, join, normpath

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

# What the templates of the theme say, and what they should: an empty `tabindex` is no number,
# a checkbox completes nothing, and a dialog has a name.
THEME = {
    ' tabindex=""': "",
    'type="checkbox" id="__drawer" autocomplete="off"': 'type="checkbox" id="__drawer"',
    'type="checkbox" id="__search" autocomplete="off"': 'type="checkbox" id="__search"',
    'data-md-component="search" role="dialog">': (
        'data-md-component="search" role="dialog" aria-label="Search">'
    ),
}
# The theme's script adds a tag that says which colours the browser's own parts have, after the one
# that `overrides/main.html` begins with: it counts for nothing, and costs a look at each element.
SECOND = 'x("meta",{name:"color-scheme"})'
# Rules of the theme that are about any element at all below one whose class or attribute changes:
# for each, the browser looks at all elements of a page anew when the theme's script begins. The
# ones about tables are put in narrower words in `tables.css`; there are no tabs.
COSTLY = re.compile(
    r"\[data-md-color-switching\][^{}]*\{[^{}]*\}"
    r"|\.md-typeset \.no-js \.tabbed-set[^{}]*\{[^{}]*\}"
    r"|(?<=\})\.md-typeset table:not\(\[class\]\)(?: td>:(?:fir|la)st-child|\+\*)[^{}]*\{[^{}]*\}"
)
EMPTY_HEADER = re.compile(r"<th( [^>]*)?></th>")
# A style of its own belongs to a drawing or a shadow tree; any other is the page's.
STYLES = re.compile(r"<(svg|template)\b.*?</\1>|<style>.*?</style>", re.DOTALL)
SHEETS = re.compile(r'<link rel="stylesheet" href="([^"]+\.css)">\s*')
IN_SHEET = re.compile(r"url\(([\"']?)(?!data:|[#/\"'])")
# What no line may break: a shape, a formula with the sign behind it, a claim of one short word.
SHAPE = re.compile(r"<code>(?=\[\d+(?:, \d+){1,4}\]</code>)")
CLAIM = re.compile(r'(?<=<span class="proofbook-claim)(?=">(?:<\w+>)*[^<\s]{1,16}</)')
# A claim's ring stands above a narrow sign, not before it.
RING = re.compile(
    r'(?<=<button type="button" class="proofbook-sign)(?="[^>]*></button>(?:</\w+>)*[.,;:])'
)
SIGN = re.compile(r"(</math>(?:</a>)?)</span>([.,;:!?)]+)")
PACKED = re.compile(r'data-packed="([A-Za-z0-9+/]{40,}={0,2})"')


joined: dict[tuple[str, ...], str] = {}


def on_pre_build(*, config: MkDocsConfig) -> None:
    """Forget the style sheets of the last build, which may have been edited."""
    joined.clear()


def on_post_build(*, config: MkDocsConfig) -> None:
    """Leave out what the theme's script does for nothing."""
    for script in Path(config.site_dir, "assets", "javascripts").glob("bundle.*.js"):
        text = script.read_text(encoding="utf-8")
        script.write_text(text.replace(SECOND, 'x("meta",{})'), encoding="utf-8")


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Finish a page."""
    return finished(output, page, config)


def on_post_template(output_content: str, *, template_name: str, config: MkDocsConfig) -> str:
    """Repair a page that no Markdown file stands for, such as the one for missing addresses."""
    return repaired(output_content) if template_name.endswith(".html") else output_content


def finished(html: str, page: Page, config: MkDocsConfig) -> str:
    """The page repaired, and the numbers of its views put aside until they are drawn."""

    def put_aside(found: re.Match[str]) -> str:
        data = base64.b64decode(found[1])
        target = f"assets/views/{hashlib.sha256(data).hexdigest()[:16]}.bin"
        file = Path(config.site_dir, target)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return f'data-packed-url="{get_relative_url(target, page.url)}"'

    html = one_sheet(repaired(html), page.url, Path(config.site_dir))
    return PACKED.sub(put_aside, html)


def one_sheet(html: str, url: str, site: Path) -> str:
    """The page with one style sheet for all that it asks for: each is a wait before the first word.

    Args:
        html: The page.
        url: Its address in the site.
        site: The folder of the site, where the sheets already are.
    """
    head, end, body = html.partition("</head>")
    folder = url if url.endswith("/") else dirname(url)
    names = tuple(normpath(join(folder, link)) for link in SHEETS.findall(head))
    if len(names) < 2:
        return html
    if names not in joined:
        text = "\n".join(sheet_of(site, name) for name in names)
        joined[names] = f"assets/css/{hashlib.sha256(text.encode()).hexdigest()[:8]}.css"
        (site / joined[names]).write_text(text, encoding="utf-8")
    link = f'<link rel="stylesheet" href="{get_relative_url(joined[names], url)}">\n'
    first = SHEETS.search(head)
    assert first
    return head[: first.start()] + link + SHEETS.sub("", head[first.start() :]) + end + body


def sheet_of(site: Path, name: str) -> str:
    """A style sheet as it reads from `assets/css/`."""
    text = (site / name).read_text(encoding="utf-8").replace("/*# sourceMappingURL", "/* ")
    text = COSTLY.sub("", text)
    return IN_SHEET.sub(rf"url(\1{get_relative_url(dirname(name) + '/', 'assets/css/')}", text)


def repaired(html: str) -> str:
    """The page with the theme's slips mended, nothing torn apart, and all styles in its head."""
    for said, meant in THEME.items():
        html = html.replace(said, meant)
    if 'id="__toc"' not in html:  # a page without headings has a label for it nevertheless
        html = html.replace(' for="__toc"', "")
    html = CLAIM.sub(" short", SHAPE.sub('<code class="shape">', html))
    html = RING.sub(" above", html)
    html = SIGN.sub(r"\1\2</span>", html)
    return styles_in_head(EMPTY_HEADER.sub(r"<td\1></td>", html))


def styles_in_head(html: str) -> str:
    """Each style once, in the head: views bring theirs along, the same for many views."""
    head, end, body = html.partition("</head>")
    styles: dict[str, None] = {}

    def take(found: re.Match[str]) -> str:
        if found[1]:
            return found[0]
        styles[found[0]] = None
        return ""

    body = STYLES.sub(take, body)
    return head + "".join(styles) + end + body
