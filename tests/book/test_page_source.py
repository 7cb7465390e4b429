"""Each page offers its own Markdown; a place to edit it is offered where one is known."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
VIEW = re.compile(r'<a href="([^"]*)" title="View the source of this page"')
EDIT = re.compile(r'<a href="([^"]*)" title="Edit this page"[^>]* rel="edit"')
[EDIT_URI] = re.findall(r"^edit_uri: .*$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
CONFIG = f"""
site_name: One page
theme: {{name: material, font: false, custom_dir: overrides}}
plugins: [glassbook/page-source]
{EDIT_URI}
"""


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


@pytest.mark.parametrize("address", ["", "https://forge.example/book/edit/main/docs/"])
def test_pages_can_be_edited_where_the_environment_says_where(tmp_path, address):
    (tmp_path / "docs/part").mkdir(parents=True)
    (tmp_path / "docs/part/page.md").write_text("# A page\n")
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    (tmp_path / "overrides/partials").mkdir(parents=True)
    shutil.copy(ROOT / "overrides/partials/actions.html", tmp_path / "overrides/partials")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet"],
        cwd=tmp_path,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "GLASSFORMER_EDIT_URI": address},
        check=True,
    )
    html = (tmp_path / "site/part/page/index.html").read_text()
    assert EDIT.findall(html) == ([f"{address}part/page.md"] if address else [])
    assert VIEW.findall(html) == ["../page.md"]
