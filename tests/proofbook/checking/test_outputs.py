"""The output of a doctest must be the output that came, but for what an array's layout decides."""

import re

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from proofbook.checking.outputs import prints, reprinted
from tables import table

TRACE = "Traceback (most recent call last):\n"
STRINGS = st.text(" .,'\"\\()[]0123456789eE-+abtensor(\n\t", max_size=12)
NESTED = st.recursive(
    st.one_of(STRINGS, st.integers(-99, 99), st.booleans(), st.none()),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(STRINGS, inner, max_size=3),
    ),
)
ARRAYS = npst.arrays(
    np.float64,
    npst.array_shapes(max_dims=3, max_side=5),
    elements=st.floats(-1000, 1000).map(lambda value: round(value, 3)),
)


@given(NESTED, NESTED)
def test_two_values_of_strings_and_whole_numbers_are_told_apart(one, other):
    assert prints(f"{one!r}\n", f"{one!r}\n")
    assume(repr(one) != repr(other))
    assert not prints(f"{one!r}\n", f"{other!r}\n")


@given(st.lists(STRINGS, min_size=1), st.data())
def test_no_blank_within_a_string_may_be_added_or_lost(strings, data):
    at = data.draw(st.integers(0, len(strings) - 1))
    text = strings[at]
    place = data.draw(st.integers(0, len(text)))
    blanks = [*strings[:at], f"{text[:place]} {text[place:]}", *strings[at + 1 :]]
    for shown in (repr, lambda items: "\n".join(map(repr, items)), lambda items: repr({1: items})):
        assert not prints(shown(strings), shown(blanks))
        assert not prints(shown(blanks), shown(strings))


def without_ends(text: str) -> str:
    """A text without the blanks that end its lines, its last line ended."""
    shown = "\n".join(line.rstrip() for line in text.split("\n"))
    return shown if not text or text.endswith("\n") else f"{shown}\n"


@given(st.text("ab ,.:()\n", max_size=30), st.text("ab ,.:()\n", max_size=30))
def test_printed_text_is_compared_letter_by_letter(one, other):
    assert prints(one, other) == (without_ends(one) == without_ends(other))


@given(ARRAYS, st.integers(20, 75), st.integers(20, 75), st.booleans())
def test_where_an_array_breaks_its_lines_does_not_matter(array, width, other, is_printed):
    shown = np.array2string if is_printed else np.array_repr
    one, two = (shown(array, max_line_width=columns) for columns in (width, other))
    assert prints(one.replace("\n\n", "\n<BLANKLINE>\n"), two)
    assert prints(re.sub(r"\s+", " ", one), two)


@given(ARRAYS, ARRAYS, st.booleans())
def test_other_arrays_are_told_apart(one, other, is_printed):
    shown = np.array2string if is_printed else np.array_repr
    assume(shown(one) != shown(other) and one.shape != other.shape)
    assert not prints(shown(one), shown(other))


@given(
    st.lists(st.integers(0, 99), min_size=2, max_size=4),
    st.lists(st.integers(0, 99), min_size=2, max_size=4),
)
def test_dotted_numbers_are_no_floats(one, other):
    assume(len(one) > 2 and one != other)
    mine, theirs = (".".join(map(str, parts)) for parts in (one, other))
    for frame in ("{}", "torch {}", "'{}'", "v{}", "({})", "x=={}", "{}+cpu"):
        assert not prints(frame.format(mine), frame.format(theirs))


@table(
    ("want", "got"),
    [
        ("tensor([[1.,  1.]])\n", "tensor([[1., 1.]])\n"),
        ("1.235", "1.2346"),
        ("1.0", "1.0000"),
        ("tensor([0.1, 0.2])", "tensor([0.1000, 0.2000])"),
        ("[[1. 2.]\n [3. 4.]]", "[[ 1. 2. ] [ 3. 4.]]"),
        ("['a' 'b']", "['a'\n 'b']"),
        ("1.2e-05", "1.2345e-05"),
        ("{'a': 1, 'b': 0.5}", "{'a': 1, 'b': 0.50001}"),
        ("(0.5, tensor([1,\n  2]), 'a  b')", "(0.5, tensor([1, 2]), 'a  b')"),
        ("a\n<BLANKLINE>\nb", "a\n\nb"),
        ("a  b\n", "a  b \n"),
        ("a   b", "a\tb"),
        ("a       b", "a\tb"),
        (f"{TRACE}  ...\nValueError: no", f"{TRACE}ValueError: no"),
        (f"so\n{TRACE}ValueError: no", f"so\n{TRACE}ValueError: no"),
        ("tensor([0., 1., ..., 9.])", "tensor([0., 1.,  ..., 9.])"),
        ("tensor([1.],\n       grad_fn=<A>)", "tensor([1.], grad_fn=<A>)"),
        ("bert-base: 3", "bert-base: 3"),
        ("it's 0.5, isn't it", "it's 0.51, isn't it"),
        ("0.", "-0."),
        ("loss 0.5.", "loss 0.51."),
        ("lr=0.5/0.2", "lr=0.51/0.23"),
    ],
)
def test_it_prints_so(want, got):
    assert prints(want, got)


@table(
    ("want", "got"),
    [
        ("1.236", "1.2346"),
        ("1.23456", "1.2346"),
        ("1.", "1.2000"),
        ("1.0", "1"),
        ("3", "3.2"),
        ("3", "4"),
        ("0.5", "-0.5"),
        ("-0.0", "0.0400"),
        ("-0.", "0."),
        ("a b", "ab"),
        ("hello,world(x)", "hello , world ( x )"),
        ("['.']", "[' .']"),
        ("['a', 'b']", "['a','b']"),
        ("[1, 2]", "[1,2]"),
        ("[[1, 2]]", "[[1,2]]"),
        ("[1, 2]", "[1,\n2]"),
        ("[5 of 7]", "[5  of 7]"),
        ("a\nb", "a b"),
        ("a", "  a"),
        ("a\nb", "a\n\nb"),
        ("a", "a\n\n"),
        ("", "\n"),
        ("<BLANKLINE>", "<BLANKLINE>"),
        ("tensor([...])", "tensor([1., 2.])"),
        ("tensor([1 2])", "tensor([12])"),
        ("array([' .'])", "array(['.'])"),
        ("[1, ..., 3]", "[1, 2, 3]"),
        (f"{TRACE}  ...\nValueError: no", f"{TRACE}ValueError: yes"),
        (f"{TRACE}ValueError: no", "ValueError: no\n"),
        ("ValueError: no\n", f"{TRACE}ValueError: no"),
        (f"{TRACE}ValueError: no", f"so\n{TRACE}ValueError: no"),
        (f"{TRACE}  File 'a', line 3\nValueError: no", f"{TRACE}ValueError: no"),
        (f"{TRACE}ValueError: no", f"{TRACE}  so\nValueError: no"),
        ("x1", "x2"),
        ("", "1"),
        ("1", ""),
        ("1.0", "nan"),
        ("1.0 2.0", "1.0"),
        ("'2.1.0'", "'2.13.0'"),
        ("2.1.0", "2.13.0"),
        ("'0.5'", "'0.51'"),
        ('b"0.5"', 'b"0.51"'),
        ("python-3.1", "python-3.11"),
        ("torch==2.1", "torch==2.13"),
        ("2.1+cpu", "2.13+cpu"),
        ("lib/3.1/x", "lib/3.11/x"),
        ("22.11.2026", "22.12.2026"),
        ("12:30:01.5", "12:30:01.52"),
    ],
)
def test_it_does_not_print_so(want, got):
    assert not prints(want, got)


@table("text", ["[" * 50_000, "'" * 50_000, " " * 50_000 + "x", "1" * 50_000])
def test_no_output_takes_long(text):
    assert prints(text, text)
    assert not prints(text, f"{text}y")


@table(
    ("want", "got", "new"),
    [
        ("tensor([0.1, 0.2])", "tensor([0.1000, 0.3000])", "tensor([0.1, 0.3])"),
        ("1.235", "2.3461", "2.346"),
        ("tensor([1.])", "tensor([2.])", "tensor([2.])"),
        ("1", "2.5", "2.5"),
        ("[1, 2]", "[1, 3]", "[1, 3]"),
        ("tensor([1.])", "tensor([1., 2.])", "tensor([1., 2.])"),
        ("1.2e-05", "3.4567e-06", "3.5e-06"),
        ("'0.5'", "'0.512'", "'0.512'"),
        (f"{TRACE}  ...\nValueError: 1", f"{TRACE}ValueError: 2", f"{TRACE}  ...\nValueError: 2"),
        (f"{TRACE}ValueError: a", f"{TRACE}KeyError: b", f"{TRACE}KeyError: b"),
    ],
)
def test_an_output_is_written_with_as_many_digits(want, got, new):
    assert reprinted(want, got) == new
    assert prints(new, got)


@given(st.text("ab 0123.,'[]()\n-e", max_size=30), st.text("ab 0123.,'[]()\n-e", max_size=30))
def test_what_is_written_anew_passes(want, got):
    assume(not prints(want, got))
    marked = re.sub(r"(?m)^[ \t]*$", "<BLANKLINE>", reprinted(want, got).removesuffix("\n"))
    assert prints(f"{marked}\n" if got else "", got)
