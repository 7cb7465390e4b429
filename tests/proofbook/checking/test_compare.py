"""What a page says is compared with values as a reader would."""

import math

import pytest

from proofbook.checking.compare import number_from_words, prints, says, words_from_number


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("five", 5),
        ("Twenty-one", 21),
        ("two hundred and five", 205),
        ("5", 5),
        ("5.0", 5.04),
        ("28", 27.7),
        ("30,522", 30522),
        ("1,234.5", 1234.46),
        ("−0.5", -0.5),
        (".25", 0.251),
        ("1.2e-6", 1.2345e-6),
        ("94%", 0.938),
        ("93.8 %", 0.9381),
        ("inf", math.inf),
        ("nan", math.nan),
        ("True", True),
        ("yes", True),
        ("No", False),
        ("not symmetric", "not symmetric"),
        ("5", "5"),
        ("None", None),
        ("[1, 5, 5]", [1, 5, 5]),
        ("(1, 5)", [1, 5]),
        ("torch.Size([2, 3])", [2, 3]),
        ("2 × 3", [2, 3]),
        ("[0.1, 0.25]", [0.12, 0.2513]),
        ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]]),
        ("['a', \"b, c\"]", ["a", "b, c"]),
        ("[[CLS], time]", [["CLS"], "time"]),
        ("[]", []),
    ],
)
def test_it_says_so(text, value):
    assert says(text, value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("five", 6),
        ("six", 5.6),
        ("30,000", 30522),
        ("28", 27.4),
        ("5.0", 5.06),
        ("5.04", 5.0),
        ("1.3e-6", 1.2345e-6),
        ("95%", 0.938),
        ("0.94", 94),
        ("", 0),
        ("-", 0),
        ("5 of them", 5),
        ("nan", 1.0),
        ("inf", -math.inf),
        ("1", math.nan),
        ("1", True),
        ("True", 1),
        ("yes", False),
        ("Symmetric", "symmetric"),
        ("five", "5"),
        ("[1, 5]", [1, 5, 5]),
        ("[1, 5, 5, 5]", [1, 5, 5]),
        ("[1, 5, 5", [1, 5, 5]),
        ("[1, 5], 5", [1, 5, 5]),
        ("[[1, 5]]", [1, 5]),
        ("[1, 5]", [[1, 5]]),
        ("5", [5, 5]),
    ],
)
def test_it_does_not_say_so(text, value):
    assert not says(text, value)


def test_words_and_numbers_are_inverse():
    assert all(number_from_words(words_from_number(number)) == number for number in range(1000))


def test_words_have_an_end():
    with pytest.raises(ValueError, match="1000 has no words"):
        words_from_number(1000)


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ("tensor([[1.,  1.]])\n", "tensor([[1., 1.]])\n"),
        ("1.235", "1.2346"),
        ("1.0", "1.0000"),
        ("tensor([0.1, 0.2])", "tensor([0.1000, 0.2000])"),
        ("[[1. 2.]\n [3. 4.]]", "[[ 1. 2. ] [ 3. 4.]]"),
        ("1.2e-05", "1.2345e-05"),
        ("{'a': 1, 'b': 0.5}", "{'a': 1, 'b': 0.50001}"),
        ("a\n<BLANKLINE>\nb", "a\n\nb"),
        ("Traceback (most recent call last):\n  ...\nValueError: no", "ValueError: no"),
        ("tensor([0., 1., ..., 9.])", "tensor([0., 1.,  ..., 9.])"),
        ("bert-base: 3", "bert-base: 3"),
    ],
)
def test_it_prints_so(want, got):
    assert prints(want, got)


@pytest.mark.parametrize(
    ("want", "got"),
    [
        ("1.236", "1.2346"),
        ("1.23456", "1.2346"),
        ("1.", "1.2000"),
        ("1.0", "1"),
        ("3", "3.2"),
        ("3", "4"),
        ("0.5", "-0.5"),
        ("a b", "ab"),
        ("tensor([...])", "tensor([1., 2.])"),
        ("[1, ..., 3]", "[1, 2, 3]"),
        ("Traceback (most recent call last):\n  ...\nValueError: no", "ValueError: yes"),
        ("x1", "x2"),
        ("", "1"),
        ("1", ""),
        ("1.0", "nan"),
        ("1.0 2.0", "1.0"),
    ],
)
def test_it_does_not_print_so(want, got):
    assert not prints(want, got)
