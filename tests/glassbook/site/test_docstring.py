"""A docstring is taken apart into what an entry shows, in its order."""

import pytest

from glassbook.site.api.docstring import parse

TEXT = """\
Say what it does,
in two lines.

Shapes: `x` is (a, b).

Args:
    one: what it is,
        in two lines.
    two, three: others.

A second paragraph: not a fact.

Raises:
    ValueError: a reason.
    KeyError: another
        one.

>>> 1 + 1
2

>>> 1 + 2
3

Source: a paper.
"""


def test_text_facts_errors_and_examples():
    found = parse(TEXT)
    assert found.text == ["Say what it does,\nin two lines.", "A second paragraph: not a fact."]
    assert list(found.facts) == ["Shapes", "Arguments", "Raises", "Source"]
    assert found.facts["Shapes"] == "`x` is (a, b)."
    assert found.facts["Arguments"] == {"one": "what it is, in two lines.", "two, three": "others."}
    assert found.facts["Raises"] == {"ValueError": "a reason.", "KeyError": "another one."}
    assert found.facts["Source"] == "a paper."
    assert found.examples == [">>> 1 + 1\n2", ">>> 1 + 2\n3"]


def test_attributes_may_share_a_line():
    found = parse("Say it.\n\nAttributes:\n    one, two: both.\n    three: alone.\n")
    assert found.facts == {"Attributes": {"one, two": "both.", "three": "alone."}}


def test_nothing_is_made_of_nothing():
    found = parse("")
    assert (found.text, found.facts, found.examples) == ([], {}, [])


def test_a_section_that_no_entry_shows_is_refused():
    with pytest.raises(ValueError, match="no entry shows the section warns of"):
        parse("Say it.\n\nWarns:\n    UserWarning: always.\n")
