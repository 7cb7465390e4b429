"""A book's own file is read by MkDocs, and what MkDocs refuses is refused."""

import re

import pytest
from mkdocs.utils import markdown_extensions

from proofbook.integrations.reading import files_of, load
from proofbook.problems import ChapterError
from proofbook.settings import PAGES, source_url
from tables import table

CONFIG = """\
site_name: x
docs_dir: pages
theme: mkdocs
repo_url: https://github.com/someone/book
edit_uri: edit/trunk/pages/
extra: {names: &names {names: [A-1]}, env: !ENV [NOT_SET, fallback]}
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


@pytest.fixture(autouse=True)
def docs(tmp_path, monkeypatch):
    """MkDocs wants a folder of pages."""
    monkeypatch.chdir(tmp_path)
    for name in ("docs", "pages", "far"):
        (tmp_path / name).mkdir()


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


@table("listed", ["proofbook", "{proofbook: {timeout: 7}}"])
def test_it_may_be_listed_as_an_extension_alone(tmp_path, listed):
    (tmp_path / "mkdocs.yml").write_text(f"site_name: x\nmarkdown_extensions: [{listed}]\n")
    book = load(tmp_path / "mkdocs.yml")
    assert "proofbook" not in book.extensions
    assert book.timeout == (7.0 if "7" in listed else 60.0)


def test_without_a_file_the_defaults_hold(tmp_path):
    book = load(None)
    assert (book.docs, book.source_folders, book.source_url) == (
        tmp_path / "docs",
        (tmp_path / "src",),
        "",
    )


@table(
    ("repo", "edit", "address"),
    [
        ("https://github.com/a/b", "", "https://github.com/a/b/blob/main/"),
        ("https://github.com/a/b/", "edit/dev/docs/", "https://github.com/a/b/blob/dev/"),
        ("https://gitlab.com/a/b", "-/edit/dev/docs/", "https://gitlab.com/a/b/-/blob/dev/"),
        ("https://example.org/a", "edit/main/docs/", ""),
    ],
)
def test_lines_have_an_address_where_one_is_known(repo, edit, address):
    assert source_url(repo, edit) == (address and address + "{path}#L{first}-L{last}")


def test_pages_have_the_endings_that_mkdocs_knows(tmp_path):
    assert set(PAGES) == set(markdown_extensions)
    for ending in (*PAGES, ".txt", ".mdx"):
        (tmp_path / f"page{ending}").touch()
    (tmp_path / "folder.md").mkdir()
    found = load(None).pages(tmp_path)
    assert {path.suffix for path in found} == set(PAGES)
    assert len(found) == len(PAGES)


def test_what_a_file_inherits_counts(tmp_path):
    files = {
        "far/base.yml": "site_name: far\ndocs_dir: far\nextra: {a: 1, b: {c: 1}}\n",
        "base.yml": "INHERIT: far/base.yml\nsite_name: near\nextra: {b: {d: 2}}\n",
        "mkdocs.yml": "INHERIT: base.yml\nplugins:\n  proofbook: {timeout: 7}\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    book = load(tmp_path / "mkdocs.yml")
    assert (book.site_name, book.docs, book.timeout) == ("near", tmp_path / "far", 7.0)
    assert files_of(tmp_path / "mkdocs.yml") == [tmp_path / name for name in reversed(files)]


@table(
    ("config", "line", "message"),
    [
        ("a: [b", 1, "expected ',' or ']'"),
        ("site_name: x\na: !!python/object/apply:no.such []", 2, "module 'no'"),
        ("site_name: x\n\na: !unknown x", 3, "!unknown"),
        ("a: !!python/object/apply:math.sqrt [-1]", 1, "math domain error"),
        ("- a\n- b", 1, "Expected a key-value mapping"),
        ("site_name: x\nplugins: 3", 1, "Config value 'plugins'"),
        ("site_name: x\nplugins: [no_such]", 1, 'The "no_such" plugin is not installed'),
        ("site_name: x\nmarkdown_extensions: [not_there]", 1, "Failed to load extension"),
        ("site_name: x\nmarkdown_extensions: [toc: {permalinks: true}]", 1, "permalinks"),
        ("site_name: x\nplugins: [proofbook: {timeout: soon}]", 1, "Expected type"),
        ("site_name: x\nplugins: [proofbook: {jobs: two}]", 1, "Expected type"),
        ("site_name: x\nplugins: [proofbook: {sources: lib}]", 1, "Expected a list of items"),
        ("site_name: x\nplugins: [proofbook: [timeout]]", 1, "Invalid config options"),
        ("site_name: x\nstrict: true\nplugins: [proofbook: {timeot: 3}]", 1, "timeot"),
        ("site_name: x\nmarkdown_extensions: [proofbook: {timeot: 3}]", 1, "timeot"),
        ("site_name: x\ndocs_dir: nowhere", 1, "isn't an existing directory"),
        ("INHERIT: nothing.yml", 1, "does not exist"),
    ],
)
def test_what_cannot_be_used_is_told_with_file_and_line(tmp_path, config, line, message):
    (tmp_path / "mkdocs.yml").write_text(config)
    with pytest.raises(ChapterError, match=re.escape(message)) as error:
        load(tmp_path / "mkdocs.yml")
    [problem] = error.value.problems
    assert (problem.line, problem.message[:30]) == (line, "these settings cannot be used:")


def test_what_mkdocs_warns_of_is_told(tmp_path, capsys):
    (tmp_path / "mkdocs.yml").write_text("site_name: x\nplugins: [proofbook: {timeot: 3}]\n")
    load(tmp_path / "mkdocs.yml")
    assert "mkdocs.yml: warning: " in (told := capsys.readouterr().err)
    assert "timeot" in told
