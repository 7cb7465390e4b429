"""Addresses that were published once go on leading somewhere."""

import json
from pathlib import Path

import pytest
from pages import Page

KEPT = json.loads((Path(__file__).parent / "addresses.json").read_text(encoding="utf-8"))

pytestmark = pytest.mark.xdist_group("site")


def test_addresses_are_kept():
    assert len(KEPT) > 40
    assert sum(map(len, KEPT.values())) > 600


@pytest.mark.parametrize("page", KEPT)
def test_a_page_has_each_section_that_it_ever_had_or_says_where_it_is(site, page):
    ids = Page(site / page / "index.html").ids
    assert [anchor for anchor in KEPT[page] if anchor not in ids] == []
