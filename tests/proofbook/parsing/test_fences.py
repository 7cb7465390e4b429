"""Fences are found where SuperFences finds them, and what it would skip is named."""

import re
from doctest import DocTestParser
from string import ascii_letters

from hypothesis import assume, given
from hypothesis import strategies as st
from pygments.lexers import get_all_lexers

from proofbook.parsing.fences import OPTIONS, scan
from tables import table

PROMPTS = [">>> 1\n1", "\n\n>>> 1\n1", "# so\n>>> 1\n1", "  >>> 1\n  1", ">>>\n>>> 1\n1"]
PLAIN = [
    "def f():\n    '''\n    >>> f()\n    1\n    '''\n    return 1",
    "'''\n>>> 1\n1\n'''",
    "text = '''\\\n>>> 1\n'''",
    "x >>1\n",
    "x\n>>> 1\n1",
    "# >>> 1\nx",
    ">>>1",
]


@table("code", PROMPTS)
def test_a_python_fence_that_begins_with_a_prompt_is_a_doctest_in_everything(code):
    as_python, as_pycon = (
        scan(f"```{language} title='x' timeout='3'\n{code}\n```")
        for language in ("python", "pycon")
    )
    (fence,), (other,) = as_python.fences, as_pycon.fences
    assert (fence.kind, fence.language, fence.code, fence.timeout, fence.options) == (
        (other.kind, other.language, other.code, other.timeout, other.options)
    )
    assert as_python.faults == as_pycon.faults


@table("code", PLAIN)
def test_prompts_elsewhere_make_no_doctest(code):
    assert [fence.kind for fence in scan(f"```python\n{code}\n```").fences] == ["python"]


def test_a_doctest_takes_a_doctest_s_options_in_whichever_fence():
    [(_, fault)] = scan("```python source='below'\n>>> 1\n1\n```").faults
    assert "unknown option 'source' here" in fault
    off = scan("```python exec='off' reason='slow'\n>>> 1\n1\n```")
    assert ([fence.kind for fence in off.fences], off.faults) == (["off"], [])


@table(
    ("text", "line", "message"),
    [
        ("a\n\n```python\nx", 3, "never closed"),
        ("```text\nx", 1, "never closed"),
        ("a\n    ```python\nx\n    ```", 2, "line 3 is indented less"),
        ("```Python\nx\n```", 1, "'Python' fence would not run"),
        ("```py\nx\n```", 1, "'py' fence would not run"),
        ("```PyCon\n>>> 1\n1\n```", 1, "'PyCon' fence would not be checked"),
        ("```{ .python title='x' }\nx\n```", 1, "write options without braces"),
        ("```python timeout=3\nx\n```", 1, "cannot read 'timeout=3'"),
        ("```python timeout='0'\nx\n```", 1, 'timeout="0" cannot be read'),
        ("```python timeout='soon'\nx\n```", 1, 'timeout="soon" cannot be read'),
        ("```python hidden\nx\n```", 1, "cannot read 'hidden'"),
        ("```python foo='1'\nx\n```", 1, "unknown option 'foo'"),
        ("```python reason='x'\nx\n```", 1, "unknown option 'reason'"),
        ("```python id='a' id='b'\nx\n```", 1, "'id' is given twice"),
        ("```python session='a'\nx\n```", 1, "session= is not supported"),
        ("```python exec='on'\nx\n```", 1, "a python fence runs anyway, so leave it out"),
        ("```python exec='1' source='above'\nx\n```", 1, "a python fence runs anyway"),
        ("```python exec='maybe' reason='x'\nx\n```", 1, 'exec="maybe" cannot be read'),
        ("```python exec='off'\nx\n```", 1, "needs a reason"),
        ("```python exec='off' reason=' '\nx\n```", 1, 'reason=" " cannot be read'),
        ("```python show='m:f'\nx\n```", 1, "leave it empty"),
        ("```python source='console'\nx\n```", 1, 'source="console" cannot be read'),
        ("```pycon\n1 + 1\n```", 1, "without a prompt"),
        ("```pycon\n>>> x\n 1\n >>>y\n```", 1, "doctest cannot be read"),
        ("```pycon\n>>> x  # doctest: +SKIP\n1\n```", 1, "directives are not supported"),
        ("```pycon\nIt is 4.\n>>> 1\n1\n```", 1, "nothing checks 'It is 4.'"),
        ("```pycon\n>>> 1\n1\n\nIt is 4.\n```", 1, "nothing checks 'It is 4.'"),
        ("```pycon\n>>> 1\n1\n>>> # so\n4\n```", 1, "nothing checks '4'"),
        ("```pycon\n>>> 1\n1\n\n# so\n4\n>>> 1\n1\n```", 1, "nothing checks '4'"),
        ("```pycon\n>>> # so\n4\n>>> 1\n1\n```", 1, "nothing checks '4'"),
        ("```pycon\n>>> 1\n1\n>>>\n4\n```", 1, "nothing checks '4'"),
        ("```pycon\n>>> 1\n1\n\n... 4\n```", 1, "nothing checks '... 4'"),
    ],
)
def test_what_would_be_skipped_in_silence_is_a_fault(text, line, message):
    found, fault = scan(text).faults[0]
    assert found == line
    assert re.search(re.escape(message), fault)


PYTHON_LIKE = [
    *("py", "Py", "python3", "python2", "python3.11", "py3", "py2", "pyi", "pyw", ".py", "ipython"),
    *("ipython3", "PYTHON", "micropython", "python-exec", "language-python", "numpy", "ipynb"),
    *("python,ignore", "python:main.py", "python;x", "python/3", "{python}", "{py}", "{.py}"),
    *("{ .PYTHON }", "{ .text .python }", "{.python .annotate}", "{python, echo=FALSE}", "=python"),
    *("{code-cell} python", "{code-cell} ipython3", "{code-block} python", "{pyodide-python}"),
    *("py title='x'", "!python", "[python]", "python{1}", "python#L1"),
]
SESSION_LIKE = [
    *("PyCon", "pycon3", "pyconsole", "python-console", "python-repl", "python_shell", "doctest"),
    *("{ .pycon }", "{doctest}", "pycon,ignore", "ipython-session", "{.python-console}"),
]
OTHERS = [
    *(
        "",
        "text",
        "pytb",
        "py3tb",
        "python-traceback",
        "{.python-output}",
        "java",
        "console",
        "happy",
    ),
    *("copy", "numpydoc", "{.text .pyramid}", 'bash title="python main.py"', "diff", "{.typst}"),
    *("{admonition} Notes for Python 3.14", "text Python output", "text facts", "md exec='1'"),
    *("bash exec='on'", "console exec='1'", "{note} A pycon session"),
    *("yaml title='.py'", "toml", "c++", "sh", "cython", "jython", "factor", "icon", "artifacts"),
]
FACTS_LIKE = [
    *("Facts", "FACTS", "facts:", "{facts}", "{.facts}", "{ .facts }", "fact", "Fact", "{.fact}"),
    *("fatcs", "acts", "fakts", "facts.", "fac-ts", "facts,x", "=facts"),
]


@table("ticks", ["```", "~~~", "`````", "``` "])
@table("margin", ["", "    ", "> ", "> - x\n>\n>     "])
@table(
    ("headers", "message"),
    [
        (PYTHON_LIKE, "would not run; write ```python"),
        (SESSION_LIKE, "checked; write ```pycon"),
        (FACTS_LIKE, "checked; write ```facts"),
    ],
)
def test_ours_by_another_name_is_a_fault(headers, message, ticks, margin):
    *before, margin = margin.split("\n")
    for header in headers:
        lines = [*before, *(f"{margin}{line}" for line in (f"{ticks}{header}", "x", ticks.strip()))]
        [(_, fault)] = scan("\n".join(lines)).faults
        assert message in fault, header


@table("header", OTHERS)
def test_other_languages_are_left_alone(header):
    found = scan(f"```{header}\nx\n```")
    assert (found.fences, found.faults) == ([], [])


def test_comments_between_prompts_are_comments():
    found = scan("```pycon\n# first\n>>> x = 1\n\n# about the next one\n>>> x\n1\n\n# last\n```")
    assert found.faults == []


@given(st.sampled_from(["python", "pycon", "facts"]), st.data())
def test_ours_with_one_slip_of_the_fingers_is_a_fault(name, data):
    at = data.draw(st.integers(0, len(name) - 1))
    letter = data.draw(st.sampled_from(ascii_letters))
    slips = [
        name[:at] + name[at + 1 :],  # a letter too few
        name[:at] + letter + name[at:],  # one too many
        name[:at] + letter + name[at + 1 :],  # another
        name[:at] + name[at + 1 : at + 2] + name[at] + name[at + 2 :],  # two in the wrong order
    ]
    written = data.draw(st.sampled_from([slip for slip in slips if slip != name]))
    assume(written.lower() not in ("cython", "jython"))
    [fault] = [message for _, message in scan(f"```{written}\nx\n```").faults]
    assert f"write ```{name[:2]}" in fault  # "pyhcon" is near both


def test_no_language_with_colors_of_its_own_is_taken_for_a_slip():
    names = {alias.lower() for lexer in get_all_lexers() for alias in lexer[1]}
    taken = {name for name in names if scan(f"```{name}\nx\n```").faults}
    assert len(names) > 500
    assert taken <= {name for name in names if re.search(r"py|numpy|sage|doctest", name)}
    assert "cython" not in taken


BESIDE = {"show": {"show": "m"}, "off": {"exec": "off", "reason": "x"}}
KIND_NAMES = {"pycon": "pycon", "facts": "facts"}
BODY = {"python": "x\n", "pycon": ">>> 1\n1\n"}


def faults_with(kind: str, options: dict[str, str]) -> list[str]:
    """What is wrong with a fence of a kind that has these options."""
    given = {**BESIDE.get(kind, {}), **options}
    header = " ".join([KIND_NAMES.get(kind, "python"), *(f'{n}="{v}"' for n, v in given.items())])
    return [message for _, message in scan(f"```{header}\n{BODY.get(kind, '')}```").faults]


@table(("kind", "name"), [(kind, name) for kind in OPTIONS for name in OPTIONS[kind]])
def test_an_option_that_cannot_be_read_says_what_can(kind, name):
    [fault] = [one for one in faults_with(kind, {name: ""}) if "cannot be read" in one]
    start, _, how = fault.partition(": write ")
    assert start == f'{name}="" cannot be read'
    assert how
    for written in re.findall(r'"([^"]+)"', how):
        assert faults_with(kind, {name: written}) == []
    [bare] = [message for _, message in scan(f"```python {name}\nx\n```").faults]
    assert bare.endswith(f"after {name}=, write {how}")


@table("seconds", ["1", "0.5", "12.25", ".5", "600", "999999", "1.", "0.001"])
def test_seconds_can_be_given(seconds):
    [fence] = scan(f"```python timeout='{seconds}'\nx\n```").fences
    assert fence.timeout == float(seconds)


@table(
    "seconds",
    ["", "0", "0.0", ".", "1.2.3", "1e3", "-1", "inf", "nan", "9" * 400, "٣", "1,5", " 1"],
)
def test_what_are_no_seconds_is_a_fault(seconds):
    found = scan(f"```python timeout='{seconds}'\nx\n```")
    [(_, fault)] = found.faults
    assert fault.startswith(f'timeout="{seconds}" cannot be read: write seconds')
    assert found.fences[0].timeout is None


@table(
    "before",
    [
        "<script>\n<!--\nvar x = 1;\n</script>",
        "<SCRIPT type='module'><!-- x </SCRIPT>",
        "<style>\n/* <!-- */\n</style>",
        "<script>'</style>'; '<!--'</script>",
        "<!-- <script> -->",
        "<!--\n<style>\n-->",
        "Say `<!--` here.",
    ],
)
def test_what_opens_no_comment_hides_nothing(before):
    text = f"{before}\n\nProse.\n\n```python\nx\n```"
    found = scan(text)
    assert [fence.code for fence in found.fences] == ["x"]
    assert any("Prose." in text[start:end] for start, end in found.prose)


LINES = st.sampled_from(
    [">>> x", ">>> if x:", "...     y", "...", ">>>", ">>> # so", "... # so", "4", "It is 4.", ""]
)


@given(st.lists(LINES, max_size=10))
def test_every_line_of_a_doctest_runs_or_is_compared_or_is_refused(lines):
    found = scan("\n".join(["```pycon", *lines, "```"]))
    if found.faults:
        return
    [fence] = found.fences
    rest = [line for line in lines if line.strip(" .>") and "#" not in line]
    for example in DocTestParser().get_examples(fence.code):
        sources = [line for line in example.source.split("\n") if line and "#" not in line]
        for line in [*sources, *example.want.split("\n")]:
            written = [one for one in rest if one in (line, f">>> {line}", f"... {line}")]
            if written:
                rest.remove(written[0])
    assert rest == []
