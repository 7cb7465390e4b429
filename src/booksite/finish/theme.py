"""Repairs of the theme: each must find what it was made for, or the build fails."""

import re
from collections import Counter
from pathlib import Path

from mkdocs.exceptions import PluginError

# What the templates say, and what they should: an empty `tabindex` is no number, a checkbox
# completes nothing, and a dialog has a name.
TEMPLATES = {
    ' tabindex=""': "",
    'type="checkbox" id="__drawer" autocomplete="off"': 'type="checkbox" id="__drawer"',
    'type="checkbox" id="__search" autocomplete="off"': 'type="checkbox" id="__search"',
    'data-md-component="search" role="dialog">': (
        'data-md-component="search" role="dialog" aria-label="Search">'
    ),
}
# Rules about any element at all below one whose class or attribute changes: for each, the browser
# looks at all elements of a page anew when the theme's script begins. The ones about tables are put
# in narrower words in `tables.css`; there are no tabs.
COSTLY = (
    r"\[data-md-color-switching\][^{}]*\{[^{}]*\}",
    r"\.md-typeset \.no-js \.tabbed-set[^{}]*\{[^{}]*\}",
    r"(?<=\})\.md-typeset table:not\(\[class\]\)(?: td>:(?:fir|la)st-child|\+\*)[^{}]*\{[^{}]*\}",
)
# The theme's script adds a tag that says which colors the browser's own parts have, after the one
# that `overrides/main.html` begins with: it counts for nothing, and costs a look at each element.
SECOND = 'x("meta",{name:"color-scheme"})'


class Repairs:
    """Repairs style sheets and pages, and remembers what there was to repair."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def sheet(self, css: str) -> str:
        """Take the costly rules out of a style sheet."""
        for rule in COSTLY:
            css, count = re.subn(rule, "", css)
            self.found[rule] += count
        return css

    def check(self) -> None:
        """Check that each repair found something to do.

        Raises:
            PluginError: one has found nothing, so the theme has changed.
        """
        idle = [name for name in (*TEMPLATES, *COSTLY) if not self.found[name]]
        if idle:
            listing = "\n".join(f"  {name}" for name in idle)
            raise PluginError(f"nothing of the theme is left to repair here:\n{listing}")


def mended_page(html: str) -> tuple[str, Counter[str]]:
    """Repair the markup of a page; return how often each error occurred."""
    found: Counter[str] = Counter()
    for said, meant in TEMPLATES.items():
        found[said] += html.count(said)
        html = html.replace(said, meant)
    return html, found


def repair_script(folder: Path) -> None:
    """Leave out what the theme's script does for nothing.

    Raises:
        PluginError: the script does not do so once.
    """
    scripts = sorted(folder.glob("bundle.*.js"))
    texts = [script.read_text(encoding="utf-8") for script in scripts]
    if [text.count(SECOND) for text in texts] != [1]:
        names = ", ".join(script.name for script in scripts) or "no bundle.*.js"
        raise PluginError(f"{SECOND} does not stand once in {names} of the theme")
    scripts[0].write_text(texts[0].replace(SECOND, 'x("meta",{})'), encoding="utf-8")
