"""What happens inside a page: blocks, doctests, claims, and what none of them leave behind."""

from proofbook.text import LARGEST_TEXT, TRACEBACK
from tables import table

SHOWN = {
    "one namespace": (
        ["x = 3", "def f():\n    return x + 4", "f(), __name__"], ["(7, '__main__')"]
    ),
    "the last expression": (["1\n2\n3", "None", "x = 5", "", "# nothing"], ["3"]),
    "nothing before a semicolon": (["x = 5\nx;"], []),
    "what is printed, then the value": (["print('first')\n'last'"], ["first\n", "'last'"]),
    "the source of what the page defines": (
        [
            "import inspect\nclass A:\n    size = 3\n\ndef f(x):\n    return x",
            "print(inspect.getsource(A) + inspect.getsource(f))",
        ],
        ["class A:\n    size = 3\ndef f(x):\n    return x\n\n"],
    ),
    "the source of what a doctest defines": (
        [
            ">>> import inspect\n>>> def f(x):\n...     return x\n>>> f(3)\n3",
            "print(inspect.getsource(f), end='')",
        ],
        ["def f(x):\n    return x\n"],
    ),
    "what was pickled": (
        [
            "import dataclasses, pickle\n@dataclasses.dataclass\nclass Point:\n    x: int",
            "pickle.loads(pickle.dumps(Point(7))).x",
        ],
        ["7"],
    ),
    "what was imported from the future": (
        ["from __future__ import annotations", "def f(x: Later): ...\nf.__annotations__"],
        ["{'x': 'Later'}"],
    ),
    "warnings in every block, without paths": (
        ["import warnings\nwarnings.warn('careful')"] * 2, ["UserWarning: careful\n"] * 2
    ),
    "too much text, cut": (
        ["print('x' * 3_000_000)\n'y' * 2_000_000"],
        [
            "x" * LARGEST_TEXT + "\n[… cut here: 3.0 MB in all]\n",
            "'" + "y" * (LARGEST_TEXT - 1) + "\n[… cut here: 2.0 MB in all]\n",
        ],
    ),
    "the last state of a progress bar": (
        ["for i in range(3):\n    print(f'\\r{i}', end='')\nprint()"], ["2\n"]
    ),
    "text that is not Unicode, escaped": (
        ["import os\nos.write(1, b'\\xff');print('\\ud800')"], ["\\xff\\ud800\n"]
    ),
    "no commands of a terminal, and other control characters escaped": (
        [r"print('\x1b[1;31mred\x1b[0m \x1b]0;title\x07plain\ttab \x00\x02\x0c\x85')"],
        ["red plain\ttab \\x00\\x02\\x0c\\x85\n"],
    ),
    "what every writer wrote, in order": (
        [
            "import ctypes, os, subprocess, sys\nprint('python')\nos.write(1, b'descriptor\\n')\n"
            "print('error', file=sys.stderr)\nsubprocess.run(['echo', 'subprocess'])\n"
            "ctypes.CDLL(None).printf(b'c %d\\n', 7)\nsys.stdout.buffer.write(b'bytes\\n')\n"
            "sys.stdout.write('end');"
        ],
        ["python\ndescriptor\nerror\nsubprocess\nc 7\nbytes\nend"],
    ),
    "of a flood the beginning, and all of the next block": (
        ["line = 'a' * 999 + '\\n'\nfor _ in range(20_000):\n    print(line, end='')", "print(2)"],
        [("a" * 999 + "\n") * 100 + "\n[… cut here: 20.0 MB in all]\n", "2\n"],
    ),
}  # fmt: skip


@table("what", SHOWN)
def test_a_page_shows(projects, monkeypatch, what):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    codes, shown = SHOWN[what]
    assert projects().shown(*codes) == shown


def test_a_failing_block_names_its_line_and_what_it_did_before_stands(project):
    run = project.run("x = 1", "y = 2\nprint('before')\nx / 0", "y + 1")
    assert [o.data for o in run.blocks[2].outputs] == ["3"]
    failed = run.blocks[1]
    assert (failed.failure.reason, failed.failure.line) == (
        "ZeroDivisionError: division by zero",
        2,
    )
    assert [o.data for o in failed.outputs] == ["before\n"]
    assert run.failure is None


def test_the_line_is_the_one_of_the_block_that_called(project):
    run = project.run("def f():\n    pass\n    return 1 / 0", "\n\nf()")
    assert run.blocks[1].failure.line == 2
    assert '  File "<block 1>", line 3, in f\n    return 1 / 0' in run.blocks[1].failure.detail
    assert "proofbook" not in run.blocks[1].failure.detail


@table(
    ("code", "reason", "line"),
    [
        ("x = 1\ny = = 2", "SyntaxError: invalid syntax", 1),
        (">>> 1\n1\n>>> x = = 2\n", "SyntaxError: invalid syntax", 2),
        ("name = input()", "EOFError: EOF when reading a line", 0),  # nobody answers
        *(
            (f"import sys\nsys.exit({status})", "SystemExit: the block called sys.exit(", 1)
            for status in ("0", "", "3")
        ),
    ],
)
def test_what_cannot_go_on_is_a_failure_with_its_line(project, code, reason, line):
    failure = project.run(code).blocks[0].failure
    assert failure.reason.startswith(reason)
    assert failure.line == line


def test_doctests_give_what_they_printed(project):
    run = project.run(">>> x = 2\n>>> print('a'); x + 3\na\n6\n>>> for i in range(2):\n...     i\n")
    assert [(e.source, e.want, e.got, e.offset) for e in run.blocks[0].examples] == [
        ("x = 2\n", "", "", 0),
        ("print('a'); x + 3\n", "a\n6\n", "a\n5\n", 1),
        ("for i in range(2):\n    i\n", "", "0\n1\n", 4),
    ]


def test_an_expected_exception_gives_its_traceback_below_what_was_printed(project):
    code = ">>> print('kept'); [][3]\nTraceback (most recent call last):\n  ...\nIndexError: no\n"
    [example] = project.run(code).blocks[0].examples
    assert example.got == f"kept\n{TRACEBACK}\nIndexError: list index out of range\n"
    assert example.want == f"{TRACEBACK}\n  ...\nIndexError: no\n"


def test_an_exception_is_expected_below_its_output_and_by_its_traceback_alone(project):
    raising = ">>> print('kept', end=''); [][3]\n"
    [example] = project.run(f"{raising}kept\n{TRACEBACK}\nIndexError: no").blocks[0].examples
    assert example.got.startswith(f"kept\n{TRACEBACK}\n")
    result = project.run(f"{raising}IndexError: list index out of range").blocks[0]
    assert result.failure.reason == "IndexError: list index out of range"


def test_notes_of_an_expected_exception_are_shown(project):
    code = f">>> e = ValueError('a')\n>>> e.add_note('b')\n>>> raise e\n{TRACEBACK}\nb"
    assert project.run(code).blocks[0].examples[-1].got == f"{TRACEBACK}\nValueError: a\nb\n"


def test_an_unexpected_exception_of_a_doctest_is_a_failure_at_its_prompt(project):
    run = project.run(">>> 1\n1\n>>> def f():\n...     return [][3]\n>>> f()\n")
    assert run.blocks[0].failure.reason == "IndexError: list index out of range"
    assert run.blocks[0].failure.line == 3
    assert len(run.blocks[0].examples) == 2


def test_claims_are_evaluated_at_their_place_or_when_their_names_exist(project):
    run = project.run(
        "x = 1", "x = 2", "y = 3", "x = 4", claims=[("x", 0), ("x", 2), ("x + y", 1), ("x", 4)]
    )
    assert {claim: (v.data, v.after) for claim, v in run.values.items()} == {
        ("x", 0): (1, 1),
        ("x", 2): (2, 2),
        ("x + y", 1): (5, 3),
        ("x", 4): (4, 4),
    }


def test_a_claim_on_a_name_that_never_comes_fails(project):
    value = project.run("x = 1", claims=[("x + missing + gone", 1)]).values["x + missing + gone", 1]
    assert value.failure.reason == "reads a name that no block of the page defines: gone, missing"
    assert value.after == 1


@table(
    "text", ["2 + 3", "word(True, 'a', 'b')", "len('abc') == 3", "[x for x in 'ab']", "__name__"]
)
def test_a_constant_claim_is_refused(project, text):
    [value] = project.run("x = 1", claims=[(text, 1)]).values.values()
    assert value.failure.reason.endswith("a constant proves nothing")
    assert value.data is None


def test_claims_of_a_page_without_blocks_prove_nothing(project):
    run = project.run(claims=[("1 + 1", 0), ("x", 0)])
    reasons = [value.failure.reason for value in run.values.values()]
    assert "proves nothing" in reasons[0]
    assert reasons[1] == "reads a name that no block of the page defines: x"


def test_a_claim_that_raises_or_does_not_parse_fails_alone(project):
    run = project.run("x = 1", claims=[("x / 0", 1), ("x +", 1), ("x", 1)])
    assert run.values["x / 0", 1].failure.reason == "ZeroDivisionError: division by zero"
    assert "x / 0" in run.values["x / 0", 1].failure.detail
    assert run.values["x +", 1].failure.reason.startswith("does not parse: ")
    assert run.values["x", 1].data == 1


def test_a_claim_changes_nothing(project):
    claims = [("[random.random(), numpy.random.rand(), print('noise'), (x := 9)][3]", 1), ("x", 1)]
    code = "import random, numpy\nx = 1"
    draw = "print(x)\nrandom.random(), numpy.random.rand()"
    run = project.run(code, draw, claims=claims)
    assert run.values[claims[0]].data == 9
    assert run.values["x", 1].data == 1
    without = project.run(code, draw)
    assert run.blocks[1].outputs == without.blocks[1].outputs


def test_claims_on_what_a_failed_block_did_not_make_have_no_value(project):
    code = ["x = y = 1", "y = x / 0\nz = 1", "w = z"]
    claims = [("x", 1), ("x + 1", 2), ("y", 2), ("z", 2), ("w", 3), ("y", 1)]
    run = project.run(*code, claims=claims)
    assert sorted(run.values) == [("x", 1), ("x + 1", 2), ("y", 1)]


def test_a_block_that_awaits_is_one_task_as_in_a_notebook(project):
    ask = "import asyncio\ntask = asyncio.current_task\nfirst = await ask()\nawait ask() is first"
    run = project.run("async def ask():\n    return task()", ask)
    assert run.blocks[1].outputs[-1].data == "True"


def test_a_block_may_await_at_its_top_level_as_in_a_notebook(project):
    """The event loop lasts for the page; `asyncio.run` still works, and so does a doctest."""
    run = project.run(
        "import asyncio\n\nasync def twice(x):\n    await asyncio.sleep(0)\n    return 2 * x",
        "begun = asyncio.Event()\nasync with asyncio.timeout(9):\n    y = await twice(3)",
        "asyncio.run(twice(5))",
        "[await twice(x) for x in range(3)]",
        ">>> await twice(y)\n12",
        claims=[("y == 6", 2)],
    )
    assert run.failure is None
    assert [block.failure for block in run.blocks] == 5 * [None]
    assert [block.outputs[-1].data for block in run.blocks[2:4]] == ["10", "[0, 2, 4]"]
    assert run.blocks[4].examples[0].got == "12\n"
