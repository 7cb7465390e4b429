"""Where inline code that names a symbol becomes a link."""

import markdown
import pytest

from glassbook.site.api.plugin import SymbolLinks

LINK = '<a class="symbol" href="api/#{0}"><code>{0}</code></a>'


def converted(text: str) -> str:
    links = SymbolLinks()
    links.address = {"attend": "api/#attend", "Cache": "api/#Cache"}.get
    return markdown.markdown(text, extensions=["pymdownx.details", links])


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("Call `attend` first.", f"Call {LINK.format('attend')} first."),
        ("*`Cache` and `attend`*", f"{LINK.format('Cache')} and {LINK.format('attend')}"),
        ("Call `other`.", "<code>other</code>"),
        ("## `attend`", "<code>attend</code></h2>"),
        ("[`attend`](x.md)", '<a href="x.md"><code>attend</code></a>'),
    ],
)
def test_inline_code_that_names_a_symbol_is_a_link(text, html):
    assert html in converted(text)
    assert converted(text).count("<a") == html.count("<a")


def test_a_line_that_opens_a_box_holds_no_link():
    html = converted('??? note "All of `attend`"\n    Here is `Cache`.')
    assert "<summary>All of <code>attend</code></summary>" in html
    assert LINK.format("Cache") in html
