"""Old addresses of sections that have moved lead to the new ones, and only they show the line."""

import re

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from browser import launched, served, visit

CONFIG = """\
site_name: A throwaway book
theme: {name: material, font: false, custom_dir: overrides}
plugins: [search, booksite/moved]
nav: [index.md, part/one.md, part/two.md]
extra_css: [moved.css]
"""
ONE = "---\nmoved:\n  wheels: two.md#wheels-again\n---\n\n# One\n\n" + "## Doors\n\nText.\n\n" * 40
TWO = "# Two & a half\n\n" + "Text.\n\n" * 40 + "## Wheels, again\n\nRound.\n" + "\nText.\n" * 40
STYLE = ".md-typeset .moved:target { display: block }"


@pytest.fixture
def book(tmp_path):
    files = {"index.md": "# Home\n", "part/one.md": ONE, "part/two.md": TWO, "moved.css": STYLE}
    for name, text in files.items():
        (tmp_path / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "docs" / name).write_text(text)
    (tmp_path / "overrides").mkdir()
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    return tmp_path


def made(book):
    build(load_config(str(book / "mkdocs.yml")))
    return book / "site"


@pytest.mark.browser
def test_an_old_address_shows_a_line_that_leads_to_the_new_one(book):
    site = made(book)
    assert "has moved" not in (site / "search/search_index.json").read_text()
    with served(site) as root, launched() as browser, visit(browser, root) as seen:
        page = seen.page
        page.goto(f"{root}part/one/")
        assert not page.locator(".moved").is_visible()
        page.goto(f"{root}part/one/#wheels")
        link = page.get_by_role("link", name="Two & a half").last
        assert page.locator(".moved").is_visible()
        assert page.evaluate("scrollY") > 500
        link.click()
        page.wait_for_url("**/part/two/#wheels-again")


def test_the_line_is_hidden_without_a_style_sheet_too(book):
    page = (made(book) / "part/one/index.html").read_text()
    assert re.findall(r'<p class="moved" id="(\w+)" hidden ', page) == ["wheels"]
    assert page.count("has moved") == 1


@pytest.mark.browser
def test_the_line_needs_no_script(book):
    site = made(book)
    with served(site) as root, launched() as browser:
        page = browser.new_context(java_script_enabled=False).new_page()
        page.goto(f"{root}part/one/#wheels")
        assert page.locator(".moved").is_visible()
        page.goto(f"{root}part/one/#doors")
        assert not page.locator(".moved").is_visible()


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("three.md#wheels", "docs/part/one.md: moved: wheels: three.md#wheels is not a page and"),
        ("two.md", "docs/part/one.md: moved: wheels: two.md is not a page and an anchor"),
    ],
)
def test_what_leads_nowhere_fails_the_build(book, target, message):
    (book / "docs/part/one.md").write_text(ONE.replace("two.md#wheels-again", target))
    with pytest.raises(Abort, match="BuildError") as error:
        made(book)
    assert message in str(error.value.__context__)


def test_an_address_that_is_still_in_use_has_not_moved(book):
    (book / "docs/part/one.md").write_text(ONE.replace("## Doors", "## Wheels"))
    with pytest.raises(Abort, match="BuildError") as error:
        made(book)
    assert "moved: wheels: this page still has a section with that name" in str(
        error.value.__context__
    )
