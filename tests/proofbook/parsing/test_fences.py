"""Fences are found where SuperFences finds them, and what it would skip is named."""

import re
from doctest import DocTestParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proofbook.parsing.fences import scan


def test_a_fence_has_its_code_line_and_options():
    (fence,) = scan("# Title\n\n```python title=\"a b\" hl_lines='1 2'\nx = 1\n\ny = 2\n```").fences
    assert (fence.kind, fence.line, fence.code) == ("python", 3, "x = 1\n\ny = 2")
    assert fence.options == {"title": "a b", "hl_lines": "1 2"}


def test_the_indentation_of_the_fence_is_not_code():
    text = "- item\n\n    ```python\n    if x:\n        y\n    ```\n> ```pycon\n> >>> 1\n> 1\n> ```"
    indented, quoted = scan(text).fences
    assert indented.code == "if x:\n    y"
    assert (quoted.code, quoted.kind, quoted.line) == (">>> 1\n1", "pycon", 7)


def test_a_fence_within_a_longer_or_other_fence_is_text():
    text = (
        "````markdown\n```python\nx\n```\n````\n~~~text\n```python\nx\n```\n~~~\n```python\ny\n```"
    )
    assert [fence.code for fence in scan(text).fences] == ["y"]


def test_fences_in_comments_are_left_alone_and_prose_about_comments_is_not_one():
    text = "<!--\n```python\nx\n```\n-->\nSay `<!--` here.\n\n```python\ny\n```"
    found = scan(text)
    assert [fence.code for fence in found.fences] == ["y"]
    assert found.faults == []


def test_offsets_name_header_and_body():
    text = 'é\n```python id="a"\nx\ny\n```\n'
    (fence,) = scan(text).fences
    assert text[slice(*fence.header)] == 'python id="a"'
    assert text[slice(*fence.body)] == "x\ny\n"


def test_show_and_off_do_not_run():
    show, off = scan(
        '```python show="m:f"\n```\n```python exec="off" reason="needs a GPU"\nx\n```'
    ).fences
    assert (show.kind, show.runs, off.kind, off.runs) == ("show", False, "off", False)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a\n\n```python\nx", 3, "never closed"),
        ("```text\nx", 1, "never closed"),
        ("a\n    ```python\nx\n    ```", 2, "broken off by line 3"),
        ("```Python\nx\n```", 1, "'Python' fence would not run"),
        ("```py\nx\n```", 1, "'py' fence would not run"),
        ("```PyCon\n>>> 1\n1\n```", 1, "'PyCon' fence would not be checked"),
        ("```{ .python title='x' }\nx\n```", 1, "write options without braces"),
        ("```bash exec='on'\nls\n```", 1, "exec= has no meaning on a 'bash' fence"),
        ("```python timeout=3\nx\n```", 1, "cannot read 'timeout=3'"),
        ("```python timeout='0'\nx\n```", 1, 'timeout="0" cannot be read'),
        ("```python timeout='soon'\nx\n```", 1, 'timeout="soon" cannot be read'),
        ("```python hidden\nx\n```", 1, "cannot read 'hidden'"),
        ("```python foo='1'\nx\n```", 1, "unknown option 'foo'"),
        ("```python reason='x'\nx\n```", 1, "unknown option 'reason'"),
        ("```python id='a' id='b'\nx\n```", 1, "'id' is given twice"),
        ("```python session='a'\nx\n```", 1, "session is refused"),
        ("```python exec='on'\nx\n```", 1, 'exec="on" cannot be read'),
        ("```python exec='off'\nx\n```", 1, "needs a reason"),
        ("```python exec='off' reason=' '\nx\n```", 1, 'reason=" " cannot be read'),
        ("```python show='m:f'\nx\n```", 1, "leave it empty"),
        ("```python source='console'\nx\n```", 1, 'source="console" cannot be read'),
        ("```pycon\n1 + 1\n```", 1, "without a prompt"),
        ("```pycon\n>>> x\n 1\n >>>y\n```", 1, "doctest cannot be read"),
        ("```pycon\n>>> x  # doctest: +SKIP\n1\n```", 1, "directives are refused"),
        ("```pycon\nIt is 4.\n>>> 1\n1\n```", 1, "'It is 4.' stands where nothing checks it"),
        ("```pycon\n>>> 1\n1\n\nIt is 4.\n```", 1, "'It is 4.' stands where nothing checks it"),
        ("```pycon\n>>> 1\n1\n>>> # so\n4\n```", 1, "'4' stands where nothing checks it"),
        ("```pycon\n>>> # so\n4\n>>> 1\n1\n```", 1, "'4' stands where nothing checks it"),
        ("```pycon\n>>> 1\n1\n>>>\n4\n```", 1, "'4' stands where nothing checks it"),
        ("```pycon\n>>> 1\n1\n\n... 4\n```", 1, "'... 4' stands where nothing checks it"),
    ],
)
def test_what_would_be_skipped_in_silence_is_a_fault(text, line, message):
    found, fault = scan(text).faults[0]
    assert found == line
    assert re.search(re.escape(message), fault)


LINES = st.sampled_from(
    [">>> x", ">>> if x:", "...     y", "...", ">>>", ">>> # so", "... # so", "4", "It is 4.", ""]
)


@given(st.lists(LINES, max_size=10))
def test_every_line_of_a_doctest_runs_or_is_compared_or_is_refused(lines):
    found = scan("\n".join(["```pycon", *lines, "```"]))
    if found.faults:
        return
    [fence] = found.fences
    rest = [line for line in lines if line.strip(" .>") and "#" not in line]
    for example in DocTestParser().get_examples(fence.code):
        sources = [line for line in example.source.split("\n") if line and "#" not in line]
        for line in [*sources, *example.want.split("\n")]:
            written = [one for one in rest if one in (line, f">>> {line}", f"... {line}")]
            if written:
                rest.remove(written[0])
    assert rest == []
