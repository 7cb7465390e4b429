"""What every checker does with an answer, shown on a small exercise."""

import re
from itertools import product

import pytest
import torch

from glassbook.exercises.checking import Draw, Exercise
from glassbook.exercises.comparing import difference
from glassbook.exercises.verdict import Verdict


def twice(x):
    return 2 * x


SMALL = Exercise(
    asks="twice the numbers",
    reference=twice,
    examples=lambda draw: [("three numbers", (draw(3),)), ("a matrix", (draw(5, 7),))],
    mistakes={"That is the square.": lambda x: x * x},
)


def test_a_verdict_is_true_where_the_answer_is_right():
    verdict = SMALL(lambda x: x + x)
    assert verdict
    assert str(verdict) == (
        "Right. It returns twice the numbers.\n  Checked with three numbers; a matrix."
    )


def test_a_mistake_that_is_known_is_named_and_one_that_is_not_is_shown():
    x = Draw()(3)
    known, unknown = SMALL(torch.square), SMALL(lambda x: 3 * x)
    assert not known
    assert not unknown
    seen = f"At [0], your answer has {x[0] ** 2:.4g}, but it should have {2 * x[0]:.4g}"
    assert known.says == "Not yet. That is the square."
    assert known.because == ("Seen with three numbers: x (3,).", f"{seen}.")
    assert unknown.says == (
        f"Not yet. At [0], your answer has {3 * x[0]:.4g}, but it should have {2 * x[0]:.4g}."
    )
    assert unknown.because == ("Seen with three numbers: x (3,).",)


def test_a_checker_says_what_it_asks_for():
    assert repr(SMALL) == "Exercise('twice the numbers')"


def stop(x):
    raise ValueError("too many axes")


def test_a_mistake_on_one_example_alone_is_not_taken_for_the_known_one():
    for elsewhere in (twice, stop):
        verdict = SMALL(lambda x, other=elsewhere: x * x if x.ndim == 1 else other(x))
        assert "square" not in str(verdict)
        assert not verdict


def test_a_difference_that_comes_late_is_found():
    assert not SMALL(lambda x: 2 * x if x.ndim == 1 else 2 * x + 1e-4)
    assert SMALL(lambda x: (2 * x.float()).double())


def test_a_stub_is_told_kindly():
    says = "Nothing to check yet. The function returns nothing. It should return twice the numbers."
    for verdict in (SMALL(lambda x: None), SMALL(lambda x: ...)):
        assert (verdict.right, verdict.says) == (False, says)


def test_a_stub_may_also_say_that_it_is_one():
    def stub(x):
        raise NotImplementedError

    assert SMALL(stub).says.startswith("Nothing to check yet.")


def test_an_error_is_shown_with_its_line_and_what_was_given():
    def broken(x):
        return x + torch.ones(2, 2)

    verdict = SMALL(broken)
    assert not verdict
    assert verdict.says.startswith("Not yet. Your function stops with RuntimeError: The size of")
    assert verdict.because == (
        "In the line: return x + torch.ones(2, 2)",
        "Seen with three numbers: x (3,).",
    )


def test_of_a_long_error_the_first_line_is_shown():
    def broken(x):
        raise ValueError("one line\nand another")

    assert SMALL(broken).says == "Not yet. Your function stops with ValueError: one line"


def test_an_answer_with_other_arguments_is_told_what_it_is_given():
    verdict = SMALL(lambda x, y: x)
    assert "missing 1 required positional argument: 'y'" in verdict.says
    assert verdict.because[-1] == "Seen with three numbers: x (3,)."


@pytest.mark.usefixtures("unhooked")
def test_what_is_not_a_function_is_told_so():
    verdict = SMALL(twice(torch.ones(3)))
    assert not verdict
    assert verdict.says == ("Not yet. This is a tensor of shape (3,); pass the function itself.")


def test_an_answer_that_changes_what_it_is_given_is_refused():
    verdict = SMALL(lambda x: x.mul_(2))
    assert not verdict
    assert verdict.says == ("Not yet. Your function changes its argument x, which is the caller's.")


def test_another_kind_of_thing_is_named(subtests):
    answers = [
        (lambda x: (2 * x).tolist(), r"is a list of 3, but it should be a tensor of \(3,\)"),
        (lambda x: 2 * x[None], r"has shape \(1, 3\), but it should have \(3,\)"),
        (lambda x: (2 * x).long(), "dtype is torch.int64, but it should be a float type"),
        (lambda x: x / 0 * 0, "has nan, but"),
        (lambda x: twice, "is a function, but it should be a tensor"),
    ]
    for answer, told in answers:
        with subtests.test(told):
            assert re.search(told, SMALL(answer).says)


def test_checking_draws_no_random_numbers_and_leaves_the_default_type():
    torch.manual_seed(3)
    wanted = torch.rand(2)
    torch.manual_seed(3)
    assert SMALL(lambda x: x * torch.tensor(2.0))
    assert torch.equal(torch.rand(2), wanted)
    assert torch.get_default_dtype() == torch.float32


def test_what_an_answer_makes_itself_is_of_the_type_of_what_it_is_given():
    assert SMALL(lambda x: (2 * torch.eye(len(x))) @ x)


def test_numbers_and_lists_are_compared_too():
    rows = [
        (5, 5, None),
        (5, torch.tensor(5), None),
        (5, 7, "your answer is 7, but it should be 5"),
        (110_000_000, 110_000_001, "your answer is 110000001, but it should be 110000000"),
        (torch.tensor(0.25), 0.25, None),
        (
            torch.tensor(0.25),
            torch.ones(3),
            "your answer is a tensor of shape (3,), but it should be 0.25",
        ),
        (1.0, True, "your answer is True, but it should be 1"),
        (5, "five", "your answer is 'five', but it should be 5"),
        (True, True, None),
        (True, 1, "your answer is 1, but it should be True"),
        (0.25, 0.25 + 1e-9, None),
        (0.25, 0.26, "your answer is 0.26, but it should be 0.25"),
        ([1, 2], (1, 2), None),
        ([1, 2], [1, 3], "in result 2 of 2, your answer is 3, but it should be 2"),
        ([1, 2], [1], "your answer has 1 result, but it should have 2"),
        ([1, 2], 1, "your answer is 1, but it should have 2 results"),
        ("five", "five", None),
        ("five", "four", "your answer is 'four', but it should be 'five'"),
        ("5", 5, "your answer is 5, but it should be '5'"),
        (["fi", "ve"], ("fi", "ve"), None),
        (
            ("fi", "ve"),
            ["fi", "fe"],
            "in result 2 of 2, your answer is 'fe', but it should be 've'",
        ),
        (("fi", "ve"), "five", "your answer is 'five', but it should have 2 results"),
    ]
    for wanted, given, told in rows:
        assert difference(given, wanted) == told, (wanted, given)


def test_a_measure_may_be_rounded_as_float32_rounds_and_no_more():
    def tensor(number):
        return torch.tensor([number], dtype=torch.float64)

    for (wanted, off), made in product([(0.0, 1e-6), (1000.0, 1e-2)], [float, tensor]):
        assert difference(made(wanted + 0.9 * off), made(wanted)) is None
        assert difference(made(wanted - 0.9 * off), made(wanted)) is None
        assert difference(made(wanted + 1.1 * off), made(wanted)) is not None


def test_what_is_drawn_is_the_same_at_every_check():
    generator = torch.Generator().manual_seed(0)
    draw = Draw()
    wanted = torch.randn(3, 5, generator=generator, dtype=torch.float64)
    torch.testing.assert_close(draw(3, 5), wanted, rtol=0, atol=0)
    assert draw.ids(7, 11, 13).shape == (11, 13)
    assert set(draw.ids(7, 101).tolist()) == set(range(7))


def test_on_a_page_what_is_wrong_is_one_click_away():
    html = Verdict(False, "Not yet. 1 < 2.", ("a & b",))._repr_html_()
    seen, folded = html.split("</summary>")
    assert "<details><summary><strong>Not yet. </strong>Show what's wrong" in seen
    assert "1 &lt; 2" not in seen
    assert folded.startswith("<p>1 &lt; 2.</p><p>a &amp; b</p></details>")


def test_on_a_page_a_right_answer_and_an_empty_one_are_told_at_once():
    right = Verdict(True, "Right. 1 < 2.", ("a & b",))._repr_html_()
    empty = Verdict(False, "Nothing to check yet. It should return a & b.")._repr_html_()
    assert "<p><strong>Right. </strong>1 &lt; 2.</p><p>a &amp; b</p>" in right
    assert "<p><strong>Nothing to check yet. </strong>It should return a &amp; b.</p>" in empty
    assert "<details>" not in right + empty
    assert '"glassformer-verdict right"' in right
    assert '"glassformer-verdict"' in empty
