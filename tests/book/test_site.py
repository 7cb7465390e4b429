"""The built site: links lead somewhere, nothing comes from elsewhere, formulas are there."""

import gzip
import itertools
import json
import re
from collections import Counter
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import pytest
from pages import Page, read

from glassbook.site.finish.theme import UNUSED

ROOT = Path(__file__).parents[2]
SHEETS = ROOT / "docs/assets/css"
VIEWS_CSS = ROOT / "src/glassformer/views/static/view.css"
ENCODER = ["tokens", "attention", "many-heads", "seeing-attention"]
JOINED = "[0-9a-f]" * 8 + ".css"  # what all style sheets of a page become
KB = 1000

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
    file = site / path.lstrip("/") if path.startswith("/") else page.path.parent / path
    return (file / "index.html" if path.endswith("/") or file.is_dir() else file), unquote(anchor)


def test_internal_links_and_anchors_lead_somewhere(site, pages):
    lost = []
    for page in pages:
        links = [tag.attributes["href"] for tag in page.named("a") if "href" in tag.attributes]
        for link in links:
            if urlsplit(link).scheme or link.startswith("//"):
                continue
            file, anchor = target(site, page, link)
            there = file.resolve().is_file()
            if not there or (anchor and anchor not in read(file.resolve()).ids):
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
            if not file.resolve().is_file():
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


def test_each_style_sheet_is_loaded_and_says_what_it_is():
    """`mkdocs.yml` lists what every page loads; `overrides/main.html` what some do, or printers."""
    loaded = (ROOT / "mkdocs.yml").read_text() + (ROOT / "overrides/main.html").read_text()
    sheets = sorted(SHEETS.glob("*.css"))
    assert len(sheets) > 10
    for sheet in sheets:
        assert f"assets/css/{sheet.name}" in loaded
        assert re.match(r"/\* .+ \*/\n\n", sheet.read_text()), sheet.name


def test_underlines_are_written_as_webkit_reads_them(site):
    """It drops a shorthand `text-decoration` of more than one word."""
    sheets = [*site.rglob("*.css"), VIEWS_CSS]
    said = {
        value.strip()
        for sheet in sheets
        for value in re.findall(r"\btext-decoration\s*:([^;}]*)", sheet.read_text())
    }
    assert {"none", "underline"} <= said
    assert not {value for value in said if len(value.split()) > 1}


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
            line = next(t for t in read(file.resolve()).tags if t.attributes.get("id") == anchor)
            assert line.text.strip() == code.split("\n")[0].strip(), link.attributes["href"]
            shown += 1
    assert shown > 5


def subject(selector: str) -> str:
    """What a rule is about, without what stands in its brackets: the last part of its selector."""
    known = re.sub(r":is\(([\w.]+)[^()]*\)", r"\1", selector)
    while known != (known := re.sub(r"\([^()]*\)", "", known)):
        pass
    return re.split(r"[\s>+~]+", known.strip())[-1]


def test_no_rule_is_about_anything_below_what_the_themes_script_changes(site):
    """Or the browser asks every element of a page anew, a tenth of a second on a slow phone."""
    assert subject("a:not(.b, .c) > :is(td, th):first-child") == "td:first-child"
    assert subject("table:not([class]) td>:first-child") == ":first-child"
    sheets = sorted((site / "assets/css").glob(JOINED))
    assert sheets
    for sheet in sheets:
        text = re.sub(r"/\*.*?\*/", "", sheet.read_text(), flags=re.DOTALL)
        for selectors in re.findall(r"([^{}]+)\{", text):
            for selector in re.split(r",(?![^(]*\))", selectors):
                if re.search(r"\[class|\.(?:no-)?js\b", selector):
                    assert re.match(r"[\w.#\[]", subject(selector)), selector


def test_no_page_has_what_its_style_sheet_says_nothing_of(pages):
    tags = [tag.attributes for page in pages for tag in page.tags]
    classes = {name for tag in tags for name in tag.get("class", "").split()}
    assert {"md-grid", "md-typeset"} <= classes
    assert not [name for name in classes if f".{name}".startswith(UNUSED)]
    assert "[dir=rtl]" in UNUSED
    assert not [tag for tag in tags if tag.get("dir") == "rtl"]


def test_no_rule_has_each_element_measured_anew_when_a_page_opens(site):
    sheets = [path.read_text() for path in (site / "assets/css").glob(JOINED)]
    assert sheets
    assert all("data-md-color-primary" in sheet for sheet in sheets)  # the theme's rules are there
    assert not any("data-md-color-switching" in sheet for sheet in sheets)


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


def test_a_chapter_is_described_by_its_question_and_what_it_gives(site):
    said = said_of(read(site / "encoder/attention/index.html"))
    assert re.match(r"How does “time” find .+\? You will know what .+√d_k", said["description"])
    assert said["og:description"] == said["description"]
    assert said["og:title"] == "Attention"
    home = said_of(read(site / "index.html"))["og:title"]
    assert home == "A book about the transformer that proves what it says"


def test_only_pages_of_files_and_the_one_for_missing_addresses_ask_not_to_be_listed(site, pages):
    asking = {str(page.path.relative_to(site)) for page in pages if said_of(page).get("robots")}
    files = {name for name in asking if name.startswith("source/")}
    assert len(files) > 100
    assert asking - files == {"404.html"}


def test_without_an_address_a_site_has_none_to_be_wrong(site, pages):
    assert not (site / "sitemap.xml").exists()
    links = [tag for page in pages for tag in page.named("link")]
    assert len(links) > 100
    assert not [tag for tag in links if tag.attributes.get("rel") == "canonical"]


def test_headings_skip_no_level(chapters):
    for page in chapters:
        levels = [int(tag.name[1]) for tag in page.named("h1", "h2", "h3", "h4", "h5")]
        jumps = [(a, b) for a, b in itertools.pairwise(levels) if b > a + 1]
        assert not jumps, page.path


def test_pictures_can_be_read_aloud(pages):
    for page in pages:
        for image in page.named("img"):
            assert "alt" in image.attributes, (page.path, image.attributes)


def test_chapters_are_verified(site):
    verified = json.loads((site / "verified.json").read_text())
    for name in ENCODER:
        counted = verified["pages"][f"docs/encoder/{name}.md"]
        assert counted["blocks"] >= 3, name
        assert counted["claims"] >= 5, name
    assert verified["pages"]["docs/index.md"]["claims"] >= 1


def test_outputs_are_in_the_page_itself(chapters):
    for page in chapters:
        outputs = [
            tag
            for tag in page.named("div")
            if "proofbook-output" in tag.attributes.get("class", "")
        ]
        assert outputs, page.path


def test_search_knows_the_chapters(site):
    index = json.loads((site / "search/search_index.json").read_text())
    found = {entry["location"].split("#")[0] for entry in index["docs"]}
    assert {f"encoder/{name}/" for name in ENCODER} <= found


def wire(path: Path) -> int:
    """Bytes on the wire: fonts as they are, text compressed."""
    data = path.read_bytes()
    return len(data) if path.suffix == ".woff2" else len(gzip.compress(data, 6))


def test_what_all_pages_share_is_light(site, chapters):
    page = chapters[1]
    links = [tag.attributes.get("href", "") for tag in page.named("link")]
    links += [tag.attributes.get("src", "") for tag in page.named("script")]
    files = {target(site, page, link)[0].resolve() for link in links if link}
    files = {file for file in files if file.suffix in (".css", ".js")}
    files |= set((site / "assets/fonts").glob("*.woff2"))
    assert sum(map(wire, files)) <= 300 * KB


# -- Colours ---------------------------------------------------------------------------------


def luminance(colour: str) -> float:
    """Relative luminance of #rrggbb, as WCAG 2.2 defines it."""
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    darker, lighter = sorted((luminance(one), luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def test_contrast_is_measured_right():
    assert contrast("#000000", "#ffffff") == pytest.approx(21.0)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", ["default", "slate"])
def test_text_stands_out_from_its_ground(scheme):
    on_screen, _, _ = (SHEETS / "color.css").read_text().partition("@media print")
    colours: dict[str, str] = {}
    for selector, body in re.findall(r"([^{}]+)\{([^{}]*)\}", on_screen):
        if f'[data-md-color-scheme="{scheme}"]' in selector:
            colours |= dict(re.findall(r"--([\w-]+):\s*(#[0-9a-f]{6});", body))
    inks = [name for name in colours if name.startswith(("ink", "blue", "code-"))]
    assert len(inks) == 3 + 2 + 5
    for ink in inks:
        for ground in ("paper", "paper-code"):
            ratio = contrast(colours[ink], colours[ground])
            assert ratio >= 4.5, f"--{ink} on --{ground}: {ratio:.2f}"
