"""Every checker accepts what is right, and says of what is wrong what is wrong with it."""

import ast
import re
import time
from pathlib import Path

import pytest
import torch
from answers_decoder import DECODER
from answers_encoder import ENCODER
from answers_family import FAMILY

from glassformer import exercises
from glassformer.exercises import Exercise, Verdict
from glassformer.exercises.checking import Draw

DOCS = Path(__file__).parents[2] / "docs"
CHECKERS = {
    name: getattr(exercises, name) for name in exercises.__all__ if name.startswith("check")
}
ANSWERS = ENCODER | DECODER | FAMILY
CHAPTERS = sorted({checker.chapter for checker in CHECKERS.values()})

FENCE = re.compile(r"^([ ]*)```python\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


def of_all(part):
    """Each answer of a part, with the name of its checker."""
    return [
        pytest.param(name, pattern, answer, id=f"{name}-{number}")
        for name, answers in ANSWERS.items()
        for number, (pattern, answer) in enumerate(getattr(answers, part).items())
    ]


@pytest.mark.parametrize("name", CHECKERS)
def test_accepts_a_right_answer_of_another_kind(name):
    verdict = CHECKERS[name](ANSWERS[name].right)
    assert verdict.right, verdict


@pytest.mark.parametrize(("name", "pattern", "answer"), of_all("wrong"))
def test_says_what_is_wrong(name, pattern, answer):
    verdict = CHECKERS[name](answer)
    assert not verdict.right
    assert re.search(pattern, str(verdict), re.IGNORECASE), verdict


@pytest.mark.parametrize("name", CHECKERS)
def test_every_known_mistake_is_told_from_the_others(name):
    checker = CHECKERS[name]
    for says, mistake in checker.mistakes.items():
        assert checker(mistake).says == f"Not yet. {says}"


@pytest.mark.parametrize("name", CHECKERS)
def test_five_wrong_answers_and_more_are_tried(name):
    assert len(ANSWERS[name].wrong) >= 5
    assert len(CHECKERS[name].mistakes) >= 3


@pytest.mark.parametrize("name", CHECKERS)
def test_an_answer_is_checked_in_well_under_a_second(name):
    CHECKERS[name](ANSWERS[name].right)  # warm
    start = time.perf_counter()
    CHECKERS[name](next(iter(ANSWERS[name].wrong.values())))
    assert time.perf_counter() - start < 1


@pytest.mark.parametrize("name", CHECKERS)
def test_an_answer_that_gives_one_thing_always_is_not_right(name):
    """None of the examples is so simple that any constant would do."""
    checker = CHECKERS[name]
    for constant in (0, 1, True, False, torch.zeros(()), torch.ones(1), [], ""):
        assert not checker(lambda *_, constant=constant: constant)


def verdicts(chapter):
    """The checkers that a page calls, and what they say there, in the page's order."""
    names = {"torch": torch, "F": torch.nn.functional, "nn": torch.nn}
    for indent, text in FENCE.findall((DOCS / chapter).read_text()):
        if "check_" not in text:
            continue
        tree = ast.parse(re.sub(rf"^{indent}", "", text, flags=re.MULTILINE))
        last = tree.body.pop()
        exec(compile(tree, chapter, "exec"), names)
        yield last.value.func.id, eval(compile(ast.Expression(last.value), chapter, "eval"), names)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_page_asks_and_its_solution_is_right(chapter):
    said = list(verdicts(chapter))
    assert {name for name, _ in said} == {n for n, c in CHECKERS.items() if c.chapter == chapter}
    for asked, solved in zip(said[::2], said[1::2], strict=True):
        assert asked[0] == solved[0], "the stub, then the solution"
        assert not asked[1].right, f"{asked[0]} is solved before it is asked"
        assert solved[1].right, solved[1]


def twice(x):
    return 2 * x


SMALL = Exercise(
    asks="twice the numbers",
    chapter="nowhere.md",
    reference=twice,
    examples=lambda draw: [("three numbers", (draw(3),)), ("a matrix", (draw(5, 7),))],
    mistakes={"That is the square.": lambda x: x * x},
)


def test_a_verdict_is_true_where_the_answer_is_right():
    verdict = SMALL(lambda x: x + x)
    assert verdict
    assert str(verdict) == (
        "Right. It gives twice the numbers.\n  Checked with three numbers; a matrix."
    )


def test_a_mistake_that_is_known_is_named_and_one_that_is_not_is_shown():
    x = Draw()(3)
    known, unknown = SMALL(torch.square), SMALL(lambda x: 3 * x)
    seen = f"At [0] your answer has {x[0] ** 2:.4g}, and {2 * x[0]:.4g} is right"
    assert known.says == "Not yet. That is the square."
    assert known.because == ("Seen with three numbers: x (3,).", f"{seen}.")
    assert unknown.says == (
        f"Not yet. At [0] your answer has {3 * x[0]:.4g}, and {2 * x[0]:.4g} is right."
    )
    assert unknown.because == ("Seen with three numbers: x (3,).",)


def test_a_checker_says_what_it_asks_for():
    assert repr(SMALL) == "Exercise('twice the numbers')"


def test_a_mistake_on_one_example_alone_is_not_taken_for_the_known_one():
    verdict = SMALL(lambda x: x * x if x.ndim == 1 else 2 * x)
    assert "square" not in str(verdict)
    assert not verdict


def test_a_difference_that_comes_late_is_found():
    assert not SMALL(lambda x: 2 * x if x.ndim == 1 else 2 * x + 1e-4)
    assert SMALL(lambda x: (2 * x.float()).double())


@pytest.mark.parametrize("nothing", [None, ...])
def test_a_stub_is_told_kindly(nothing):
    says = "Nothing to check yet. The function gives back nothing; wanted: twice the numbers."
    assert SMALL(lambda x: nothing).says == says


def test_a_stub_may_also_say_that_it_is_one():
    def stub(x):
        raise NotImplementedError

    assert SMALL(stub).says.startswith("Nothing to check yet.")


def test_an_error_is_shown_with_its_line_and_what_was_given():
    def broken(x):
        return x + torch.ones(2, 2)

    verdict = SMALL(broken)
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
    assert verdict.says == (
        "Not yet. This is a tensor of shape (3,); the function itself is to be checked."
    )


def test_an_answer_that_changes_what_it_is_given_is_refused():
    verdict = SMALL(lambda x: x.mul_(2))
    assert verdict.says == ("Not yet. Your function changes its argument x, which is the caller's.")


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda x: (2 * x).tolist(), r"is a list of 3, and a tensor of \(3,\) is wanted"),
        (lambda x: 2 * x[None], r"has shape \(1, 3\), and \(3,\) is right"),
        (lambda x: (2 * x).long(), "is of torch.int64, and a float type is wanted"),
        (lambda x: x / 0 * 0, "has nan, and"),
        (lambda x: twice, "is a function, and a tensor"),
    ],
)
def test_another_kind_of_thing_is_named(answer, told):
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


@pytest.mark.parametrize(
    ("wanted", "given", "told"),
    [
        (5, 5, None),
        (5, torch.tensor(5), None),
        (5, 7, "your answer is 7, and 5 is right"),
        (110_000_000, 110_000_001, "your answer is 110000001, and 110000000 is right"),
        (torch.tensor(0.25), 0.25, None),
        (torch.tensor(0.25), torch.ones(3), "a tensor of shape (3,), and 0.25 is right"),
        (5, "five", "your answer is 'five', and 5 is right"),
        (True, True, None),
        (True, 1, "your answer is 1, and True is right"),
        (0.25, 0.25 + 1e-9, None),
        (0.25, 0.26, "your answer is 0.26, and 0.25 is right"),
        ([1, 2], (1, 2), None),
        ([1, 2], [1, 3], "of your 2 results, number 2: your answer is 3, and 2 is right"),
        ([1, 2], [1], "your answer has 1 results, and 2 are wanted"),
        ([1, 2], 1, "your answer is 1, and 2 results are wanted"),
    ],
)
def test_numbers_and_lists_are_compared_too(wanted, given, told):
    checker = Exercise("it", "nowhere.md", lambda: wanted, lambda draw: [("it", ())], {})
    verdict = checker(lambda: given)
    assert verdict.right == (told is None)
    assert told is None or told in verdict.says.replace("Your", "your").replace("Of", "of")


def test_a_verdict_reads_the_same_as_html():
    html = Verdict(False, "Not yet. 1 < 2.", ("a & b",))._repr_html_()
    assert "<p><strong>Not yet. </strong>1 &lt; 2.</p><p>a &amp; b</p>" in html
    assert '"glassformer-verdict"' in html
    assert '"glassformer-verdict right"' in Verdict(True, "Right. Yes.")._repr_html_()


def headings(chapter):
    """The exercises of a page: the anchor of each heading, and the checker called below it."""
    text = (DOCS / chapter).read_text().partition("\n## Exercises\n")[2]
    for section in text.split("\n### ")[1:]:
        title, _, below = section.partition("\n")
        if called := re.search(r"^(check_\w+)\(", below, re.MULTILINE):
            yield called[1], re.sub(r"[^\w\s-]", "", title).lower().replace(" ", "-"), title


def test_the_page_of_exercises_lists_each_in_the_order_of_the_book():
    text = (DOCS / "practice" / "exercises.md").read_text()
    rows = re.findall(r"^\| [^|]*: \[(.*?)\]\(\.\./(.*?)#(.*?)\) \| (.*?): `(.*?)` \|$", text, re.M)
    order = re.findall(
        r"- ((?:encoder|decoder|family)/\S+\.md)", (DOCS.parent / "mkdocs.yml").read_text()
    )
    assert rows == [
        (title, chapter, anchor, CHECKERS[name].asks, name)
        for chapter in order
        for name, anchor, title in headings(chapter)
    ]
    assert sorted(row[-1] for row in rows) == sorted(CHECKERS)
