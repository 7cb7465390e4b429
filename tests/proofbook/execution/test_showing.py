"""A program shows its values as a script, and can be pasted at a prompt."""

import code
import contextlib
import io
import subprocess
import sys

import pytest

from proofbook.execution.showing import how_to_print, pasteable, showing


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("x", "print(x)"),
        ("x, y", "print((x, y))"),
        ("(x, y)", "print((x, y))"),
        ("(x), (y)", "print(((x), (y)))"),
        ("(x) + (y)", "print((x) + (y))"),
        ("(x\n + y)", "print(x\n + y)"),
        ('("é",)  # ä', 'print(("é",))  # ä'),
        ("# why\nf(\n    x,\n)  # so", "# why\nprint(f(\n    x,\n))  # so"),
        ("[n for n in x]", "print([n for n in x])"),
        ("x = 1", "x = 1"),
        ("x; y", "x; y"),
        ("# nothing", "# nothing"),
    ],
)
def test_an_expression_is_printed(given, shown):
    assert showing(given, "print") == shown


def test_it_is_printed_as_its_repr_or_as_a_notebook_shows_it():
    assert showing("x, y", "repr") == "print(repr((x, y)))"
    assert showing("f(x)", "display") == "display(f(x))"


class Odd:
    def __str__(self):
        return "one"

    def __repr__(self):
        return "another"


class Silent:
    def __str__(self):
        raise ValueError("no")


@pytest.mark.parametrize(
    ("value", "how"), [(5, "print"), ("a\nb", "print"), (Odd(), "repr"), (Silent(), "repr")]
)
def test_what_is_written_otherwise_than_it_is_shown_is_printed_as_its_repr(value, how):
    assert how_to_print(value, repr(value)) == how


PROGRAM = """\
import contextlib

TEXT = \'\'\'a

b\'\'\'


class One:
    first = 1

    def method(self):
        words = \'\'\'c

d\'\'\'

        # why

        return words
# what follows
if One.first:
    print("yes")

else:

    print("no")
@contextlib.contextmanager

def opened():
    try:
        yield 5

    finally:
        print("closed")
with opened() as n: print(n)
made = [
    1,

    2,
]
print(TEXT, One().method(), made)
for k in made:

    print(f\'\'\'{k}

.\'\'\')
"""
SAID = "yes\n5\nclosed\na\n\nb c\n\nd [1, 2]\n1\n\n.\n2\n\n.\n"


def test_a_program_is_the_same_script():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(pasteable(PROGRAM), {})
    assert out.getvalue() == SAID


def test_a_prompt_takes_it():
    command = [sys.executable, "-i", "-q", "-c", ""]
    lines = pasteable(PROGRAM) + "\n"
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=True)
    assert "Error" not in done.stderr
    assert done.stdout == SAID
    plain = subprocess.run(command, input=PROGRAM, capture_output=True, text=True, check=True)
    assert "IndentationError" in plain.stderr


def test_a_console_takes_it():
    out, errors = io.StringIO(), io.StringIO()
    console = code.InteractiveConsole()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
        for line in [*pasteable(PROGRAM).split("\n"), ""]:
            console.push(line)
    assert not errors.getvalue()
    assert out.getvalue() == SAID


def test_what_cannot_be_parsed_stays_as_it_is():
    assert pasteable("def f(:\n\n  x\n") == "def f(:\n\n  x\n"
