"""When the scripts of a page start: after its first frame, since its text needs none of them."""

import json
import re

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
