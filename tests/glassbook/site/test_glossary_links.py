"""Which words of a page become links to which terms."""

import re
from html import unescape

import markdown
import pytest

from glassbook.site.glossary.plugin import TermLinks
from glassbook.site.glossary.terms import read_terms

ENTRIES = """
Beam search { #beam-search data-forms="beam search|beams" }
:   Several at once. [Writing](../a/writing.md#how)

Logit { #logit }
:   A raw vote, "so to say". [Choosing](../a/choosing.md)

Value { #value data-forms="-" }
:   What is handed over. [Looking](../a/looking.md)

GELU { #gelu data-forms="GELU" }
:   A bend. [Bends](../a/bends.md)
"""


def converted(text: str, page: str = "b/page.md", entries: str = ENTRIES) -> str:
    links = TermLinks()
    links.entries, links.glossary, links.page = "reference/glossary.md", read_terms(entries), page
    return markdown.markdown(text, extensions=["attr_list", "md_in_html", "tables", links])


def linked(html: str) -> list[tuple[str, str]]:
    """Key and text of each link to a term."""
    return re.findall(r'<a class="term"[^>]* href="[^"#]*#([\w-]+)">([^<]*)</a>', html)


def test_the_first_mention_carries_the_definition():
    html = converted("## How\n\nTwo logits, then a logit.")
    assert html.count("<a") == 1
    assert linked(html) == [("logit", "logits")]
    assert 'href="../reference/glossary.md#logit"' in html
    assert "Two <a" in html
    assert "</a>, then a logit." in html
    assert unescape(html.split('data-aid="')[1].split('"')[0]) == 'A raw vote, "so to say".'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Beam\nsearch, Beam search", [("beam-search", "Beam\nsearch")]),
        ("A GELU, not gelu", [("gelu", "GELU")]),
        ("a gelu", []),
        ("a value", []),
        ("pre-logit, logit-like, logitic", []),
        ("**a logit** *and beams*, then", [("logit", "logit"), ("beam-search", "beams")]),
        ("*x* logits *y* beams *z*", [("logit", "logits"), ("beam-search", "beams")]),
        ("- one\n- a logit", [("logit", "logit")]),
        ("`logit` [logit](x.md) then logit", [("logit", "logit")]),
        ("### Logit\n\nx", []),
        ("| logit |\n|---|\n| a logit |", [("logit", "logit")]),
        ('<div class="proofbook-end" markdown>a logit</div>', []),
        ("<b>logit</b> alone in its marks, then a logit", [("logit", "logit")]),
        ("<b>a logit</b> in its marks", [("logit", "logit")]),
    ],
)
def test_forms_and_places(text, found):
    assert linked(converted(f"## How\n\n{text}")) == found


def test_a_mention_alone_in_its_marks_waits_for_the_next():
    html = converted("## How\n\n<b>logit</b> alone in its marks, then a logit")
    assert "<b>logit</b>" in html


def test_order_and_text_stay_as_they_were():
    text = "A *b* logit c beams **d logit** e GELU f."
    html = converted(f"## How\n\n{text}")
    plain = re.sub("<[^>]+>", "", html).replace("How", "").strip()
    assert plain == text.replace("*", "")
    assert [key for key, _ in linked(html)] == ["logit", "beam-search", "gelu"]


def test_nothing_is_linked_before_the_first_section_at_a_terms_home_or_outside_chapters():
    assert linked(converted("A logit.\n\n## How\n\nA GELU.")) == [("gelu", "GELU")]
    assert linked(converted("## How\n\nA logit, beams.", "a/choosing.md")) == [
        ("beam-search", "beams")
    ]
    assert linked(converted("## How\n\nA logit.", None)) == []


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ("Logit\n:   A raw vote. [C](../c.md)\n", "an entry is not"),
        ("Logit { #logit }\n:   A raw vote.\n", "an entry is not"),
        (ENTRIES + "Beams { #b }\n:   Rays. [C](../c.md)\n", "'beams' is a form of beam-search"),
    ],
)
def test_an_entry_that_cannot_be_used_is_refused(entries, message):
    with pytest.raises(ValueError, match=message):
        read_terms(entries)
