"""Pages look right in MkDocs's own themes, and Material's colors are left to Material."""

import re
import time
from pathlib import Path

import axe_playwright_python
import pytest
from books import make_book
from mkdocs.config import load_config

from browser import launched, served

AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")

pytestmark = pytest.mark.browser

PAGE = """# Page

```python title="A title" hl_lines="2"
def f(x: int = 3) -> str:
    "docstring"
    return f"{x}"  # a comment


text = "abc"
```

[Three]{ equals="len(text)" } letters, and a `word`.

```python linenums="1"
class Frame:
    _repr_html_ = lambda self: '<table border="1" class="dataframe"><thead>' \\
        '<tr style="text-align: right;"><th></th><th>a longer name</th></tr></thead>' \\
        '<tbody><tr><th>0</th><td>1.25</td></tr></tbody></table>'


print("printed")
Frame()
```

```yaml
key: [true, "text"]
```

<pre class="bare"><code>x = 1</code></pre>
"""
BROKEN = "# Broken\n\n```python\n1 / 0\n```\n"
THEMES = {
    "mkdocs": "{name: mkdocs}",
    "mkdocs-dark": "{name: mkdocs, color_mode: dark}",
    "readthedocs": "{name: readthedocs}",
    "material": "{name: material, font: false}",
}
# What highlight.js does: it goes through what its selector finds, once the page is there.
HIGHLIGHT_JS = """
let selector = "pre code";
window.hljs = {
  configure: options => { selector = options.cssSelector ?? selector; },
  highlightAll: () => addEventListener("DOMContentLoaded", () => {
    for (const code of document.querySelectorAll(selector)) code.textContent = "highlight.js";
  }),
};"""
PALE = """what => axe.run(what, {runOnly: ['color-contrast'], resultTypes: ['violations']})
  .then(({ violations }) => violations.flatMap(one => one.nodes.map(node => node.html)))"""
COLORS = (
    """selector => [...document.querySelectorAll(selector)].map(e => getComputedStyle(e).color)"""
)


def answer(route):
    """Answer for the hosts from which a theme takes scripts: with a highlight.js, and nothing."""
    is_script = route.request.url.endswith("/highlight.min.js")
    route.fulfill(body=HIGHLIGHT_JS) if is_script else route.abort()


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


OFTEN, NIGHTLY = ("mkdocs", "material"), ("mkdocs-dark", "readthedocs")
CHOSEN = [*OFTEN, *(pytest.param(name, marks=pytest.mark.nightly) for name in NIGHTLY)]


@pytest.fixture(scope="module", params=CHOSEN)
def book(request, tmp_path_factory):
    """The book in a theme, as it is while it is served, when a page that fails is shown."""
    config = f"site_name: A book\ntheme: {THEMES[request.param]}\nplugins: [proofbook]\n"
    pages = {"index.md": PAGE, "broken.md": BROKEN}
    made = make_book(tmp_path_factory.mktemp("book"), pages, config=config)
    loaded = load_config(str(made / "mkdocs.yml"))
    loaded.plugins.on_startup(command="serve", dirty=False)
    live = loaded.plugins["proofbook"].live
    live.open(loaded)
    live.begin(lambda: None, [])
    try:
        while any("proofbook-running" in live.page(place)[0] for place in live.pages):
            time.sleep(0.05)
        live.wait_until_settled()
    finally:
        loaded.plugins.on_shutdown()
    with served(made / "site") as url:
        yield request.param, url


@pytest.fixture(scope="module")
def opened(book, browser):
    """Return a function that opens a page of the book."""
    with browser.new_context(viewport={"width": 1100, "height": 800}) as context:
        context.set_default_timeout(60_000)
        context.route(re.compile(r"^https:"), answer)

        def opened(name=""):
            page = context.new_page()
            page.goto(book[1] + name)
            return page

        yield opened


@pytest.fixture(scope="module")
def page(opened):
    """The page, opened once for all that only look at it."""
    return opened()


def pale(page, what):
    """What within an element stands out too little from what is behind it."""
    page.evaluate(AXE.read_text(encoding="utf-8"))
    return page.evaluate(PALE, what)


@pytest.fixture
def theme(book):
    return book[0]


def test_code_has_colors_that_can_be_read(page, theme):
    base = set(page.evaluate(COLORS, ".highlight pre > code"))
    found = {
        kind: set(page.evaluate(COLORS, f".highlight code .{kind}"))
        for kind in ("k", "s2", "mi", "c1", "nf", "nt")
    }
    assert all(len(colors) == 1 for colors in found.values()), found
    assert len(base.union(*found.values())) >= 5
    if theme != "material":
        assert pale(page, ".highlight code") == []


def test_material_s_colors_are_material_s(opened, theme):
    page = opened()
    ours = page.evaluate(COLORS, ".highlight, .highlight *")
    disable = "links => links.forEach(link => { link.disabled = true; })"
    page.eval_on_selector_all("link[href*=proofbook]", disable)
    theirs = page.evaluate(COLORS, ".highlight, .highlight *")
    assert (ours == theirs) == (theme == "material")


def test_highlight_js_colors_only_what_the_build_has_not(page, theme):
    loads_it = theme != "material"
    assert page.get_by_text("highlight.js", exact=True).count() == loads_it
    assert (page.locator("pre.bare code").text_content() == "highlight.js") == loads_it
    assert page.locator(".proofbook-output pre").text_content().strip() == "printed"


def test_what_a_claim_opens_can_be_read(opened):
    page = opened()
    page.locator(".proofbook-sign").first.click()
    proof = page.locator(".proofbook-proof:popover-open")
    assert "gave" in proof.text_content()
    assert proof.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 12
    assert pale(page, ".proofbook-proof:popover-open") == []


def test_nothing_sticks_out_of_a_phone(opened):
    page = opened()
    page.set_viewport_size({"width": 360, "height": 700})
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_what_fails_can_be_read(opened):
    page = opened("broken/")
    assert (
        "docs/broken.md:4: ZeroDivisionError"
        in page.locator(".proofbook-error").first.text_content()
    )
    assert pale(page, ".proofbook-error") == []
    faint = "color: #e8e8e8 !important; background: white !important"
    page.add_style_tag(content=f".proofbook-error * {{ {faint} }}")
    assert pale(page, ".proofbook-error") != []
