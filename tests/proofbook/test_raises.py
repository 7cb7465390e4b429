"""A block may be there to raise: just that error, in its last statement; then all goes on."""

import json
import subprocess
import sys

import nbformat
import pytest
from books import ABOUT, rendered

from proofbook.checking.update import updated
from proofbook.coverage.coverage import cover
from proofbook.notebook.export import notebook
from proofbook.notebook.programs import program_of
from proofbook.parsing.fences import scan
from proofbook.rendering.ledger import counts
from tables import table


def fence(code, raises, more=""):
    quote = "'" if '"' in raises else '"'
    return f"```python raises={quote}{raises}{quote}{more}\n{code}\n```\n"


def problems(book, *parts):
    [checked] = book.check({"p.md": "\n".join(parts)})
    return checked.problems


ZERO = "ZeroDivisionError: division by zero"
RIGHT = {
    "a message": ("raise ValueError('10 does not fit')", "ValueError: 10 does not fit"),
    "no message": ("raise KeyboardInterrupt", "KeyboardInterrupt"),
    "quotes": ("raise ValueError('say \"a\"')", 'ValueError: say "a"'),
    "a key": ("{}['a']", "KeyError: 'a'"),
    "an exit": ("import sys\nsys.exit(2)", "SystemExit: 2"),
    "a module's error": (
        "import json\njson.loads('[')",
        "json.decoder.JSONDecodeError: Expecting value: line 1 column 2 (char 1)",
    ),
    "the page's own": ("class Odd(Exception): ...\n\nraise Odd('é: ü')", "Odd: é: ü"),
    "an import": ("import no_such", "ModuleNotFoundError: No module named 'no_such'"),
    "a statement of many lines": ("for n in (1, 0):\n    1 / n", ZERO),
    "a cause": ("try:\n    {}[1]\nexcept KeyError as e:\n    raise OSError from e", "OSError"),
    "a repr": ("class A:\n    def __repr__(self):\n        return 1 / 0\n\nA()", ZERO),
    "comments behind": ("1 / 0\n# so it is", ZERO),
}  # fmt: skip


@table("what", RIGHT)
def test_the_error_that_is_named_passes_and_the_page_goes_on(book, what):
    code, raises = RIGHT[what]
    assert problems(book, fence(code, raises), "```pycon\n>>> 2\n2\n```") == []
    after = problems(book, fence(code, raises), "```pycon\n>>> 2\n3\n```")
    assert ["differs" in one.message for one in after] == [True]


WRONG = {
    "another message": ("1\nint('a')", "ValueError: b", 3, "something else", "- ValueError: b"),
    "another type": ("1 / 0", "ValueError: division by zero", 2, "something else", "+ ZeroDiv"),
    "no message given": ("1 / 0", "ZeroDivisionError", 2, "something else", "+ ZeroDiv"),
    "a message too many": ("raise ValueError", "ValueError: a", 2, "something", "+ ValueError"),
    "nothing": ("x = 1\ny = 2", "ValueError: a", 3, "raises nothing", "- ValueError: a"),
    "no statement": ("# so", "ValueError: a", 2, "raises nothing", "- ValueError: a"),
    "a part of it": ("raise ValueError('ab')", "ValueError: a", 2, "else", "+ ValueError: ab"),
    "several lines": ("raise ValueError('a\\nb')", "ValueError: a", 2, "write a doctest", "+ b"),
    "a note": ("e = KeyError()\ne.add_note('b')\nraise e", "KeyError", 4, "doctest", "+ b"),
    "a backtick": ("raise ValueError('`a`')", "ValueError: a", 2, "write a doctest", "+ Val"),
    "the module left out": ("import json\njson.loads('')", "JSONDecodeError: E", 3, "else", "+ js"),
    "what is behind": ("x = 1\n1 / 0\ny = 2", ZERO, 3, "never runs", ""),
    "code that is none": ("x = (", "SyntaxError: '(' was never closed", 2, "runs nothing", ""),
}  # fmt: skip


@table("what", WRONG)
def test_anything_else_is_a_problem_where_it_happens(book, what):
    code, raises, line, message, detail = WRONG[what]
    [problem] = problems(book, fence(code, raises))
    assert problem.line == line
    assert message in problem.message
    assert detail in problem.detail


def test_what_only_follows_from_an_earlier_failure_is_not_told_here_either(book):
    gone = "```python\nx = 1 / 0\n```\n"
    assert [one.line for one in problems(book, gone, fence("x", "ValueError: a"))] == [2]
    old = "```python\nx = 1\nx = 0 / 0\n```\n"
    assert [one.line for one in problems(book, old, fence("1 / x", ZERO))] == [3]
    assert [one.line for one in problems(book, old, fence("1 / 1", ZERO))] == [3, 7]


@table("raises", ["", "1", "ValueError:", "ValueError: ", "a b", ": a", "a-b: c"])
def test_what_is_no_last_line_of_a_traceback_is_a_fault(raises):
    [(line, fault)] = scan(f"```python raises='{raises}'\nx\n```").faults
    assert (line, "write the line that its traceback ends with" in fault) == (1, True)


@table("language", ["pycon", 'python show="m"', "python exec='off' reason='a'"])
def test_only_a_block_that_runs_is_there_to_raise(language):
    code = "" if "show" in language else ">>> 1\n1"
    [(_, fault)] = scan(f"```{language} raises='KeyError'\n{code}\n```").faults
    assert "unknown option 'raises' here" in fault


PAGE = """\
```python
x = 5
```

```python raises="IndexError: pop from empty list"
y = x + 1
total = [].pop()
```

```python
y * 2
```

It says `pop from empty list`, and y is [6]{ equals="y" }.
"""


@pytest.fixture(scope="module")
def checked(book):
    [found] = book.check({"p.md": PAGE})
    assert found.problems == []
    return found


def test_the_page_shows_the_error_below_the_code_and_counts_the_block(book, checked):
    html = rendered(book, PAGE)
    shown = (
        '<pre class="proofbook-raised" tabindex="0"><code>IndexError: pop from empty list</code>'
    )
    assert html.count(shown) == 1
    assert html.index("total") < html.index(shown) < html.index("12")
    assert "proofbook-error" not in html
    assert counts(checked)["blocks"] == 3
    assert cover(checked, book.settings).uncovered == ()  # the error may be quoted


def test_update_leaves_it_alone(checked):
    assert updated(PAGE, checked) == PAGE


def test_its_program_catches_it_and_goes_on(checked):
    made = program_of(checked.page.chapter.blocks, checked.run.blocks)
    done = subprocess.run(
        [sys.executable, "-c", made.up_to(2)], capture_output=True, text=True, check=True
    )
    assert done.stdout == "IndexError: pop from empty list\n12\n"


def test_the_notebook_runs_on(book, checked):
    text = notebook(checked, book.settings, ABOUT)
    nbformat.validate(json.loads(text))
    cells = {cell.id: cell for cell in nbformat.reads(text, as_version=4).cells}
    raising = cells["block-2"]
    assert raising.metadata["tags"] == ["raises-exception"]
    [output] = raising.outputs
    assert (output.output_type, output.ename) == ("error", "IndexError")
    assert (output.evalue, output.traceback) == (
        "pop from empty list",
        ["IndexError: pop from empty list"],
    )
    assert "tags" not in cells["block-1"].metadata


def test_a_doctest_may_show_how_code_that_cannot_be_parsed_fails(book):
    error = "Traceback (most recent call last):\nSyntaxError: invalid syntax"
    page = f"```pycon\n>>> x = 2\n>>> y = import os\n{error}\n>>> x\n2\n```\n"
    [checked] = book.check({"p.md": page})
    assert checked.problems == []
    made = program_of(checked.page.chapter.blocks, checked.run.blocks)
    assert made.script() == "x = 2\n# y = import os\nprint(x)\n"
    cells = json.loads(notebook(checked, book.settings, ABOUT))["cells"]
    source = "".join(cells[-2]["source"])
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, check=True
    )
    assert done.stdout == "SyntaxError: invalid syntax\n"
    assert cells[-2]["outputs"][0]["text"] == [done.stdout]
