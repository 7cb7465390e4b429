"""A book's own file is read as MkDocs reads it, without MkDocs."""

import pytest

from proofbook.settings import load, source_url, with_added

CONFIG = """\
site_name: x
docs_dir: pages
repo_url: https://github.com/someone/book
edit_uri: edit/trunk/pages/
names: &names {names: [A-1]}
extra: !ENV [NOT_SET, fallback]
markdown_extensions:
  - attr_list
  - toc: {permalink: true}
  - pymdownx.superfences:
      custom_fences:
        - name: m
          class: m
          format: !!python/name:pymdownx.superfences.fence_code_format
plugins:
  - search
  - proofbook: {preload: [torch], timeout: 5, sources: [lib], cache_dir: kept, coverage: *names}
"""


def test_a_book_is_what_its_file_says(tmp_path):
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    book = load(tmp_path / "mkdocs.yml", {"jobs": 2})
    assert (book.root, book.docs) == (tmp_path, tmp_path / "pages")
    assert (book.preload, book.timeout) == (("torch",), 5.0)
    assert (book.jobs, book.cache_dir) == (2, "kept")
    assert book.cache == tmp_path / "kept"
    assert book.source_folders == (tmp_path / "lib",)
    assert book.coverage.names == ("A-1",)
    assert book.configs["toc"] == {"permalink": True}
    (fence,) = book.configs["pymdownx.superfences"]["custom_fences"]
    assert fence["format"].__name__ == "fence_code_format"
    assert book.source_url.startswith("https://github.com/someone/book/blob/trunk/{path}")


@pytest.mark.parametrize("listed", ["proofbook", "{proofbook: {timeout: 7}}"])
def test_it_may_be_listed_as_an_extension_alone(tmp_path, listed):
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\nmarkdown_extensions: [{listed}]\n")
    book = load(tmp_path / "mkdocs.yml")
    assert "proofbook" not in book.extensions
    assert book.timeout == (7.0 if "7" in listed else 60.0)


def test_without_a_file_the_defaults_hold(tmp_path):
    book = load(tmp_path / "mkdocs.yml")
    assert (book.docs, book.source_folders, book.source_url) == (
        tmp_path / "docs",
        (tmp_path / "src",),
        "",
    )


def test_each_extension_comes_once():
    names = with_added(["markdown.extensions.tables", "proofbook", "admonition"])
    assert "tables" not in names
    assert names.count("admonition") == 1
    assert "proofbook" not in names
    assert "pymdownx.superfences" in names


@pytest.mark.parametrize(
    ("repo", "edit", "address"),
    [
        ("https://github.com/a/b", "", "https://github.com/a/b/blob/main/"),
        ("https://github.com/a/b/", "edit/dev/docs/", "https://github.com/a/b/blob/dev/"),
        ("https://gitlab.com/a/b", "-/edit/dev/docs/", "https://gitlab.com/a/b/-/blob/dev/"),
    ],
)
def test_lines_have_an_address(repo, edit, address):
    assert source_url(repo, edit) == address + "{path}#L{first}-L{last}"


def test_no_address_is_made_up():
    assert source_url("https://example.org/a", "edit/main/docs/") == ""
