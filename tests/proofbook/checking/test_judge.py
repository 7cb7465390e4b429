"""What of a run does not come out as its chapter says is named, with line, code and difference."""

from proofbook.checking.judge import difference, judge, shown
from proofbook.model import BlockResult, Example, Failure, Run, Value
from proofbook.parsing.page import parse
from tables import table

TEXT = """\
# Page

```python
x = 1
y = 2
```

```pycon
>>> x
1
>>> y
2
```

[Five]{ equals="x" } `x > 0`{ holds } […]{ value="y" holds="y > 1" }

The first is the larger one.

```facts
is the larger: x > y
```
"""
RAN = BlockResult()
PASSING = {
    ("x", 2): Value(5),
    ("x > 0", 2): Value(True),
    ("y > 1", 2): Value(True),
    ("x > y", 2): Value(True),
}


def examples(*got: str) -> tuple[Example, ...]:
    return tuple(
        Example(source, want, one, offset)
        for (source, want, offset), one in zip((("x", "1\n", 0), ("y", "2\n", 2)), got, strict=True)
    )


def run(values=PASSING, first=RAN, second=RAN, **rest) -> Run:
    return Run((first, second), {("y", 2): Value(2), **values}, **rest)


def test_a_run_that_says_what_the_page_says_has_no_problem():
    assert judge(parse("p.md", TEXT), run(second=BlockResult(examples=examples("1", "2")))) == []


def gives(claim: str, value: object, place: int = 2) -> Run:
    """A run in which one claim has another value."""
    return run({**PASSING, (claim, place): Value(value)})


FAILED = BlockResult(failure=Failure("ValueError: no", 1, "Traceback"))
OTHER = BlockResult(examples=examples("1", "3"))
UNREAD = run({**PASSING, ("y > 1", 2): Value(failure=Failure("reads nothing"))})
UNREACHED = run({claim: value for claim, value in PASSING.items() if claim != ("x > y", 2)})
FACT = "the page says 'is the larger', but in this run that is"


@table(
    ("ran", "line", "message", "code", "detail"),
    [
        (run(second=OTHER), 11, "the output differs", "y", "- 2\n+ 3"),
        (run(first=FAILED), 5, "ValueError: no", "y = 2", "Traceback"),
        (run(failure=Failure("killed", 0), failed_block=1), 9, "killed", ">>> x", ""),
        (run(failure=Failure("no interpreter")), 1, "no interpreter", "", ""),
        (gives("x", 6), 15, "the page says 'Five', this run gives 6", "x", ""),
        (gives("x > 0", False), 15, "this must hold (be True), but it is False", "x > 0", ""),
        (gives("x > 0", 1), 15, "this must hold (be True), but it is 1", "x > 0", ""),
        (UNREAD, 15, "cannot be checked: reads nothing", "y > 1", ""),
        (gives("x > y", False), 20, f"{FACT} False", "x > y", ""),
        (gives("x > y", 1), 20, f"{FACT} 1", "x > y", ""),
        (UNREACHED, 20, f"{FACT} None", "x > y", ""),
    ],
)
def test_what_does_not_come_out_is_a_problem(ran, line, message, code, detail):
    (problem,) = judge(parse("p.md", TEXT), ran)
    assert (problem.path, problem.line, problem.code) == ("p.md", line, code)
    assert message in problem.message
    assert problem.detail == detail


def test_claims_that_a_failing_page_never_reached_are_not_reported():
    failed = BlockResult(failure=Failure("ValueError: no", 0))
    (problem,) = judge(parse("p.md", TEXT), Run((failed,), {}))
    assert problem.message == "ValueError: no"


@table("code", ["x = 1\n>>> x\n1", "x = 1\n>>>x", "if x:\n>>> 1", "x\n  >>> 1"])
def test_a_prompt_in_plain_code_says_what_to_write(book, code):
    [checked] = book.check({"p.md": f"# Page\n\n```python\n{code}\n```\n"})
    [problem] = checked.problems
    assert problem.line == 4 + code.split("\n").index(problem.code)
    assert ">>>" in problem.code
    assert "begin the block with one to make it a doctest" in problem.message


def test_long_values_are_cut():
    assert shown("x" * 300).endswith("x…")
    assert len(shown("x" * 300)) == 200


@table(
    ("one", "other", "told"),
    [
        ("a\nb\n", "a\nc\n", "  a\n- b\n+ c"),
        (
            "\n".join(map(str, range(500))),
            "\n".join(map(str, [*range(300), "x"])),
            "(starting at line 299 of 500)\n  298\n  299\n+ x\n- 300\n",
        ),
        (
            "a" * 7_000 + "b",
            "a" * 7_000 + "c",
            f"(starting at character 6951)\n- '{'a' * 50}b'\n",
        ),
    ],
)
def test_a_difference_is_told_where_it_begins(one, other, told):
    assert difference(one, other).startswith(told)
    assert len(difference(one, other)) < 2_000
