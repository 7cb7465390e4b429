"""A fact binds words that stand before its fence, in one piece, once; nothing else does."""

from hypothesis import given
from hypothesis import strategies as st

from proofbook.parsing.page import parse
from proofbook.parsing.source import read
from tables import table

PROSE = "Each *row* sums to one, because each word divides its attention. The columns don't."


def page(prose, *entries):
    fence = "\n".join(["```facts", *entries, "```"])
    return f"{prose}\n\n{fence}\n"


def bound(text):
    """What is bound, as the source has it; nothing may be wrong."""
    source = read(text)
    assert source.faults == []
    return [text[fact.start : fact.end] for fact in source.facts]


def faults(text):
    source = read(text)
    return [message for _, message, _ in source.faults]


@table(
    ("phrase", "stretch"),
    [
        ("Each row sums to one", "Each *row* sums to one"),
        ("row", "*row*"),
        ("The columns don't", "The columns don't"),
        ("Each *row* sums", "Each *row* sums"),
    ],
)
def test_a_phrase_is_found_as_it_is_read_or_as_it_is_written(phrase, stretch):
    assert bound(page(PROSE, f"{phrase}: x > 0")) == [stretch]


@table(
    "prose",
    [
        "- one\n- the rows sum to one\n\n- three",
        "| what | how |\n|---|---|\n| rows | the rows sum to one |",
        "1. a\n\n    the rows sum to one\n\n2. b",
        "<figcaption markdown>the rows sum to one</figcaption>",
        "text\nthe rows\nsum to one\ntext",
        "the rows [sum]{ equals='x' } to [one](a.md)",
    ],
)
def test_it_stands_in_a_paragraph_a_list_a_table_or_a_caption(prose):
    (stretch,) = bound(page(prose, "the rows sum to one: x > 0"))
    assert stretch.startswith("the rows")


TWO = page(PROSE, "Each row: x > 0") + "\n" + page("", "The columns: x > 1").lstrip("\n")
WITHIN = '!!! note "A"\n\n    The rows sum.\n\n    ```facts\n    The rows: x > 0\n    ```\n'
COLONS = page("It is so: the rows sum.", "It is so: the rows sum: x > 0")


@table(
    ("text", "stretches"),
    [
        (TWO, ["Each *row*", "The columns"]),
        (WITHIN, ["The rows"]),
        (COLONS, ["It is so: the rows sum"]),
    ],
)
def test_of_two_fences_within_an_admonition_and_with_a_colon(text, stretches):
    assert bound(text) == stretches


def test_an_expression_goes_on_in_lines_that_are_indented():
    (fact,) = read(page(PROSE, "Each row: all(", "    x > 0 for x in y", "    )")).facts
    assert fact.expression == "all(x > 0 for x in y)"


@table(
    ("entry", "phrase", "expression"),
    [
        ("The columns: {1: x}[1] > 0", "The columns", "{1: x}[1] > 0"),
        ("each word: x[1: 2] == y", "each word", "x[1: 2] == y"),
        ("each word: (lambda n: n)(x)", "each word", "(lambda n: n)(x)"),
    ],
)
def test_the_phrase_ends_at_the_first_colon_with_an_expression_behind_it(entry, phrase, expression):
    (fact,) = read(page(PROSE, entry)).facts
    assert (fact.phrase, fact.expression) == (phrase, expression)


@table(
    ("entries", "message", "prose"),
    [
        *(
            (["Each row: x > 0"], "no paragraph, list, table, or caption above this fence", before)
            for before in ("", "```text\nx\n```", "<!-- Each row -->")
        ),
        (["Each row: x"], "are not above the fence", f"{PROSE}\n\nAnother."),
        (["row: x"], "occurs 2 times", "A row and a row."),
        (["Each column: x > 0"], "are not above the fence", PROSE),
        (["Each row x > 0"], "write `phrase: expression`", PROSE),
        (["Each row: x >"], "is not an expression", PROSE),
        (["Each row: " + "not " * 3000 + "x"], "is not an expression: nested too deeply", PROSE),
        ([": x > 0"], "there is no phrase before the colon", PROSE),
        (["Each ro: x > 0"], "are not above the fence", PROSE),
        (["Each row: x", "row sums: y"], "overlaps with 'Each row'", PROSE),
        (["…: x"], "a phrase must be words", PROSE),
        ([], "binds nothing", PROSE),
    ],
)
def test_an_entry_that_binds_nothing_says_why(entries, message, prose):
    found = faults(page(prose, *entries))
    assert message in found[0]


def test_the_difference_is_shown():
    ((line, _, excerpt),) = read(page(PROSE, "The rows don't: x")).faults
    assert line == 4
    assert excerpt.split("\n")[0] == "- The rows don't"
    assert "+ The columns don't." in excerpt


@table(
    ("prose", "phrase", "kind"),
    [
        ("Read [the long chapter](a.md) on it", "the long", "link"),
        ("Here `a + b` is", "a + b is", None),
        ("Here `a + b` is", "b is", "code"),
        ("A *very long* way", "long way", "emphasis"),
        ("A *very long* way", "very long", None),
        ("A *very long* way", "very", None),
        ("A [very long]{ equals='x' } way", "long way", "span"),
    ],
)
def test_a_phrase_may_not_cut_markup(prose, phrase, kind):
    found = faults(page(prose, f"{phrase}: x > 0"))
    assert found == (
        []
        if kind is None
        else [f"this phrase begins or ends within {kind}: take all of it or none"]
    )


def test_on_the_page_a_fact_is_a_claim_at_the_place_of_its_fence():
    text = (
        "The rows sum.\n\n```python\nx = 1\n```\n\nBoth are here.\n\n```facts\nBoth are: x\n```\n"
    )
    checked = parse("p.md", text)
    assert checked.problems == ()
    (claim,) = checked.chapter.claims
    assert (claim.text, claim.holds, claim.place, claim.fact) == ("Both are", "x", 1, True)


def test_in_a_comment_a_fence_binds_nothing():
    checked = parse("p.md", "A row.\n\n<!--\n```facts\nA row: x\n```\n-->\n")
    assert checked.chapter.claims == ()
    assert checked.problems == ()


WORD = st.sampled_from(
    ["each", "row", "sums", "to", "one", "word", "because", "attention", "divides"]
)


@given(st.lists(WORD, min_size=2, max_size=12), st.data())
def test_to_change_one_bound_word_is_noticed(words, data):
    """Whatever is bound and whichever of its words is another: the page does not pass."""
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, len(words) - 1))
    phrase = " ".join(words[first : last + 1])
    if faults(page(" ".join(words), f"{phrase}: x")):
        return
    changed = list(words)
    changed[data.draw(st.integers(first, last))] = "other"
    assert faults(page(" ".join(changed), f"{phrase}: x"))
