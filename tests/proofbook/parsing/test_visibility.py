"""A mark is on the page, hidden on purpose, in a tag, or lost."""

import pytest

from proofbook.caching.memo import Memo
from proofbook.parsing import visibility as module
from proofbook.parsing.markdown_processors import MarkingExtension
from proofbook.parsing.visibility import follow, recall
from proofbook.settings import ADDED_EXTENSIONS

CODE = "```python\nx\n```\n"


def visibility(text: str, extensions=ADDED_EXTENSIONS):
    return follow(text, extensions, {})


def test_seen_hidden_and_in_a_tag():
    indented = "    " + CODE.replace("\n", "\n    ")
    text = f"{CODE}\nText.\n\n{indented}\n[a]{{ equals='x' }} ![b [c]{{ equals='x' }}](d)\n"
    found = visibility(text + "\n<!-- [d]{ equals='x' } -->\n\n<pre>[e]{ equals='x' }</pre>\n")
    assert found.seen >= {("fence", 0), ("claim", 0)}
    assert found.hidden == {("fence", 1), ("claim", 2), ("claim", 3)}
    assert found.in_tag == {("claim", 1)}


def test_braces_are_left_over_where_a_reader_sees_them():
    assert visibility("&#123; equals='x' &#125;").left_over == ["{ equals='x' }"]
    assert visibility("`{ equals='x' }`\n\n    { equals='x' }\n").left_over == []


EVERYTHING = (
    f"{CODE}\n[a]{{ equals='x' }} ![b [c]{{ equals='x' }}](d) <!-- [e]{{ equals='x' }} -->\n\n"
    f"&#123; equals='x' &#125;\n\ntext <!-- never closed\n\n{CODE}"
)


def test_the_next_build_need_not_convert_what_this_one_has(tmp_path, monkeypatch):
    fresh = visibility(EVERYTHING)
    assert all((fresh.seen, fresh.hidden, fresh.in_tag, fresh.strays, fresh.left_over))
    assert recall(EVERYTHING, ADDED_EXTENSIONS, {}, Memo(tmp_path)) == fresh

    def no_more(*_, **__):
        raise LookupError("converted again")

    monkeypatch.setattr(module, "Markdown", no_more)
    assert recall(EVERYTHING, ADDED_EXTENSIONS, {}, Memo(tmp_path)) == fresh
    for other in [
        ("other", ADDED_EXTENSIONS, {}),
        (EVERYTHING, ADDED_EXTENSIONS, {"toc": {"title": "t"}}),
    ]:
        with pytest.raises(LookupError, match="converted again"):
            recall(*other, Memo(tmp_path))


def test_an_extension_that_may_read_files_is_asked_each_time(tmp_path):
    for extension in ("pymdownx.snippets", MarkingExtension()):
        found = recall(CODE, [*ADDED_EXTENSIONS, extension], {}, Memo(tmp_path))
        assert found.seen == {("fence", 0)}
    assert not [*tmp_path.iterdir()]
