"""The built site: links lead somewhere, nothing comes from elsewhere, formulas are there."""

import os
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from pages import Page, read

from glassbook.site.finish.theme import UNUSED

ENCODER = ["tokens", "attention", "many-heads", "seeing-attention"]

# The first test builds the site: where nothing is trained yet, that takes two processors a while.
pytestmark = [pytest.mark.timeout(2400)]


@pytest.fixture(scope="module")
def pages(site: Path) -> list[Page]:
    found = [read(path) for path in sorted(site.rglob("*.html"))]
    assert len(found) > len(ENCODER)
    return found


@pytest.fixture(scope="module")
def chapters(site: Path) -> list[Page]:
    return [read(site / "encoder" / name / "index.html") for name in ENCODER]


def target(site: Path, page: Page, link: str) -> tuple[Path, str]:
    """The file a link leads to, and the anchor within."""
    address, anchor = urldefrag(link)
    path = unquote(urlsplit(address).path)
    if not path:
        return page.path, unquote(anchor)
    # The page for missing addresses stands anywhere, so its links start at the root.
    joined = site / path.lstrip("/") if path.startswith("/") else page.path.parent / path
    file = Path(os.path.normpath(joined))
    return (file / "index.html" if path.endswith("/") or file.is_dir() else file), unquote(anchor)


def test_internal_links_and_anchors_lead_somewhere(site, pages):
    lost = []
    for page in pages:
        links = {tag.attributes["href"] for tag in page.named("a") if "href" in tag.attributes}
        for link in links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            file, anchor = target(site, page, link)
            if not file.is_file() or (anchor and anchor not in read(file).anchors):
                lost.append(f"{page.path.relative_to(site)}: {link}")
    assert not lost


def test_files_that_pages_load_exist(site, pages):
    lost = []
    for page in pages:
        for tag in page.named("img", "script", "link", "iframe", "source"):
            link = tag.attributes.get("src") or tag.attributes.get("href") or ""
            canonical = tag.attributes.get("rel") in ("canonical", "prev", "next")
            if not link or canonical or link.startswith(("data:", "blob:")):
                continue
            file, _ = target(site, page, link)
            if not file.is_file():
                lost.append(f"{page.path.relative_to(site)}: {link}")
    assert not lost


def test_pages_load_nothing_from_another_host(site, pages):
    foreign = []
    for page in pages:
        for tag in page.tags:
            loads = ["src", "srcset", "poster", "data", "action"]
            if tag.name in ("link", "image", "use"):
                loads += ["href", "xlink:href"]
            for name in loads:
                if re.match(r"\s*(https?:)?//", tag.attributes.get(name, "")):
                    foreign.append(f"{page.path.relative_to(site)}: {tag.attributes[name]}")
            if re.search(r"url\(\s*[\"']?(https?:)?//", tag.attributes.get("style", "")):
                foreign.append(f"{page.path.relative_to(site)}: {tag.attributes['style']}")
    assert not foreign


def test_styles_load_nothing_from_another_host(site, pages):
    sheets = {str(path): path.read_text() for path in site.rglob("*.css")}
    sheets |= {str(p.path): "\n".join(tag.text for tag in p.named("style")) for p in pages}
    assert len(sheets) > len(pages)
    for name, text in sheets.items():
        assert not re.search(r"url\(\s*[\"']?(https?:)?//|@import", text), name


def test_shown_code_leads_to_its_first_line(site, chapters):
    shown = 0
    for page in chapters:
        tags = iter(page.tags)
        for tag in tags:
            if tag.attributes.get("class") != "proofbook-block":
                continue
            if "lines " not in tag.text or not tag.text.rstrip()[-1].isdigit():
                continue
            code = next(t for t in tags if t.name == "code").text
            link = next(t for t in tags if "source/" in t.attributes.get("href", ""))
            file, anchor = target(site, page, link.attributes["href"])
            line = next(t for t in read(file).tags if t.attributes.get("id") == anchor)
            assert line.text.strip() == code.split("\n")[0].strip(), link.attributes["href"]
            shown += 1
    assert shown > 5


def test_no_page_has_what_its_style_sheet_says_nothing_of(pages):
    tags = [tag.attributes for page in pages for tag in page.tags]
    classes = {name for tag in tags for name in tag.get("class", "").split()}
    assert {"md-grid", "md-typeset"} <= classes
    assert not [name for name in classes if f".{name}".startswith(UNUSED)]
    assert "[dir=rtl]" in UNUSED
    assert not [tag for tag in tags if tag.get("dir") == "rtl"]


def test_fonts_of_the_style_sheet_are_served_with_their_licence(site):
    css = (site / "assets/css/fonts.css").read_text()
    named = set(re.findall(r"fonts/([\w.-]+\.woff2)", css))
    served = {path.name for path in (site / "assets/fonts").glob("*.woff2")}
    assert named == served
    assert "SIL OPEN FONT LICENSE" in (site / "assets/fonts/LICENSE.txt").read_text()


def test_formulas_are_mathml(chapters):
    formulas = [tag.text for page in chapters for tag in page.named("math")]
    assert any("Attention" in text and "softmax" in text for text in formulas)
    assert all(page.named("math") for page in chapters if page.path.parent.name != "tokens")


def test_no_tex_and_no_claim_is_left_as_text(pages, site):
    raw = re.compile(r"\\[a-zA-Z(\[]{1,}|\$\S|\{:?\s*(equals|holds|value)\b")
    left = {
        str(page.path.relative_to(site)): raw.search(page.prose)[0]
        for page in pages
        if raw.search(page.prose)
    }
    assert not left


def test_ids_are_unique(pages, site):
    for page in pages:
        twice = [name for name, count in Counter(page.ids).items() if count > 1]
        assert not twice, page.path.relative_to(site)


def test_what_opens_something_names_it(pages):
    for page in pages:
        named = [
            tag.attributes[name]
            for tag in page.tags
            for name in ("popovertarget", "aria-labelledby", "aria-describedby", "aria-controls")
            if name in tag.attributes
        ]
        lost = {one for names in named for one in names.split()} - set(page.ids)
        assert not lost, page.path


def test_pages_say_their_language_and_have_one_title(pages):
    for page in pages:
        assert page.named("html")[0].attributes["lang"] == "en"
    content = [page for page in pages if page.path.name != "404.html"]
    for page in content:
        assert len(page.named("h1")) == 1, page.path
    titles = [page.named("title")[0].text for page in content]
    assert len(set(titles)) == len(titles)


def said_of(page: Page) -> dict[str, str]:
    """What the head of a page says of it, by name."""
    tags = [tag.attributes for tag in page.named("meta")]
    return {tag.get("name") or tag.get("property", ""): tag.get("content", "") for tag in tags}


def test_each_page_is_described_in_words_of_its_own(pages):
    said = [said_of(page)["description"] for page in pages if page.path.name != "404.html"]
    assert [twice for twice, count in Counter(said).items() if count > 1] == []
    assert min(map(len, said)) > 20
    assert max(map(len, said)) <= 300


def test_only_pages_of_files_and_the_one_for_missing_addresses_ask_not_to_be_listed(site, pages):
    asking = {str(page.path.relative_to(site)) for page in pages if said_of(page).get("robots")}
    files = {name for name in asking if name.startswith("source/")}
    assert len(files) > 100
    assert asking - files == {"404.html"}
