"""A section is found by the names of the subjects that the index leads there with."""

import json

import pytest
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

from glassbook.site.search_words import subjects

CONFIG = """\
site_name: A throwaway book
theme: {name: material, font: false}
plugins:
  - search
  - glassbook/search-words: {topics: lists/topics.md, glossary: lists/terms.md}
"""
TOPICS = """\
# Topics

| subject | where |
|---|---|
| Masks (causal, look-ahead) | Masks: [One](../masks.md#one), [Two](../masks.md#two) |
| Heads | Masks: [Two](../masks.md#two)<br>Home: [Begin](../index.md#begin) |
"""
TERMS = "# Terms\n\nCausal mask { #causal }\n:   A mask of the future. [Masks](../masks.md)\n"
MASKS = (
    "---\ntags: [padding]\nsection_tags: {one: [future]}\n---\n# Masks\n\n## One\n\nA.\n\n## Two\n"
)


@pytest.fixture
def book(tmp_path):
    (tmp_path / "docs/lists").mkdir(parents=True)
    (tmp_path / "docs/lists/topics.md").write_text(TOPICS)
    (tmp_path / "docs/lists/terms.md").write_text(TERMS)
    (tmp_path / "docs/masks.md").write_text(MASKS)
    (tmp_path / "docs/index.md").write_text("# Home\n\n## Begin\n")
    (tmp_path / "mkdocs.yml").write_text(CONFIG)
    return tmp_path


def built(book):
    build(load_config(str(book / "mkdocs.yml")))
    entries = json.loads((book / "site/search/search_index.json").read_text())["docs"]
    return {entry["location"]: entry.get("tags") for entry in entries}


def test_a_section_is_found_by_the_names_of_its_subjects_and_by_words_of_its_own(book):
    tags = built(book)
    assert tags["masks/"] == ["padding", "causal mask", "causal masks"]
    assert tags["masks/#one"] == ["padding", "future", "Masks", "causal", "look-ahead"]
    assert tags["masks/#two"] == ["padding", "Masks", "causal", "look-ahead", "Heads"]
    assert tags["#begin"] == ["Heads"]
    assert tags["lists/topics/"] is None


def test_a_section_that_is_not_there_is_named(book, caplog):
    (book / "docs/masks.md").write_text(MASKS.replace("{one:", "{won:"))
    with pytest.raises(Abort, match="BuildError"):
        built(book)
    assert "the search has no section masks/#won" in caplog.text


def test_rows_without_a_link_lead_nowhere():
    assert list(subjects("| subject | where |\n|---|---|\n| Korean | *planned: one* |")) == []
