"""A page becomes a part of the one page: ids name it, links stay inside, headings go down."""

import pytest

from glassbook.site.whole_book import as_part

NAMES = (("", "index"), ("a/b/", "a-b"), ("a/c/", "a-c"))


def part(html: str, url: str = "a/b/") -> str:
    return as_part(html, url, NAMES, "whole/")


@pytest.mark.parametrize(
    ("tag", "meant"),
    [
        ('<p id="x" class="x">', '<p id="a-b--x" class="x">'),
        ('<td headers="x y">', '<td headers="a-b--x a-b--y">'),
        ('<a href="#x">', '<a href="#a-b--x">'),
        ('<a href="../c/#x">', '<a href="#a-c--x">'),
        ('<a href="../c/">', '<a href="#a-c">'),
        ('<a href="../..">', '<a href="#index">'),
        ('<a href="../d/#x">', '<a href="../a/d/#x">'),
        ('<a href="https://x.example/#y">', '<a href="https://x.example/#y">'),
        ('<img src="../../y.png">', '<img src="../y.png">'),
        ('<p data-scripts="../s.js ../t.js">', '<p data-scripts="../a/s.js ../a/t.js">'),
        ('<path fill="url(#x)"/>', '<path fill="url(#a-b--x)"/>'),
        ("<h1>x</h1>", "<h2>x</h2>"),
        ("<h5>x</h5>", "<h6>x</h6>"),
        ("<hr>", "<hr>"),
        ('<code>&lt;p id="x"&gt;</code>', '<code>&lt;p id="x"&gt;</code>'),
    ],
)
def test_tags_of_a_part(tag, meant):
    assert part(f"<p>1</p>{tag}") == f"<p>1</p>{meant}"


def test_links_of_the_first_page_lead_from_the_root():
    assert part('<a href="a/b/">', url="") == '<a href="#a-b">'
    assert part('<a href="d/">', url="") == '<a href="../d/">'


def test_a_shadow_tree_keeps_its_ids():
    html = '<template shadowrootmode="open"><p id="x"></p></template><p id="x"></p>'
    assert part(html) == html.replace('</template><p id="', '</template><p id="a-b--')


def test_what_is_a_pages_own_is_left_out():
    own = (
        '<script type="application/json" class="proofbook-program">{"a": "b"}</script>'
        '<details class="proofbook-ledger"><p>1</p></details>'
        '<a class="proofbook-copy" href="#y"></a>'
        '<p class="proofbook-download" id="y"><a href="x">2</a></p>'
        '<script type="module" src="../a/1f-glassformer-live-writer.js"></script>'
    )
    assert part(f"<p>3</p>{own}<p>4</p>") == "<p>3</p><p>4</p>"
