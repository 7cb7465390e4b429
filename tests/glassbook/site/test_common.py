"""A place is filled where there is exactly one, and missed where there is none."""

import pytest
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File
from mkdocs.structure.pages import Page

from glassbook.site.common import fill


@pytest.fixture
def page(tmp_path) -> Page:
    config = MkDocsConfig()
    config.load_dict({"site_name": "x", "docs_dir": str(tmp_path)})
    config.validate()
    return Page("A", File("part/a.md", str(tmp_path), str(tmp_path), True), config)


def test_a_place_is_filled(page):
    assert fill("a <b></b> \\1", "<b></b>", "\\1 <b></b>", page) == "a \\1 <b></b> \\1"


@pytest.mark.parametrize(("text", "count"), [("a", 0), ("<b></b> <b></b>", 2)])
def test_none_and_two_are_refused(page, text, count):
    message = rf"docs/part/a\.md: '<b></b>' occurs {count} times instead of once"
    with pytest.raises(PluginError, match=message):
        fill(text, "<b></b>", "c", page)
