"""Errors as a reader of the chapter should see them."""

from proofbook.execution.tracebacks import failure_of, with_traceback
from tables import table


def _raised(code: str, filename: str = "<block 2>") -> BaseException:
    try:
        exec(compile(code, filename, "exec"), {})
    except BaseException as error:
        return error
    raise AssertionError("nothing was raised")


@table("how", ["", " from e"])
def test_frames_above_the_page_s_code_are_cut_and_causes_are_told(how):
    error = _raised(f"try:\n    1 / 0\nexcept ArithmeticError as e:\n    raise KeyError('k'){how}")
    failure = failure_of(error, "<block 2>")
    assert (failure.reason, failure.line) == ("KeyError: 'k'", 3)
    assert failure.detail.count('File "') == 2
    assert __file__ not in failure.detail


ODD = """
class Odd(Exception):
    __module__ = '__main__'
    def __str__(self):
        return 1 / 0
raise Odd()
"""


@table(
    ("code", "reason"),
    [
        ("raise ValueError('one\\ntwo')", "ValueError: one"),
        ("raise ValueError", "ValueError"),
        ("import binascii; binascii.unhexlify('a')", "binascii.Error: Odd-length string"),
        ("class E(Exception): __module__ = '__main__'\nraise E('x')", "E: x"),
        (ODD, "Odd: (its message cannot be shown)"),
        (
            "raise SystemExit(2)",
            "SystemExit: the block called sys.exit(2); a page must run to its end",
        ),
    ],
)
def test_reasons_are_one_line(code, reason):
    assert failure_of(_raised(code), "<block 2>").reason == reason


def test_an_error_is_shown_as_an_interpreter_shows_it_but_for_its_stack():
    raised = _raised("import json; json.loads('')")
    assert with_traceback("", raised) == (
        "Traceback (most recent call last):\n"
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 1 (char 0)\n"
    )
    assert with_traceback("a", _raised("x = = 2")) == (
        "a\nTraceback (most recent call last):\nSyntaxError: invalid syntax\n"
    )
