"""What a site says of its repository and its own address, as far as the build is told them."""

import json
import re
import shutil
from pathlib import Path

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from nbformat import reads

from glassbook.site.labs.cells import about, colab_address
from glassbook.site.labs.plugin import as_notebook
from proofbook.integrations.reading import Manuscript
from proofbook.notebook.links import Links

ROOT = Path(__file__).parents[3]
KEYS = ("site_url", "repo_url", "edit_uri")
LINES = re.findall(rf"^(?:{'|'.join(KEYS)}): .*$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE)
CONFIG = """\
site_name: A throwaway book
theme: {name: material, font: false, custom_dir: overrides}
plugins: [glassbook/page-source]
markdown_extensions: [attr_list, pymdownx.superfences, pymdownx.highlight]
"""
SITE, REPOSITORY = "https://someone.example/book/", "https://github.com/someone/book"
ELSEWHERE = "https://forge.example/someone/book"
INSTALL = (ROOT / "docs/reference/install.md").read_text()
[CLONE] = re.findall(r"^git clone .*$", INSTALL, re.MULTILINE)
ABOUT = (ROOT / "docs/reference/about.md").read_text()
[KNOWN] = re.findall(r"^.+\n\{ \.with-repository \}$", ABOUT, re.MULTILINE)
[UNKNOWN] = re.findall(r"^.+\n\{ \.no-repository \}$", INSTALL, re.MULTILINE)


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Builds a page with the line to clone; gives its HTML, without tags in code, and config."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/index.md").write_text(
        f"# Home\n\n```sh\n{CLONE}\n```\n\n{UNKNOWN}\n\n{KNOWN}\n\nNow run it.\n"
    )
    (tmp_path / "overrides/partials").mkdir(parents=True)
    for name in ("actions.html", "source.html"):
        shutil.copy(ROOT / "overrides/partials" / name, tmp_path / "overrides/partials")
    (tmp_path / "mkdocs.yml").write_text("\n".join([CONFIG, *LINES]))

    def make(site="", repository="", edit=""):
        given = {"SITE_URL": site, "REPO_URL": repository, "GLASSFORMER_EDIT_URI": edit}
        for name, value in given.items():
            monkeypatch.delenv(name, raising=False)
            if value:
                monkeypatch.setenv(name, value)
        config = load_config(str(tmp_path / "mkdocs.yml"))
        build(config)
        return (tmp_path / "site/index.html").read_text(), config

    return make


def cloned(html):
    code = re.search(r"<code>(.*?)</code>", html, re.DOTALL)[1]
    return re.sub(r"<[^>]+>", "", code).strip()


def edited(html):
    return re.findall(r'<a href="([^"]*)" title="Edit this page"', html)


def test_without_addresses_the_reader_is_to_fill_one_in(made):
    html, config = made()
    assert (config.site_url, config.repo_url, config.edit_uri) == (None, None, None)
    assert cloned(html) == "git clone ADDRESS glassformer"
    assert edited(html) == []
    assert "md-source" not in html
    assert "built without the address of a repository" in html
    assert "REPOSITORY" not in html
    assert "the list of errors" not in html


def test_with_a_repository_the_line_and_the_links_have_it(made):
    html, _ = made(repository=REPOSITORY)
    assert cloned(html) == f"git clone {REPOSITORY} glassformer"
    assert "no-repository" not in html
    assert "<p>Now run it.</p>" in html
    assert f'<a href="{REPOSITORY}/issues">the issue tracker</a>' in html
    assert edited(html) == [f"{REPOSITORY}/edit/main/docs/index.md"]
    links = re.findall(r'<a href="([^"]+)"[^>]* class="md-source"([^>]*)>', html)
    assert links
    assert {*links} == {(REPOSITORY, "")}  # or the theme would ask the host about it
    assert "canonical" not in html


def test_pages_elsewhere_are_edited_where_the_environment_says(made):
    html, _ = made(repository=ELSEWHERE)
    assert cloned(html) == f"git clone {ELSEWHERE} glassformer"
    assert edited(html) == []
    html, _ = made(repository=ELSEWHERE, edit=f"{ELSEWHERE}/change/docs/")
    assert edited(html) == [f"{ELSEWHERE}/change/docs/index.md"]


class Lab:
    """A page with a lab, as far as it is asked about itself."""

    class file:  # noqa: N801
        src_uri = "labs/heads.py"


@pytest.mark.parametrize(("site", "repository"), [("", ""), (SITE, ""), ("", REPOSITORY)])
def test_colab_needs_both(made, site, repository):
    _, config = made(site, repository)
    assert colab_address(Lab, config) == ""
    assert "Colab" not in about(Lab, {"cells": 2, "assertions": 3}, "")


def test_with_both_a_lab_can_be_opened_in_colab(made):
    _, config = made(SITE, REPOSITORY)
    address = colab_address(Lab, config)
    notebook = "https%3A//someone.example/book/labs/heads.ipynb"
    assert address == f"https://colab.research.google.com/#fileId={notebook}"
    assert f'<a href="{address}">open it in Colab</a>' in about(
        Lab, {"cells": 2, "assertions": 3}, address
    )


def test_a_lab_installs_the_package_from_the_repository_where_there_is_one():
    script = "# %% [markdown]\n# # A lab\n\n# %%\n2 + 3\n"
    plain, installing = (reads(as_notebook(script, one), 4).cells for one in ("", REPOSITORY))
    assert [cell.source for cell in plain] == ["# A lab", "2 + 3"]
    assert [cell.source for cell in installing[::2]] == ["# A lab", "2 + 3"]
    assert f'%pip install --quiet "glassformer @ git+{REPOSITORY}"' in installing[1].source
    assert '"google.colab" in sys.modules' in installing[1].source
    assert json.loads(as_notebook(script, REPOSITORY)) == json.loads(
        as_notebook(script, REPOSITORY)
    )


@pytest.mark.parametrize(("site", "repository"), [("", ""), (SITE, REPOSITORY)])
def test_the_engine_reads_the_same_addresses(made, tmp_path, site, repository):
    made(site, repository)
    manuscript = Manuscript(tmp_path / "mkdocs.yml")
    settings = manuscript.settings
    manuscript.close()
    assert settings.site_url == site
    page = Links(settings, "docs/part/one.md")
    assert page.link("Two", "two.md#here") == (f"[Two]({site}part/two/#here)" if site else "Two")
    lines = f"{REPOSITORY}/blob/main/{{path}}#L{{first}}-L{{last}}"
    assert settings.source_url == (lines if repository else "")
