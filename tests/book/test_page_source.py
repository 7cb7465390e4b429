"""Each page offers its own Markdown; a place to edit it is offered where one is known."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
VIEW = re.compile(r'<a href="([^"]*)" title="View the source of this page"')


def test_every_page_leads_to_its_own_markdown(site):
    for path in sorted((ROOT / "docs").rglob("*.md")):
        name = path.relative_to(ROOT / "docs")
        folder = name.parent if name.stem == "index" else name.with_suffix("")
        page = site / folder / "index.html"
        [link] = VIEW.findall(page.read_text(encoding="utf-8"))
        assert (page.parent / link).read_bytes() == b"\xef\xbb\xbf" + path.read_bytes(), link


def test_pages_that_the_build_makes_have_no_such_link(site):
    page = site / "source/glassformer/layers/attention/index.html"
    assert not VIEW.search(page.read_text(encoding="utf-8"))
