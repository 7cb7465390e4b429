"""A problem reads as file, line, message, code and difference."""

from proofbook.problems import ChapterError, Problem


def test_code_and_difference_are_set_off():
    problem = Problem("a.md", 3, "it differs", "x\n\ny\n", "- 1\n+ 2\n")
    assert str(problem) == "a.md:3: it differs\n    | x\n    | \n    | y\n    - 1\n    + 2"
    assert str(Problem("a.md", 3, "no")) == "a.md:3: no"


def test_problems_sort_by_place():
    assert min(Problem("a.md", 10, "x"), Problem("a.md", 9, "y")).line == 9


def test_an_error_tells_all_of_them():
    error = ChapterError([Problem("a.md", 1, "one"), Problem("b.md", 2, "two")])
    assert str(error) == "a.md:1: one\n\nb.md:2: two"
    assert [problem.path for problem in error.problems] == ["a.md", "b.md"]
