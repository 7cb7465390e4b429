"""A source is its text, and marks go where they belong."""

from proofbook.parsing.source import edited, read
from tables import table

TEXT = "[5]{ equals='x' }\n\n```python title='a'\nx\n```\n\n`y`{ holds } { holds }\n"


def no_fact(index):
    raise AssertionError(index)


def test_phrases_are_marked_around_the_claims_in_them():
    text = "all [5]{ equals='x' } rows\n\n```facts\nall 5: y\nrows: w\n```\n"
    fact = {0: ("(", ")"), 1: ("<<", ">>")}
    marked = read(text).marked(lambda n: "F", lambda n: ("[", "5", "]"), fact.__getitem__)
    assert marked.startswith("(all [5]) <<rows>>\n")


def test_marks_replace_headers_and_surround_targets():
    source = read(TEXT)
    marked = source.marked(lambda n: f"HEADER{n}", lambda n: ("<", f"target{n}", ">"), no_fact)
    assert marked == "<target0>\n\n```HEADER0\nx\n```\n\n<target1> { holds }\n"


def test_without_marks_a_text_stays_as_it_is():
    assert read(TEXT).marked(lambda n: None, lambda n: None, no_fact) == TEXT


def test_faults_come_in_order_with_their_excerpt():
    faults = read(TEXT + "```python a\nx\n```\n").faults
    assert [(line, excerpt) for line, _, excerpt in faults] == [
        (7, "`y`{ holds } { holds }"),
        (8, "```python a"),
    ]


@table(
    ("edits", "new"),
    [([], "abcdef"), ([(4, 6, "Z"), (0, 1, "")], "bcdZ"), ([(2, 2, "-")], "ab-cdef")],
)
def test_edits_apply_at_their_places(edits, new):
    assert edited("abcdef", edits) == new
