"""Pages made at random, with what is true and what is false in each known from how it was made.

Nothing here asks the engine: each value is computed beside the code that will compute it again.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal

WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
TEXTS = ["pear", "plum tree", "a, b", "Δ = é", "x_y", "two  apples", "日本"]
PROSE = [
    "Nothing here is computed.",
    "A [link](other.md), *emphasis*, `a.code` and **more** of it.",
    "It cost &amp; was 3 < 4, says https://example.org/a_b_c.",
    "| a | b |\n|---|---|\n| 1 | `2` |",
    "- one\n- two\n\n    of two",
    "# A heading",
    "A \\{ brace, a \\` tick, “quotes” and 日本語.",
    "![a picture](a.png){ width=40 }",
    "<figure markdown>\nIn HTML.\n</figure>",
    "```text\nlarge {x} and ~~~ and [2]\n```",
    "~~~\n``` python\n~~~",
]
SIGNS = [
    *("`", "``", "**", "_", "*", "*_`", "\\", "[", "]", "![", "](", "(", ")", "|", "{", "}"),
    *("!", "<", "<b", "<b>", "</b>", "<!--", "-->", "<!-- all of it -->", "<a href='", "<a>"),
    *('"', ">", "&", "$", "\x00", "\x02", "\x03", "\u2028", "\x0c", "\ufeff", "\u202e"),
    *("\u200b", "\xa0", "\r", "\x85", "~~", "<span hidden>", "</span>", "<code>", "</code>"),
    *("<br>", "<img alt='", "<?", "<![CDATA[", "]]>"),
]  # fmt: skip
"""What may hide or change its neighbours, and is no fault by itself; none is a digit or a minus."""
QUIET = [
    *SIGNS,
    *("</div>", "<div>", "<div markdown>", "<pre>", "</pre>", "<script>", "</script>"),
    *("<style>", "</style>", "[^1]", "[a]: b", "    indented", "\tin", "> ", "- ", "1. "),
    *("!!! note", "!!!", '??? "x"', '=== "Tab"', "| a |\n|---|", "---", "===", "# "),
    *("<details>", "<p>", "</p>", "<textarea>", "<template>", "<svg>", "<table>", "<!-- `"),
    *("` -->", "<!DOCTYPE", "</"),
]  # fmt: skip
FAULTS = [
    *("[5]{ equals='1' equals='2' }", "[]{ equals='v1' }", "[5]{ equals=v1 }"),
    *("5{ equals='v1' }", "[5]{ equals='v1 +' }", "[[5]]{equals='v1'}", "`v1`{ hold }"),
    *("[5]{ .literal }", "{ holds }", '[5]{ .literal reason="guess" }', '[2]{ value="v1" }'),
    *('[5]{ equals="v1" .literal }', "[5]{ equals='[5]{ equals=1 }' }"),
    *("[5]{ equals='" + "-" * 3000 + "1' }", "```", "````", "~~~", "~~~text", "```python"),
    *("````text", "```pycon", "```facts", "{ equals=", "{: holds }", "⟦claim 0⟧", "⟦end fact⟧"),
    *("&#123; equals='x' }", "```python exec='off'\nx\n```", "```facts\n```"),
    *("```facts\nno colon\n```", "```pycon\n1\n```", "```facts\na: " + "-" * 3000 + "v1\n```"),
    *("```python title=x\n1\n```", "```{python}\n1\n```", '```python session="a"\n1\n```'),
    *('```python id="a" id="b"\n1\n```', '```python show="lib"\n1\n```'),
    *('```python show="no.such"\n```', '```python show="lib:f" only="("\n```'),
    *('```python show="lib:"\n```', '```python timeout="x"\n1\n```', '```pycon\n>>> (\n1\n```'),
    *("```pycon\n>>>1\n```", "```py\n1\n```", '```python hl_lines="x"\n1\n```'),
    *('```python linenums="-1"\n1\n```', '```python id="<"\n1\n```'),
    *('```python source="left"\n1\n```', '```python hl_lines="9-1"\n1\n```'),
    *("~~~ python\n1\n~~~", '```python raises=""\n1\n```', "```python raises='1'\n1 / 0\n```"),
    *('```python hide="code"\n1\n```', '```python fold="code" source="below"\n1\n```'),
]  # fmt: skip
HEADERS = [
    *("---\ntitle: A page\ntags: [a, 'b']\n---\n", "---\nreads:\n  - lib.txt\n---\n", "---\n---\n"),
    *("---\nsymbols:\n  n: v1 + 1\n---\n\n", "---\ntitle: x\nsymbols: {}\n...\n"),
]
GARBAGE = [
    *("---\n", "---\n{\n---\n", "---\n- a\n---\n", "---\n5\n---\n", "---\nreads: x\n---\n"),
    *("---\nreads:\n- [a]\n- {b: c}\n- ''\n---\n", "---\nreads: &a [*a]\n---\n"),
    *("---\n\t\n---\n", "---\nreads:\n- '" + "a/" * 3000 + "'\n---\n"),
    *("---\nreads: ['**', '/', '..', '[', '\0']\n---\n", "---\nsymbols: 1\n---\n"),
    *("---\nsymbols:\n  a: ')'\n  ? [b]\n  : c\n---\n",),
    *("---\nsymbols:\n  a: " + "-" * 3000 + "v1\n---\n",),
    *("---\nsymbols: {a: [1], b: {c: d}, e: }\n---\n",),
    *("---\nreads: !!python/object:os.system [x]\n---\n",),
    *("---\n? {a: b}\n: c\nreads: [x]\n---\n",),
    *("---\nsymbols:\n  a: \"\\0\"\n  b: \"\\uD800\"\n---\n", "---\na: b\n---"),
    *("\ufeff---\nreads: [a]\n---\n",),
]  # fmt: skip


@dataclass(frozen=True)
class Falsehood:
    """Something wrong in a page, and how to see that a reader meets it.

    Attributes:
        what: What is wrong.
        shown_as: `prose` stands between two copies of its mark; `fence` has the mark in a fence
            that Markdown shows as one; `always` counts wherever it stands.
        mark: A word that stands nowhere else in the page.
    """

    what: str
    shown_as: Literal["prose", "fence", "always"] = "always"
    mark: str = ""


@dataclass(frozen=True)
class Piece:
    """A part of a page with what is wrong in it."""

    text: str
    falsehoods: tuple[Falsehood, ...] = ()


@dataclass(frozen=True)
class WrongPage:
    """A page as it was made; `make_page` of its number makes it again.

    Attributes:
        number: What it was made from.
        text: The page.
        falsehoods: All that is false in it, if a reader meets it.
        is_plain: Whether all else in it is well-formed and true.
    """

    number: int
    text: str
    falsehoods: tuple[Falsehood, ...] = ()
    is_plain: bool = True

    @property
    def path(self) -> str:
        """A file for it."""
        return f"docs/p{self.number}.md"


@dataclass
class Writer:
    """Writes pieces, and keeps the value of each name that they bind."""

    rng: Random
    values: dict[str, Any] = field(default_factory=dict)
    marks: int = 0

    def mark(self) -> str:
        """Return a word that was not there yet."""
        self.marks += 1
        return f"zq{self.marks}k"

    def name(self, *kinds: type) -> str:
        """Choose a name whose value is of one of these kinds."""
        named = [name for name, value in self.values.items() if type(value) in kinds]
        return self.rng.choice(named)


def make_page(number: int) -> WrongPage:
    """Make a page: right (two of five), right but for one thing (one of five), or odd."""
    rng = Random(f"page {number}")
    mode = rng.choice(["right", "right", "wrong", "odd", "odd"])
    writer = Writer(rng)
    wrong = {"right": 0, "wrong": 1, "odd": rng.randint(0, 3)}[mode]
    makers = [*rng.choices(TRUE, k=rng.randint(2, 6)), *rng.choices(FALSE, k=wrong)]
    rng.shuffle(makers)
    pieces = [_header(rng, mode), _block(writer, 3)]
    pieces += [_placed(writer, make(writer), mode) for make in makers]
    if mode == "odd" and rng.random() < 0.7:
        pieces[1:] = _disturbed(writer, pieces[1:])
    text = pieces[0].text + "\n\n".join(piece.text for piece in pieces[1:]) + "\n"
    falsehoods = tuple(one for piece in pieces for one in piece.falsehoods)
    if mode == "odd" and rng.random() < 0.3:  # what is false in it is not known any more
        text, falsehoods = _mutated(writer, text), ()
    return WrongPage(number, text, falsehoods, mode != "odd")


def _header(rng: Random, mode: str) -> Piece:
    """Front matter, or none."""
    if rng.random() < 0.7:
        return Piece("")
    if mode == "right" or rng.random() < 0.5:
        return Piece(rng.choice(HEADERS))
    missing = Piece("---\nreads:\n  - no/such.txt\n---\n", (Falsehood("reads no file"),))
    return missing if mode == "wrong" else Piece(rng.choice(GARBAGE))


# -- What runs -------------------------------------------------------------------------------------


def _block(writer: Writer, statements: int) -> Piece:
    lines = [_statement(writer) for _ in range(statements)]
    rng = writer.rng
    if rng.random() < 0.5:
        lines.append(rng.choice(["print({})", "{}"]).format(rng.choice([*writer.values])))
    return Piece(_fence(writer, "python", "\n".join(lines)))


RAISING = {
    "1 / 0": "ZeroDivisionError: division by zero",
    "[][1]": "IndexError: list index out of range",
    "raise KeyError('é')": "KeyError: 'é'",
    "import no_such_module": "ModuleNotFoundError: No module named 'no_such_module'",
    "for n in (1, 0):\n    1 / n": "ZeroDivisionError: division by zero",
    "raise SystemExit(3)": "SystemExit: 3",
    "raise KeyboardInterrupt": "KeyboardInterrupt",
}
"""Statements, and the lines that their tracebacks end with."""


def _raising(before: str, code: str, raises: str, behind: str = "") -> str:
    return f'```python raises="{raises}"\n{before}{code}{behind}\n```'


def _true_block(writer: Writer) -> Piece:
    if writer.rng.random() < 0.1:
        code = writer.rng.choice([*RAISING])
        return Piece(_raising(f"{_statement(writer)}\n", code, RAISING[code]))
    if writer.rng.random() < 0.15:
        return Piece(writer.rng.choice([
            '```python show="lib:f"\n```',
            '```python show="lib" title="All of it"\n```',
            '```python\n# nothing\n```',
        ]))  # fmt: skip
    return _block(writer, writer.rng.randint(1, 3))


def _false_block(writer: Writer) -> Piece:
    """A block that raises, or that is there to raise and does otherwise."""
    mark = writer.mark()
    if writer.rng.random() < 0.3:
        code = writer.rng.choice([*RAISING])
        right = RAISING[code]
        text = writer.rng.choice([
            _raising(f"# {mark}\n", code, f"{right}s"),
            _raising(f"# {mark}\n", code, f"Odd{right}"),
            _raising(f"# {mark}\n", code, right.partition(" ")[0].rstrip(":") + ": x"),
            _raising(f"# {mark}\n", "1 / 1", right),
            _raising(f"# {mark}\n", code, right, "\nx = 1"),
            _raising(f"# {mark}\n", "x = (", "SyntaxError: '(' was never closed"),
        ])  # fmt: skip
        return Piece(text, (Falsehood(f"raises something else than {right}", "fence", mark),))
    what = writer.rng.choice([
        "1 / 0", "assert False", "undefined_name", "import no_such_module", "raise SystemExit(3)",
        "[][1]", "x = (", "return 1", "raise KeyboardInterrupt", "def f(:\n    pass", "\tx = 1",
        "exec('1 +')", "raise type('Odd', (BaseException,), {})('é')", "await x", "raise 1",
    ])  # fmt: skip
    code = f"# {mark}\n{what}"
    return Piece(f"```python\n{code}\n```", (Falsehood(f"raises: {what}", "fence", mark),))


def _statement(writer: Writer) -> str:
    """Bind a new name; no name is bound twice, so that a lost block makes nothing false true."""
    rng, values = writer.rng, writer.values
    name = f"v{len(values) + 1}"
    ints = [known for known, value in values.items() if type(value) is int]
    kind = rng.choice(["int", "sum", "list", "text", "float", "loop", "call"]) if ints else "int"
    if kind == "int":
        values[name] = rng.choice(
            [rng.randint(0, 10), rng.randint(-50, 50), rng.randint(0, 99_999)]
        )
        return f"{name} = {values[name]}"
    known, k = rng.choice(ints), rng.randint(2, 9)
    other = rng.choice(ints)
    if kind == "sum":
        values[name] = values[known] * k - values[other]
        return f"{name} = {known} * {k} - {other}"
    if kind == "list":
        values[name] = [values[known], k, values[other] + 1]
        return f"{name} = [{known}, {k}, {other} + 1]"
    if kind == "text":
        text = rng.choice(TEXTS)
        values[name] = text + str(k)
        return f"{name} = {text!r} + str({k})"
    if kind == "float":
        numerator = rng.randint(-400, 400) * 2 + 1
        values[name] = numerator / 16
        return f"{name} = {numerator} / 16"
    if kind == "loop":
        values[name] = sum(i * k for i in range(5)) + values[known]
        return f"{name} = {known}\nfor i in range(5):\n    {name} += i * {k}"
    values[name] = (values[known] + k) * 3
    return f"def f_{name}(n):\n    return (n + {k}) * 3\n\n\n{name} = f_{name}({known})"


def _fence(writer: Writer, language: str, code: str) -> str:
    """A well-formed fence of a kind that shows and runs the same."""
    rng = writer.rng
    ticks = rng.choice(["```", "```", "```", "~~~", "````"])
    options = ""
    is_code = language == "python" and not code.lstrip().startswith(">>>")
    if language != "facts" and rng.random() < 0.4:
        options = rng.choice([
            ' title="A title"', ' hl_lines="1"', ' linenums="1"', ' timeout="30"',
            ' fold="code"' if is_code else ' title="B"', ' hide="output"' if is_code else "",
            f' id="{writer.mark()}"', " title='It''s'".replace("''", "’"),
        ])  # fmt: skip
    space = " " if rng.random() < 0.1 else ""
    return f"{ticks}{space}{language}{options}\n{code}\n{ticks}"


# -- Doctests --------------------------------------------------------------------------------------


def _examples(writer: Writer) -> list[tuple[str, str]]:
    """Sources and what each prints."""
    rng = writer.rng
    number = writer.name(int)
    value = writer.values[number]
    known = rng.choice([*writer.values])
    return rng.sample([
        (f"{number} + 1", repr(value + 1)),
        (f"print({number}, 'a  b')", f"{value} a  b"),
        (f"[{number}, 'x y']", repr([value, "x y"])),
        (known, repr(writer.values[known])),
        (f"{number} == {value}", "True"),
        (f"'{value}.0.1'", repr(f"{value}.0.1")),
        ("for i in range(2):\n    print(i)", "0\n1"),
        ("None", ""),
        ("print('a\\n\\nb')", "a\n<BLANKLINE>\nb"),
        ("[][1]", "Traceback (most recent call last):\nIndexError: list index out of range"),
        (f"{{'a': {number}}}", repr({"a": value})),
    ], rng.randint(1, 3))  # fmt: skip


def _doctest(writer: Writer, examples: Sequence[tuple[str, str]], mark: str = "") -> str:
    lines = [f">>> # {mark}"] if mark else []
    for source, output in examples:
        first, *more = source.split("\n")
        lines += [f">>> {first}", *(f"... {line}" for line in more)]
        lines += ["..."] if more else []
        lines += output.split("\n") if output else []
    return _fence(writer, writer.rng.choice(["pycon", "python"]), "\n".join(lines))


def _true_doctest(writer: Writer) -> Piece:
    return Piece(_doctest(writer, _examples(writer)))


def _false_doctest(writer: Writer) -> Piece:
    examples = _examples(writer)
    index = writer.rng.randrange(len(examples))
    source, output = examples[index]
    wrong = writer.rng.choice([
        f"{output}1" if output else "1",
        f"{output} or so",
        f"{output}\nmore",
        "" if output else "None",
        output.replace("a  b", "a b") if "a  b" in output else "'x'",
        output.replace("x y", "xy") if "x y" in output else "?",
        output.replace("IndexError", "KeyError") if "Index" in output else "<BLANKLINE>",
        output.replace(".0.1", ".0.10") if ".0.1" in output else "nan",
        f"-{output}",
    ])  # fmt: skip
    examples[index] = source, wrong
    mark = writer.mark()
    what = f"{source!r} prints {output!r}, not {wrong!r}"
    return Piece(_doctest(writer, examples, mark), (Falsehood(what, "fence", mark),))


# -- Claims ----------------------------------------------------------------------------------------


def _readings(writer: Writer) -> tuple[str, str, str]:
    """An expression, a text that says its value, and one that says another."""
    rng = writer.rng
    name = rng.choice([*writer.values])
    value, expression = writer.values[name], name
    if type(value) is list and rng.random() < 0.5:
        expression, value = f"{name}[2]", value[2]
    if type(value) is int:
        k = rng.randint(1, 9)
        if rng.random() < 0.5:
            expression, value = f"{expression} + {k}", value + k
        right = [str(value)]
        wrong = [str(value + 1), str(-value - 1), f"{value}.5", f"{value}0{k}", f"{value}%", "many"]
        if 0 <= value <= 10:
            right += [WORDS[value], WORDS[value].capitalize()]
            wrong += [WORDS[(value + 1) % 11], f"{WORDS[value]} one", f"ten {WORDS[value]}"]
        if value >= 1000:
            right.append(f"{value:,}")
            wrong += [f"{value + 1000:,}", f"{value:,}"[:-1]]
        return expression, rng.choice(right), rng.choice(wrong)
    if type(value) is float:
        digits = rng.randint(1, 4)
        right = [f"{value:.{digits}f}", f"{value:.6f}", f"{value:.3e}"]
        wrong = [f"{value + 2 * 10**-digits:.{digits}f}", f"{-value:.4f}", f"{value * 10:.4f}"]
        return expression, rng.choice(right), rng.choice(wrong)
    if type(value) is list:
        right = [str(value), f"({', '.join(map(str, value))})", " × ".join(map(str, value))]
        changed = [*value[:2], value[2] + 1]
        wrong = [str(changed), str(value[:2]), str([*value, 1]), f"[{value}]", str(value[0])]
        return expression, rng.choice(right), rng.choice(wrong)
    return expression, value, rng.choice([value[:-1], value + "x", value.upper() + "!"])


def _quoted(expression: str) -> str:
    return f"'{expression}'" if '"' in expression else f'"{expression}"'


def _equals(expression: str, text: str, rng: Random) -> str:
    """A claim on code, emphasis or a span."""
    safe = not set("*_[]`") & set(text) and text == text.strip() and "  " not in text
    target = rng.choice([f"[{text}]", f"*{text}*", f"**{text}**"]) if safe else f"`{text}`"
    if rng.random() < 0.2:
        target = f"`{text}`"
    space = rng.choice([" ", "", " "])
    return f"{target}{{{space}equals={_quoted(expression)}{space}}}"


def _condition(writer: Writer, is_true: bool) -> str:
    rng = writer.rng
    name = writer.name(int)
    value, k = writer.values[name], rng.randint(1, 9)
    return rng.choice(
        [f"{name} > {value - k}", f"{name} == {value}", f"{value - k} < {name} < {value + k}"]
        if is_true
        else [f"{name} > {value + k}", f"{name} == {value + k}", f"not {name} == {value}"]
    )  # fmt: skip


def _sentence(rng: Random, claim: str) -> str:
    return rng.choice([
        "We count {} of them.", "{} is what comes out", "So it is {}, as we said.",
        "A *long* `line` with ({}) in it,\nwhich goes on.", "- first\n- then {} there",
        "| a | b |\n|---|---|\n| it | {} |", "## With {} in a heading",
    ]).format(claim)  # fmt: skip


def _true_claim(writer: Writer) -> Piece:
    rng = writer.rng
    expression, right, _ = _readings(writer)
    name = writer.name(int)
    value = writer.values[name]
    claim = rng.choice([
        _equals(expression, right, rng),
        _equals(expression, right, rng),
        f"`{_condition(writer, True)}`{{ holds }}",
        f'[the rest]{{ holds="the rest: {_condition(writer, True)}" }}',
        f'[…]{{ value="{name}" holds="{name} == {value}" }}',
        '[5]{ .literal reason="example" }',
    ])  # fmt: skip
    return Piece(_sentence(rng, claim))


def _false_claim(writer: Writer) -> Piece:
    rng = writer.rng
    expression, right, wrong = _readings(writer)
    name = writer.name(int)
    value = writer.values[name]
    digits = str(abs(value) + 3)
    claim, what = rng.choice([
        (_equals(expression, wrong, rng), f"{expression} is {right!r}, not {wrong!r}"),
        (_equals(expression, wrong, rng), f"{expression} is {right!r}, not {wrong!r}"),
        (_equals("missing_name", right, rng), "a name that nothing binds"),
        (_equals("3", "3", rng), "a constant"),
        (f"`{_condition(writer, False)}`{{ holds }}", "a false condition"),
        (f'[the rest]{{ holds="the rest: {_condition(writer, False)}" }}', "a false condition"),
        ('[the rest]{ holds="the rest: 2 > 1" }', "a constant condition"),
        (f'[…]{{ value="{name}" holds="{_condition(writer, False)}" }}', "a false bound"),
        (f'[…]{{ value="{name}" }}', "a value without a bound"),
        (f"-{_equals(f'abs({name}) + 3', digits, Random(0))}", "a sign before it"),
        (f"1[{digits}]{{ equals='abs({name}) + 3' }}", "a digit before it"),
        (f"[{digits}]{{ equals='abs({name}) + 3' }}%", "a percent sign behind it"),
        (f"[{digits}]{{ equals='abs({name}) + 3' }} million", "a scale behind it"),
        (f"[{digits}]{{ equals='abs({name}) + 3' }}5", "a digit behind it"),
        (f"[<del>1</del>{digits}]{{ equals='abs({name}) + 3' }}", "struck out digits"),
        (f"[{digits}]{{ title='x' equals='{name} ** 2 + 1.5' }}", "another attribute first"),
        (f"`{digits}`{{ equal_to='{name} ** 2 + 1.5' }}", "a misspelled attribute"),
        (f"*{digits}*{{ Equals='{name} ** 2 + 1.5' }}", "an attribute in capitals"),
        (f"**{digits}**{{ data-equals='{name} ** 2 + 1.5' }}", "an attribute of data"),
    ])  # fmt: skip
    mark = writer.mark()
    text = _sentence(rng, f"{mark} {claim} {mark}")
    return Piece(text, (Falsehood(f"{what}: {claim}", "prose", mark),))


# -- Facts -----------------------------------------------------------------------------------------

SUBJECTS = ["The sum", "Each row", "Their *last* part", "What `f` returns", "The [span](a.md)"]
VERBS = ["is larger than", "grows with", "stays below", "never exceeds"]


def _told(writer: Writer) -> tuple[str, str]:
    """A sentence and a phrase of it."""
    rng = writer.rng
    words = [rng.choice(SUBJECTS), rng.choice(VERBS), "the other", f"number {writer.marks}a"]
    first, last = sorted(rng.sample(range(len(words) + 1), 2))
    text = f"{' '.join(words)}, as one sees.\nNothing else does."
    return text, " ".join(words[first:last])


def _bound(writer: Writer, text: str, phrase: str, expression: str) -> str:
    return f"{text}\n\n{_fence(writer, 'facts', f'{phrase}: {expression}')}"


def _true_facts(writer: Writer) -> Piece:
    return Piece(_bound(writer, *_told(writer), _condition(writer, True)))


def _false_facts(writer: Writer) -> Piece:
    rng = writer.rng
    text, phrase = _told(writer)
    mark = writer.mark()
    true, false = _condition(writer, True), _condition(writer, False)
    phrase, expression, what = rng.choice([
        (phrase, false, "a false expression"),
        (phrase, false, "a false expression"),
        (f"{phrase} hardly", true, "words that the page has not"),
        (f"Not {phrase}", true, "words that the page has not"),
        (phrase, "1 < 2", "a constant"),
        (phrase, f"{true} +", "no expression"),
        (phrase, "undefined_name > 3", "a name that nothing binds"),
        (phrase, "v1 / 0", "an expression that raises"),
        (phrase, "not " * rng.choice([84, 200, 400, 3000]) + false, "false, and nested deeply"),
        ("", true, "no phrase"),
        ("…", true, "no words"),
    ])  # fmt: skip
    fact = _fence(writer, "facts", f"{phrase}: ({expression}) and len('{mark}') > 0")
    return Piece(f"{text}\n\n{fact}", (Falsehood(f"{what}: {expression[:60]}", "fence", mark),))


def _prose(writer: Writer) -> Piece:
    return Piece(writer.rng.choice(PROSE))


TRUE = [_true_block, _true_claim, _true_claim, _true_claim, _true_facts, _true_doctest, _prose]
FALSE = [_false_claim, _false_claim, _false_claim, _false_facts, _false_doctest, _false_block]

# -- Places and odds -------------------------------------------------------------------------------


def _indented(text: str, first: str, prefix: str) -> str:
    lines = [prefix + line if line.strip() or prefix.strip() else "" for line in text.split("\n")]
    return first + "\n".join(lines)


PLACES: list[Callable[[str], str]] = [
    lambda text: _indented(text, '!!! note "A note"\n\n', "    "),
    lambda text: _indented(text, '??? tip "More"\n\n', "    "),
    lambda text: _indented(text, '=== "Tab"\n\n', "    "),
    lambda text: _indented(text, "1.  First\n\n", "    "),
    lambda text: _indented(text, "-   Item\n\n", "    "),
    lambda text: _indented(text, "", "> "),
]
ODD_PLACES: list[Callable[[str], str]] = [
    lambda text: _indented(text, "", "    "),
    lambda text: _indented(text, "", "\t"),
    lambda text: _indented(text, "", "  "),
    lambda text: _indented(text, "- x\n", "  "),
    lambda text: f"<!--\n{text}\n-->",
    lambda text: f"`````text\n{text}\n`````",
    lambda text: f"<div>\n{text}\n</div>",
    lambda text: f"<div>\n\n{text}\n\n</div>",
    lambda text: f"<pre>\n{text}\n</pre>",
    lambda text: f"<script>\n{text}\n</script>",
    lambda text: f"[{text}](a.md)",
    lambda text: f"![{text}](a.png)",
    lambda text: f"`{text}`",
    lambda text: f"**{text}**",
    lambda text: f"{text}{text}",
    lambda text: text.replace("\n", "\r\n"),
    lambda text: f'<span title="{text}">x</span>',
]


def _placed(writer: Writer, piece: Piece, mode: str) -> Piece:
    """A piece within lists, quotes, admonitions, tabs."""
    text = piece.text
    if mode == "odd" and writer.rng.random() < 0.4:
        for mark in (one.mark for one in piece.falsehoods if one.shown_as == "prose"):
            before, claim, after = text.split(mark)
            signs = ["", *SIGNS]
            claim = f" {writer.rng.choice(signs)}{claim[1:-1]}{writer.rng.choice(signs)} "
            text = f"{before}{mark}{claim}{mark}{after}"
    if writer.rng.random() < 0.25 and not text.startswith("#"):
        text = writer.rng.choice(PLACES)(text)
        if writer.rng.random() < 0.3:
            text = writer.rng.choice(PLACES[:5])(text)
    if mode == "odd" and writer.rng.random() < 0.2:
        text = writer.rng.choice(ODD_PLACES)(text)
    return replace(piece, text=text)


def _disturbed(writer: Writer, pieces: Sequence[Piece]) -> list[Piece]:
    """Put what may swallow or break its neighbours between pieces, or directly beside one."""
    rng = writer.rng
    disturbed = list(pieces)
    hazards = rng.choice([QUIET, QUIET, FAULTS])
    for _ in range(rng.randint(1, 2)):
        hazard = rng.choice(hazards)
        at = rng.randrange(len(disturbed))
        if rng.random() < 0.5:
            disturbed.insert(at + 1, Piece(hazard))
            continue
        text, end = disturbed[at].text, rng.choice(["", "", "\n", " "])
        text = rng.choice([f"{hazard}{end}{text}", f"{text}{end}{hazard}"])
        disturbed[at] = replace(disturbed[at], text=text)
    return disturbed


def _mutated(writer: Writer, text: str) -> str:
    """Delete, double, swap or insert a few stretches of a text."""
    rng, hazards = writer.rng, [*QUIET, *FAULTS]
    for _ in range(rng.randint(1, 6)):
        at = rng.randrange(len(text))
        end = at + rng.choice([1, 1, 2, 5, 40])
        new = rng.choice(["", text[at:end] * 2, text[at:end][::-1], rng.choice(hazards), "\n", " "])
        text = text[:at] + new + text[end:] or "x"
    return text
