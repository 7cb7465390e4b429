"""Repairs of the theme: each must find what it was made for, or the build fails."""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from mkdocs.exceptions import PluginError

# What the templates say, and what they should say: an empty `tabindex` isn't a number, a checkbox
# completes nothing, and a dialog has a name.
TEMPLATES = {
    ' tabindex=""': "",
    'type="checkbox" id="__drawer" autocomplete="off"': 'type="checkbox" id="__drawer"',
    'type="checkbox" id="__search" autocomplete="off"': 'type="checkbox" id="__search"',
    'data-md-component="search" role="dialog">': (
        'data-md-component="search" role="dialog" aria-label="Search">'
    ),
}
# Rules for every element below one whose class or attribute changes: for each, the browser looks at
# all elements of a page again when the theme's script starts. Those for tables are replaced by
# narrower ones in `tables.css`.
COSTLY = (
    r"\[data-md-color-switching\][^{}]*\{[^{}]*\}",
    r"(?<=\})\.md-typeset table:not\(\[class\]\)(?: td>:(?:fir|la)st-child|\+\*)[^{}]*\{[^{}]*\}",
)
# Parts of pages that no page of this book has: the browser compares the rules of these with each
# element of a page. A test looks for them on all pages.
UNUSED = (
    ".critic",
    ".giscus",
    ".grid",
    ".highlighttable",
    ".keys",
    ".linenodiv",
    ".md-annotation",
    ".md-author",
    ".md-banner",
    ".md-consent",
    ".md-feedback",
    ".md-pagination",
    ".md-post",
    ".md-social",
    ".md-status",
    ".md-tabs",
    ".md-version",
    ".mermaid",
    ".tabbed-",
    ".task-list",
    "[dir=rtl]",
)
RULE = re.compile(r"([^{}@;/]+)(\{[^{}]*\})")
SELECTOR = re.compile(r"(?:[^,(]|\([^()]*(?:\([^()]*\)[^()]*)*\))+")
# What the theme's script says, and what it should say. It adds a tag that says which colors the
# browser's own parts have, after the one that `overrides/main.html` begins with, and a class that
# no style asks for; and it wraps tables, which `typesetting.py` has done. None of this has an
# effect, and for each the browser looks at all elements again. And it waits for the end of a page,
# which has passed when it starts after the first frame.
SCRIPT = {
    'x("meta",{name:"color-scheme"})': 'x("meta",{})',
    'document.documentElement.classList.add("js-focus-visible"),': "",
    'M("table:not([class])",e)': 'M(":not(.md-typeset__table)>table:not([class])",e)',
    'return h(document,"DOMContentLoaded",{once:!0}).subscribe(()=>e.next(document)),e': (
        'let t=()=>setTimeout(()=>e.next(document));return document.readyState==="loading"?'
        'h(document,"DOMContentLoaded",{once:!0}).subscribe(t):t(),e'
    ),
}
SCRIPTS = "assets/javascripts"  # where the theme and the site have it


class Repairs:
    """Repairs style sheets and pages, and records what there was to repair."""

    def __init__(self) -> None:
        self.found: Counter[str] = Counter()

    def page(self, html: str) -> str:
        """Repair the markup of a page."""
        for said, meant in TEMPLATES.items():
            self.found[said] += html.count(said)
            html = html.replace(said, meant)
        return html

    def sheet(self, css: str) -> str:
        """Take the costly rules and those for what no page has out of a style sheet."""
        for rule in COSTLY:
            css, count = re.subn(rule, "", css)
            self.found[rule] += count
        return RULE.sub(self._used, css)

    def _used(self, rule: re.Match[str]) -> str:
        """Return a rule without the selectors of what no page has."""
        selectors, kept = SELECTOR.findall(rule[1]), []
        for selector in selectors:
            unused = [part for part in UNUSED if part in selector]
            self.found.update(unused)
            kept += [] if unused else [selector]
        return rule[0] if kept == selectors else ",".join(kept) + rule[2] if kept else ""

    def check(self) -> None:
        """Check that each repair found something to do.

        Raises:
            PluginError: One has found nothing, so the theme has changed.
        """
        idle = [name for name in (*TEMPLATES, *COSTLY, *UNUSED) if not self.found[name]]
        if idle:
            listing = "\n".join(f"  {name}" for name in idle)
            raise PluginError(f"nothing in the theme is left to repair here:\n{listing}")


def repair_script(themes: Iterable[str], site: Path) -> None:
    """Write the theme's script without useless work, and so that it starts late.

    Args:
        themes: The folders of the theme's files.
        site: The folder of the site.

    Raises:
        PluginError: The script doesn't do each exactly once.
    """
    scripts = [one for folder in themes for one in Path(folder, SCRIPTS).glob("bundle.*.js")]
    names = ", ".join(script.name for script in scripts) or "no bundle.*.js"
    texts = [script.read_text(encoding="utf-8") for script in scripts]
    for said in SCRIPT:
        if [text.count(said) for text in texts] != [1]:
            raise PluginError(f"{said} does not occur exactly once in {names} of the theme")
    [text] = texts
    for said, meant in SCRIPT.items():
        text = text.replace(said, meant)
    (site / SCRIPTS / scripts[0].name).write_text(text, encoding="utf-8")
