"""No braces vanish from a page but those that are a claim, or that a browser understands."""

import re

from hypothesis import given
from hypothesis import strategies as st
from markdown import markdown

from proofbook.parsing.attributes import CLAIM_KEYS
from proofbook.parsing.page import parse
from proofbook.settings import ADDED_EXTENSIONS
from tables import table

BLOCK = "```python\nn = 5\n```\n\n"
PLACES = [
    "It is `5`%s here.",
    "It is *5*%s here.",
    "It is __5__%s here.",
    "It is [5]%s here.",
    "It is [5](x.md)%s here.",
    "See ![5](x.png)%s here.",
    "A **bold *5*%s one**.",
    "# Title `5`%s",
    "# Title %s",
    "Setext %s\n======",
    "- item `5`%s\n- other",
    "- item\n%s\n- other",
    "| a | b |\n|---|---|\n| `5`%s | 5 %s |",
    "A paragraph.\n%s",
    "> quoted *5*%s",
    '!!! note "Title `5`%s"\n    Text *5*%s.',
    "<div markdown>\n*5*%s\n</div>",
    "[^1]\n\n[^1]: Note *5*%s",
    "Term\n: Meaning *5*%s",
]
LOOKALIKES = str.maketrans("aeolsu", "аеоӏѕυ")
HARMLESS = [
    *(".big", "#here", 'title="n == 5"', "width=50%", "data-preview", "aria-label='five'"),
    *("loading=lazy", 'target="_blank"', "style='color: red'", "hidden", "onclick='go()'"),
]


@st.composite
def near_keys(draw) -> str:
    """A claim's key as somebody may write it."""
    key = draw(st.sampled_from([*CLAIM_KEYS, "equal_to", "hold", "check", "Equal"]))
    at = draw(st.integers(0, len(key) - 1))
    return draw(
        st.sampled_from(
            [
                *(key, key.upper(), key.title(), key.translate(LOOKALIKES), f"{key}s", f"my.{key}"),
                *(f"x:{key}", f"{key}-to", f"_{key}", f"{key[:at]}{key[at + 1 :]}x", f"é{key}"),
                *(key[:at] + key[at] + key[at:], f"\u00a0{key}", f"{key}?", f"@{key}", f"({key})"),
            ]
        )
    )


@st.composite
def claims(draw) -> str:
    """Something meant as a claim: a key, and mostly an expression."""
    key = draw(near_keys())
    value = draw(st.sampled_from(["", '="n"', "='n == 5'", "=n", "=\"d['}']\"", '= "n"', '="{n}"']))
    return f"{key}{value}"


@st.composite
def lists(draw, items) -> str:
    """An attribute list with these items and harmless ones."""
    parts = draw(st.lists(st.sampled_from(HARMLESS), max_size=2))
    parts.insert(draw(st.integers(0, len(parts))), draw(items))
    opening = draw(st.sampled_from(["{", "{ ", "{: ", "{:"]))
    closing = draw(st.sampled_from(["}", " }", "} ", " }}"]))
    return f"{opening}{' '.join(parts)}{closing}"


def placed(place: str, braces: str) -> str:
    return BLOCK + place.replace("%s", braces) + "\n"


def text_of(page: str) -> str:
    """What a reader sees of a page, by Markdown alone."""
    html = markdown(page, extensions=[*ADDED_EXTENSIONS, "def_list", "footnotes"])
    return re.sub(r"<[^>]*>", " ", html)


def parsed(page: str):
    return parse("page.md", page, [*ADDED_EXTENSIONS, "def_list", "footnotes"])


@given(st.sampled_from(PLACES), lists(claims()))
def test_what_is_meant_as_a_claim_is_one_or_a_problem_or_left_to_see(place, braces):
    page = placed(place, braces)
    found = parsed(page)
    assert found.claims or found.problems or braces.strip() in text_of(page)


@table("key", ["equal", "equals", "hold", "eq", "value", "see", "="])
@table("between", [" ", " = ", ": ", "-> ", ""])
def test_a_string_in_braces_behind_a_span_is_a_claim_or_a_problem(key, between):
    for text in ('"n"', "'n'", "“n”"):
        found = parsed(f"{BLOCK}This is [four]{{ {key}{between}{text} }}.\n")
        assert found.claims or found.problems


@table("braces", ["{x}", "{a, b}", "{1..3}", "{ n + 1 }", "{}"])
def test_braces_without_a_string_behind_a_bracket_are_text(braces):
    assert parsed(f"{BLOCK}This is d[4]{braces} of it.\n").problems == ()


@given(st.sampled_from(PLACES), lists(st.sampled_from(HARMLESS)))
def test_what_a_browser_understands_is_left_alone(place, braces):
    if braces.endswith("}}"):
        braces = braces[:-1]
    found = parsed(placed(place, braces))
    assert found.problems == ()
    assert not found.claims


@table(
    ("braces", "message"),
    [
        (
            '{ title="x" equals="n" }',
            "equals= is not a claim here; write a claim as { eq",
        ),
        ('{ equal_to="n" }', "equal_to means nothing in braces (did you mean 'equals'?)"),
        ('{ Equals="n" }', "Equals means nothing in braces (did you mean 'equals'?)"),
        ("{ hols }", "hols means nothing in braces (did you mean 'holds'?)"),
        ('{ .litteral lang="en" }', ".litteral means nothing in braces (did you mean 'literal'?)"),
        ('{ data-equals="n" }', "data-equals means nothing in braces (did you mean 'equals'?)"),
        ('{ data-еquals="n" }', "data-еquals means nothing in braces (did you mean 'equals'?)"),
        ("{ only=n }", "only means nothing in braces; write a claim as"),
        ("{ tilte=n }", "tilte means nothing in braces (did you mean 'title'?)"),
        ("{ a, b }", r"a, means nothing in braces; write a claim as"),
        ('{ .a = "n" }', """cannot read '= "n"' as attributes; write a claim as"""),
    ],
)
def test_what_means_nothing_is_named_with_its_line_and_what_to_write(braces, message):
    [problem] = parse("page.md", f"{BLOCK}Text,\nwhich says `5`{braces} here.\n").problems[:1]
    assert problem.line == 6
    assert message in problem.message


@table(
    "tag",
    ["<b\nequals='n'>5</b>", "<i data-holds=n>5</i>", "<div markdown holds='n'>\n5\n</div>"],
)
def test_an_attribute_of_a_tag_is_no_claim(tag):
    [problem] = parse("page.md", f"{BLOCK}Is\n\n{tag}\n").problems
    assert problem.line == 7
    assert problem.message == "a tag's attribute is not a claim: write it in braces"
