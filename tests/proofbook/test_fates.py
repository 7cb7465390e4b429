"""A mark is on the page, hidden on purpose, in a tag, or lost."""

import pytest

from proofbook import fates as module
from proofbook.fates import follow, recall
from proofbook.shelf import Shelf
from proofbook.weave import BROUGHT, Weaver

CODE = "```python\nx\n```\n"


def fates(text: str, extensions=BROUGHT):
    return follow(text, extensions, {})


def test_seen_hidden_and_in_a_tag():
    indented = "    " + CODE.replace("\n", "\n    ")
    text = f"{CODE}\nText.\n\n{indented}\n[a]{{ equals='x' }} ![b [c]{{ equals='x' }}](d)\n"
    found = fates(text + "\n<!-- [d]{ equals='x' } -->\n\n<pre>[e]{ equals='x' }</pre>\n")
    assert found.seen >= {("fence", 0), ("claim", 0)}
    assert found.hidden == {("fence", 1), ("claim", 2), ("claim", 3)}
    assert found.in_tag == {("claim", 1)}


def test_code_elements_in_raw_html_are_seen():
    assert ("claim", 0) in fates("<p><code>[a]{ equals='x' }</code></p>").seen


def test_braces_are_left_over_where_a_reader_sees_them():
    assert fates("&#123; equals='x' &#125;").left_over == ["{ equals='x' }"]
    assert fates("`{ equals='x' }`\n\n    { equals='x' }\n").left_over == []


def test_fences_that_the_sheet_does_not_know_are_strays():
    assert fates(f"text <!-- never closed\n\n{CODE}").strays == ["x"]
    assert fates(CODE).strays == []


def test_nothing_comes_of_nothing():
    assert fates("").sheet.text == ""


EVERYTHING = (
    f"{CODE}\n[a]{{ equals='x' }} ![b [c]{{ equals='x' }}](d) <!-- [e]{{ equals='x' }} -->\n\n"
    f"&#123; equals='x' &#125;\n\ntext <!-- never closed\n\n{CODE}"
)


def test_the_next_build_need_not_convert_what_this_one_has(tmp_path, monkeypatch):
    file = tmp_path / "texts.json"
    shelf = Shelf(file)
    fresh = fates(EVERYTHING)
    assert all((fresh.seen, fresh.hidden, fresh.in_tag, fresh.strays, fresh.left_over))
    assert recall(EVERYTHING, BROUGHT, {}, shelf) == fresh
    shelf.save()
    monkeypatch.setattr(module, "follow", None)
    assert recall(EVERYTHING, BROUGHT, {}, Shelf(file)) == fresh
    for other in [("other", BROUGHT, {}), (EVERYTHING, BROUGHT, {"toc": {"title": "t"}})]:
        with pytest.raises(TypeError, match="not callable"):
            recall(*other, Shelf(file))


def test_an_extension_that_may_read_files_is_asked_each_time(tmp_path):
    shelf = Shelf(tmp_path / "texts.json")
    for extension in ("pymdownx.snippets", Weaver()):
        assert recall(CODE, [*BROUGHT, extension], {}, shelf).seen == {("fence", 0)}
    shelf.save()
    assert not (tmp_path / "texts.json").exists()
