"""What a page tells those who haven't opened it: what it is about, and addresses that are true."""

import json
import re
import shutil
import struct
from html import unescape
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config

from glassbook.site.sharing.description import LONGEST, described, shortened

ROOT = Path(__file__).parents[3]
SITE = "https://someone.example/a/book/"
CONFIG = """\
site_name: A throwaway book
site_description: The same for all.
site_author: Two authors
site_url: !ENV SITE_URL
theme: {name: material, font: false, custom_dir: overrides}
plugins: [search, glassbook/opening, glassbook/sharing]
markdown_extensions: [attr_list, md_in_html]
"""
OPENING = '*You will know:* what "five" is. *You need:* nothing.'
PAGES = {
    "index.md": "# Home\n\nA book that was made to be thrown away, for a test of its pages.\n",
    "part/one.md": "---\nmodules: []\ntags: [five]\n---\n# One & all\n\n"
    f'## Why "five"?\n\nBecause.\n\n{OPENING}',
    "part/two.md": "---\nmodules: []\n---\n# Two\n\n## How do you count?\n\nSo.\n\n" + OPENING,
    "list.md": "# List\n\nShort.\n\nWhat else there is, in no order that anybody would remember.\n",
    "file.md": "---\nnoindex: true\ndescription: A file.\n---\n# File\n\nCode.\n",
}


@pytest.fixture(scope="module")
def sites(tmp_path_factory):
    """The throwaway book, built without an address and with one."""
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for address in ("", SITE):
            folder = tmp_path_factory.mktemp("book")
            for name, text in PAGES.items():
                (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
                (folder / "docs" / name).write_text(text)
            for path in ("css/print.css", "js/theme.js", "images/logo.svg"):
                (folder / "docs/assets" / path).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / "docs/assets" / path, folder / "docs/assets" / path)
            shutil.copytree(ROOT / "overrides", folder / "overrides")
            (folder / "mkdocs.yml").write_text(CONFIG)
            patch.setenv("SITE_URL", address)
            if not address:
                patch.delenv("SITE_URL")
            build(load_config(str(folder / "mkdocs.yml")))
            found[address] = folder / "site"
    return found


def head(site: Path, page: str) -> dict[str, str]:
    """What the head of a page says, by the name of what says it."""
    html = (site / page / "index.html" if page != "404" else site / "404.html").read_text()
    tags = re.findall(r"<(?:meta|link) [^>]+>", html.partition("</head>")[0])
    said = {}
    for tag in tags:
        pairs = dict(re.findall(r'([\w:-]+)="([^"]*)"', tag))
        name = pairs.get("name") or pairs.get("property") or pairs.get("rel")
        if name:
            said[name] = unescape(pairs.get("content", pairs.get("href", "")))
    [*data] = re.findall(r'<script type="application/ld\+json">(.*?)</script>', html)
    return said | ({"data": json.loads(data[0])} if data else {})


@pytest.mark.parametrize("address", ["", SITE])
def test_each_page_is_described_by_how_it_opens(sites, address):
    told = {page: head(sites[address], page)["description"] for page in ("", "part/one", "list")}
    assert told == {
        "": "A book that was made to be thrown away, for a test of its pages.",
        "part/one": 'Why "five"? You will know what "five" is.',
        "list": "What else there is, in no order that anybody would remember.",
    }
    for page, description in told.items():
        found = head(sites[address], page)
        assert found["og:description"] == found["data"]["description"] == description


def test_without_an_address_nothing_false_is_said(sites):
    for page in ("", "part/one", "404"):
        found = head(sites[""], page)
        assert not {"canonical", "og:url", "og:image", "twitter:card"} & {*found}
        assert "http" not in json.dumps(found).replace("https://schema.org", "").replace(
            "https://www.apache.org/licenses/", ""
        )
    assert not (sites[""] / "sitemap.xml").exists()
    assert not (sites[""] / "sitemap.xml.gz").exists()
    assert not (sites[""] / "assets/cards").exists()


def test_with_an_address_pages_say_where_they_are(sites):
    for page in ("", "part/one", "list"):
        found = head(sites[SITE], page)
        there = f"{SITE}{page}/" if page else SITE
        assert found["canonical"] == found["og:url"] == found["data"]["url"] == there
        assert found["twitter:card"] == "summary_large_image"
    sitemap = (sites[SITE] / "sitemap.xml").read_text()
    listed = re.findall("<loc>(.*?)</loc>", sitemap)
    assert listed == [f"{SITE}{page}" for page in ("", "list/", "part/one/", "part/two/")]


def test_files_and_the_page_for_missing_addresses_are_not_for_search_engines(sites):
    for address in ("", SITE):
        assert head(sites[address], "file")["robots"] == "noindex"
        assert head(sites[address], "404")["robots"] == "noindex"
        assert "robots" not in head(sites[address], "part/one")


def test_programs_are_told_what_a_page_is_and_what_it_is_part_of(sites):
    home, chapter, page = (head(sites[SITE], one)["data"] for one in ("", "part/one", "list"))
    assert (home["@type"], home["name"], home["url"]) == ("Book", "A throwaway book", SITE)
    assert home["author"] == {"@type": "Organization", "name": "Two authors"}
    assert (chapter["@type"], chapter["name"]) == ("Chapter", "One & all")
    assert chapter["keywords"] == ["five"]
    assert chapter["isPartOf"]["@type"] == "Book"
    assert page["@type"] == "WebPage"


def test_each_chapter_has_a_picture_of_its_own_and_other_pages_that_of_home(sites):
    pictures = {page: head(sites[SITE], page)["og:image"] for page in ("part/one", "part/two")}
    home, other = (head(sites[SITE], page)["og:image"] for page in ("", "list"))
    assert home == other == f"{SITE}assets/cards/index.png"
    assert pictures["part/one"] == f"{SITE}assets/cards/part-one.png"
    data = {
        address: (sites[SITE] / address.removeprefix(SITE)).read_bytes()
        for address in (home, *pictures.values())
    }
    assert len({*data.values()}) == 3
    for png in data.values():
        assert png.startswith(b"\x89PNG\r\n")
        assert struct.unpack(">II", png[16:24]) == (1200, 630)
        assert 10_000 < len(png) < 150_000


def test_the_page_for_missing_addresses_asks_for_what_is_below_the_address(sites):
    html = (sites[SITE] / "404.html").read_text()
    links = re.findall(r'(?:href|src|action)="(/[^"]*)"', html)
    assert len(links) > 10
    assert all(link.startswith("/a/book/") for link in links)
    assert "logo.svg`" not in html


def test_a_description_leaves_out_what_is_no_part_of_the_sentence():
    html = """<h1>A</h1><h2 id="b">Why <code>b</code>?<a class="headerlink" href="#b">#</a></h2>
    <p class="opening"><em>You will know:</em> why, <span data-search-exclude>checked<br>
    </span>and what for. <em>You need:</em> <a href="c">C</a>.</p>"""
    assert described(html) == "Why b? You will know why, and what for."


def test_a_long_description_ends_with_a_sentence_or_else_a_word():
    assert shortened("One. " * 100) == ("One. " * 60).strip()
    cut = shortened("word, " * 100)
    assert cut.endswith("word…")
    assert len(cut) <= LONGEST
