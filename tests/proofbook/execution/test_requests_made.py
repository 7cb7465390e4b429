"""What a browser would ask another host for is found; what only a reader follows is not."""

import pytest
from books import make_book

from proofbook.checking.book import Book
from proofbook.execution.requests_made import asked_by
from proofbook.settings import load

ADDRESSES = ["https://other.org/a.js", "http://other.org", "//other.org/a?b=1&c", "wss://other.org"]
LOADED = [
    "<script src='{}'></script>",
    "<SCRIPT TYPE=module SRC={} ></SCRIPT>",
    "<link rel='stylesheet' href='{}'>",
    "<link rel=preconnect href='{}'/>",
    "<img alt='x' src=' {}'>",
    "<img srcset='a.png 1x, {} 2x'>",
    "<picture><source srcset='{}'></picture>",
    "<iframe src='{}'></iframe>",
    "<iframe srcdoc='&lt;img src=\"{}\"&gt;'></iframe>",
    "<object data='{}'></object><embed>",
    "<video poster='{}'></video>",
    "<base href='{}'>",
    "<table background='{}'></table>",
    "<meta http-equiv=refresh content='0; url={}'>",
    "<svg><image href='{}'/></svg>",
    "<svg><use xlink:href='{}#a'/></svg>",
    "<svg><rect fill='url({}#g)'/></svg>",
    "<p style='background: URL( \"{}\" )'>",
    "<style>p {{ background: url({}) }}</style>",
    "<style>@import '{}';</style>",
    "<style>@font-face {{ src: url( '{}' ) format('woff2') }}</style>",
    "<script>import '{}'</script>",
    "<script type='module'>import a, {{ b }} from \"{}\"</script>",
    "<script>import(`{}`).then(x)</script>",
    "<script>fetch( '{}')</script>",
    "<script>const s = a(); s.src = '{}';</script>",
    "<script>request.open('GET', '{}')</script>",
    "<script>new Worker('{}')</script>",
    "<script>d3.json('{}')</script>",
    "<img src=x onerror=\"fetch('{}')\">",
    "<template><script src='{}'></script></template>",
]
LEFT = [
    "<a href='{}'>there</a>",
    "<a href='{}'><img src='data:image/png;base64,a+//b//c'></a>",
    "<map><area href='{}'></map>",
    "<svg><a xlink:href='{}'><text>x</text></a></svg>",
    "<link rel='canonical' href='{}'>",
    "<p>See {} or <code>&lt;img src='{}'&gt;</code></p>",
    "<p title='{}' data-src='{}' cite='{}'>",
    "<!-- <img src='{}'> -->",
    "<svg xmlns='{}'><g/></svg>",
    '<script type=\'application/json\'>{{"src": "{}"}}</script>',
    "<script>const about = '{}'; // {}</script>",
    "<script>element.createElementNS('{}', 'svg')</script>",
    "<img src='a//b.png'><img src='asset://a.js'><script src='../x.js'></script>",
    "<script src='asset://a.js'></script><style>p {{ fill: url(#a) }}</style>",
    "<form action='{}'></form>",
]
CDN = [
    "<script>requirejs.config({paths: {d3: '//cdnjs.cloudflare.com/ajax/d3'}})</script>",
    '<script>const paths = {"vega": "https://cdn.jsdelivr.net/npm/vega@5?noext"}</script>',
    '<script type="importmap">{"imports": {"a": "https://esm.sh/a"}}</script>',
]


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("markup", LOADED)
def test_what_is_asked_for_on_opening_is_named(markup, address):
    [found] = asked_by(markup.format(address))
    assert found.removesuffix("#a").removesuffix("#g") == address


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("markup", LEFT)
def test_what_is_only_followed_or_read_is_left(markup, address):
    assert asked_by(markup.format(*[address] * 3)) == ()


@pytest.mark.parametrize("markup", CDN)
def test_hosts_that_only_serve_what_pages_load_are_named_wherever_a_script_says_them(markup):
    assert len(asked_by(markup)) == 1


def test_each_address_is_named_once_and_case_hides_none():
    twice = "<IMG SRC='HTTPS://A.org/b'>" * 2
    assert asked_by(twice) == ("HTTPS://A.org/b",)
    assert asked_by("<img src='ht\ntps:\\\\a.org'>") == ("https:\\\\a.org",)


def showing(method, given):
    code = f"class A:\n    def {method}(self):\n        return {given!r}\n\nA()"
    return f"# A\n\n```python\n{code}\n```\n"


MARKDOWN = "![a](https://other.org/a.png) and [a link](https://linked.org)"


@pytest.mark.parametrize(
    ("method", "given"),
    [
        ("_repr_html_", "<img src='https://other.org/a.png'>"),
        ("_repr_svg_", "<svg><image href='https://other.org/a.png'/></svg>"),
        ("_repr_markdown_", MARKDOWN),
        ("_repr_markdown_", "<img src='https://other.org/a.png'>"),
    ],
)
@pytest.mark.parametrize("cached", [False, True])
def test_a_page_that_would_ask_another_host_does_not_pass(tmp_path, method, given, cached):
    page = showing(method, given)
    for _ in range(1 + cached):
        with Book(load(make_book(tmp_path, {}) / "mkdocs.yml")) as book:
            [checked] = book.check({"p.md": page})
    assert checked.run.cached is cached
    [problem] = checked.problems
    assert (problem.line, problem.code) == (4, "https://other.org/a.png")
    assert "from another host: put a copy" in problem.message


def test_links_and_code_in_markdown_may_stay(tmp_path):
    text = "[a](https://a.org)\n\n```html\n<img src='https://b.org'>\n```\n\n`![c](https://c.org)`"
    page = showing("_repr_markdown_", text)
    with Book(load(make_book(tmp_path, {}) / "mkdocs.yml")) as book:
        [checked] = book.check({"p.md": page})
    assert checked.problems == []
