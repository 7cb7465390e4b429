"""Find the fences in a chapter's text, with their options and positions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from doctest import DocTestParser, Example
from typing import Literal

OPENING = re.compile(r"(?P<prefix>[> ]*)(?P<ticks>`{3,}|~{3,})[ ]*(?P<info>[^`\n]*?)[ ]*$")
LANGUAGE = re.compile(r"\.?([\w#.+-]+)(?=\s|$)")
OPTION = re.compile(r"""\s*([A-Za-z]\w*)=(?:"([^"]*)"|'([^']*)')(?=\s|$)""")

NO_CODE = re.compile(r"\s*(?:>>>|\.\.\.)(?:\s+#.*|\s*)$|\s*#")
PROMPTED = re.compile(r"(?:[ ]*(?:#.*)?\n)*[ ]*>>>(?:\s|$)")
"""Code whose first line, ignoring comments, is a prompt."""
LANGUAGES = ("python", "pycon", "facts")
"""The fences that proofbook handles instead of Markdown."""
WORD = re.compile(r"[a-z0-9_.+-]+")
PYTHON = re.compile(r"[a-z]*python[\d.]*[iw]?|i?py[\d.]*[iw]?|numpy|sage|pyodide|pyscript|ipynb")
PYCON = re.compile(r"i?py(?:thon)?(?:con|console|repl|shell)\d*|doctests?")
NEIGHBORS = {"cython", "jython"}
"""Separate languages whose names almost match one of ours."""
SESSIONS = {"con", "console", "prompt", "repl", "session", "shell"}
OUTPUTS = {"error", "log", "out", "output", "result", "stderr", "stdout", "tb", "traceback"}
"""Parts of a language's name that mean output rather than code that runs."""

ON = ("1", "on", "true", "yes")
"""What markdown-exec takes for "run this"."""
LOOKS = {"title": r".+", "hl_lines": r"\d+(-\d+)?( \d+(-\d+)?)*", "linenums": r"\d+( \d+){0,2}"}
TIMEOUT = r"(?=[0-9.]*[1-9])(?:[0-9]{1,6}(?:\.[0-9]{0,3})?|\.[0-9]{1,3})"
RAISES = {"raises": r"[^\W\d][\w.]*(?:: .*\S.*)?"}
RUNS = {"timeout": TIMEOUT, "id": r"[A-Za-z][\w-]*"}
SIGHTS = {"hide": r"output", "fold": r"code"}
PLACES = {"source": r"above|below|tabbed-left|tabbed-right"}
OPTIONS = {
    "python": {**LOOKS, **RUNS, **RAISES, **SIGHTS, **PLACES},
    "pycon": {**LOOKS, **RUNS},
    "show": {**LOOKS, "show": r"[A-Za-z_][\w.]*(:[A-Za-z_][\w.]*)?", "only": r".*\S.*"},
    "off": {**LOOKS, "exec": r"off", "reason": r".*\S.*"},
    "facts": {},
}

WRITTEN = {
    "title": "some words",
    "hl_lines": 'lines, as in "2" or "1 3-5"',
    "linenums": 'the number of the first line, as in "1"',
    "timeout": 'seconds, as in "30" or "0.5"',
    "id": 'a letter, then letters, digits, and hyphens, as in "first-try"',
    "raises": 'the line that its traceback ends with, "ValueError: …"',
    "hide": '"output"',
    "fold": '"code"',
    "source": '"above", "below", "tabbed-left", or "tabbed-right"',
    "show": 'a module, or a module and a name in it, as in "package.module:name"',
    "only": "some text of the statement to show",
    "exec": '"off"',
    "reason": "why it is not run",
}
"""Descriptions of the value that each option takes."""

MARKS = re.compile(r"<!--|-->|</?(?:script|style)(?=[\s>])", re.IGNORECASE)


@dataclass(frozen=True)
class Fence:
    """A fence that proofbook reads, in the text.

    Attributes:
        kind: `python` and `pycon` run, `show` shows a symbol, `off` is shown and not run; `facts`
            binds phrases of the prose before it. A `python` fence that begins with a prompt is a
            doctest too, so its kind is `pycon`.
        code: The lines between the fences, without the fence's own indentation.
        line: Line of the text (from 1) of the opening fence.
        options: The options in the opening fence.
        header: Start and end, in the text, of what follows the opening ticks.
        body: Start and end, in the text, of the lines between the fences.
        prefix: What comes before the opening ticks: indentation, quote markers.
    """

    kind: Literal["python", "pycon", "show", "off", "facts"]
    code: str
    line: int
    options: dict[str, str]
    header: tuple[int, int]
    body: tuple[int, int]
    prefix: str

    @property
    def language(self) -> Literal["python", "pycon", "facts"]:
        """The language that its code is in."""
        return self.kind if self.kind in ("pycon", "facts") else "python"  # type: ignore[return-value]

    def option(self, name: str) -> str | None:
        """Return an option, if it is given and can be read."""
        given = self.options.get(name)
        known = OPTIONS[self.kind].get(name)
        return given if given and known and re.fullmatch(known, given) else None

    @property
    def timeout(self) -> float | None:
        """Seconds until the fence counts as hanging, if it sets a limit."""
        given = self.option("timeout")
        return float(given) if given else None

    @property
    def runs(self) -> bool:
        """Whether its code is executed."""
        return self.kind in ("python", "pycon")


@dataclass(frozen=True)
class Foreign:
    """A fence of another language, which nothing runs.

    Attributes:
        language: Its name as written; "" if there is none.
        code: The lines between the fences.
        line: Line of the text (from 1) of the opening fence.
    """

    language: str
    code: str
    line: int


@dataclass(frozen=True)
class Scan:
    """The fences and the prose of a text.

    Attributes:
        fences: The fences of `LANGUAGES`, in reading order.
        foreign: The other fences, in reading order.
        prose: Start and end, in the text, of each stretch of lines outside fences and comments.
        faults: Line (from 1) and message of each thing wrong with a fence.
    """

    fences: list[Fence]
    foreign: list[Foreign]
    prose: list[tuple[int, int]]
    faults: list[tuple[int, str]]


def scan(text: str) -> Scan:
    """Find the fences and the prose of a text, by the rules of SuperFences."""
    found = Scan([], [], [], [])
    lines = text.split("\n")
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line) + 1)
    number = 0
    inside = ""
    while number < len(lines):
        line = lines[number]
        opening = None if inside == "!--" else OPENING.match(line)
        if opening:
            end, fault = _closing(lines, number, opening)
            if fault:
                found.faults.append((number + 1, fault))
            else:
                _add(found, lines, starts, number, end, opening)
            number = end + 1
            continue
        before, inside = inside, _state(line, inside)
        if "!--" not in (before, inside):
            found.prose.append((starts[number], starts[number] + len(line)))
        number += 1
    return Scan(found.fences, found.foreign, _joined(found.prose), found.faults)


def _joined(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for start, end in stretches:
        if joined and joined[-1][1] + 1 == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return joined


def _state(line: str, inside: str) -> str:
    """Return what is open after a line: a comment (`!--`), a script or style by its tag, or ""."""
    for mark in MARKS.findall(line if inside else re.sub(r"(`+).*?\1", "", line)):
        mark = mark.lower()
        if mark == ("-->" if inside == "!--" else f"</{inside}"):
            inside = ""
        elif not inside and mark in ("<!--", "<script", "<style"):
            inside = mark[1:]
    return inside


def _closing(lines: list[str], number: int, opening: re.Match[str]) -> tuple[int, str | None]:
    """Return the line that closes a fence, or the line that ends it too early, and why."""
    prefix, ticks = opening["prefix"], opening["ticks"]
    for end in range(number + 1, len(lines)):
        content = _content(lines[end], len(prefix))
        if content is None:
            return end, f"line {end + 1} is indented less, which ends this fence too early"
        if content.rstrip() == ticks:
            return end, None
    return len(lines), "this fence is never closed"


def _content(line: str, width: int) -> str | None:
    """Return a line without the prefix of its fence.

    Return None for text that begins within the prefix.
    """
    prefix = re.match(rf"[> ]{{0,{width}}}", line)
    content = line[prefix.end() :] if prefix else line
    return None if content.strip() and prefix and prefix.end() < width else content


def _add(
    found: Scan, lines: list[str], starts: list[int], number: int, end: int, opening: re.Match[str]
) -> None:
    """Record a fence if it is one of ours, and what is wrong with its header."""
    line = number + 1
    language = LANGUAGE.match(opening["info"])
    name = language[1] if language else ""
    if name not in ("python", "pycon") and (fault := _foreign_fault(name, opening["info"])):
        found.faults.append((line, fault))
    width = len(opening["prefix"])
    code = "\n".join(_content(text, width) or "" for text in lines[number + 1 : end])
    if name not in LANGUAGES or language is None:
        found.foreign.append(Foreign(name, code, line))
        return
    options, faults = _options(opening["info"][language.end() :])
    kind = _kind(options, code) if name == "python" else name
    faults += list(_faults(kind, code, options))
    found.faults.extend((line, fault) for fault in faults)
    header = starts[number] + opening.start("info"), starts[number] + opening.end("info")
    body = starts[number + 1], starts[end]
    found.fences.append(Fence(kind, code, line, options, header, body, opening["prefix"]))  # type: ignore[arg-type]


def _foreign_fault(name: str, info: str) -> str | None:
    """Return what is wrong with the header of a fence that nothing runs; `None` if it's fine."""
    meant = _meant(info)
    if meant and meant != name:
        what = "run" if meant == "python" else "be checked"
        options = "" if meant == "facts" else ', and write options without braces: title="…"'
        return f"a {name or info!r} fence would not {what}; write ```{meant}{options}"
    return None


def _meant(info: str) -> str | None:
    """Return which of our languages a header seems to name, if any."""
    words = WORD.findall(" ".join(_languages(info.lower())))
    for word in words:
        parts = {*re.split(r"[-_+]", word.strip("._+-"))}
        if any(PYCON.fullmatch(part) for part in parts):
            return "pycon"
        if any(PYTHON.fullmatch(part) for part in parts) and not parts & OUTPUTS:
            return "pycon" if parts & SESSIONS else "python"
    if "facts" in (names := [word.strip("._+-") for word in words]):
        return "facts"
    return _mistyped(names[0]) if names else None


def _languages(info: str) -> list[str]:
    """Return the parts of a header that may name a language, not the words of a title after it.

    It's the first word; in braces, also each class, or the word after a directive for code.
    """
    directive = re.match(r"\{(?:code|code-block|code-cell|sourcecode)\}\s*(\S+)", info)
    if directive:
        return [directive[1]]
    braces = re.match(r"\{([^}]*)", info)
    if braces:
        return [*braces[1].split()[:1], *re.findall(r"\.[\w#+-]+", braces[1])]
    return info.split()[:1]


def _mistyped(name: str) -> str | None:
    """Return which of our languages a name is one typo away from."""
    if name in NEIGHBORS:
        return None
    return next((one for one in LANGUAGES if _one_less(one) & _one_less(name)), None)


def _one_less(name: str) -> set[str]:
    """Return a name, and the name without each letter; names one typo apart share an item."""
    return {name, *(name[:at] + name[at + 1 :] for at in range(len(name)))}


def _kind(options: dict[str, str], code: str) -> str:
    """Return the kind of a `python` fence, from its options or, if it runs, its code."""
    if "show" in options:
        return "show"
    if "exec" in options and options["exec"] not in ON:
        return "off"
    return "pycon" if PROMPTED.match(code) else "python"


def _options(info: str) -> tuple[dict[str, str], list[str]]:
    """Return the options in a header, and messages about what can't be read as one."""
    options: dict[str, str] = {}
    at = 0
    while match := OPTION.match(info, at):
        name = match[1]
        if name in options:
            return options, [f"the option {name!r} is given twice"]
        options[name] = match[2] if match[2] is not None else match[3]
        at = match.end()
    rest = info[at:].strip()
    if not rest:
        return options, []
    name = re.split(r"\W", rest)[0]
    how = f"; after {name}=, write {WRITTEN[name]}" if name in WRITTEN else ""
    return options, [f'cannot read {rest!r}: options are written name="value"{how}']


def _faults(kind: str, code: str, options: dict[str, str]) -> Iterator[str]:
    """Yield what is wrong with the options or the code of one fence."""
    known = OPTIONS[kind]
    for name, value in options.items():
        if name == "exec" and value in ON:
            yield f'exec="{value}" isn\'t needed: a python fence runs anyway, so leave it out'
        elif name == "session":
            yield "session= is not supported: each page is its own session"
        elif name not in known:
            yield f"unknown option {name!r} here; known: {', '.join(sorted(known)) or 'none'}"
        elif not re.fullmatch(known[name], value):
            yield f'{name}="{value}" cannot be read: write {WRITTEN[name]}'
    if "fold" in options and "source" in options:
        yield "fold= and source= cannot be combined: a fold is always below the output"
    if kind == "off" and "reason" not in options:
        yield 'exec="off" needs a reason="…"'
    if kind == "show" and code.strip():
        yield "a fence with show= is filled from the source; leave it empty"
    if kind == "pycon":
        yield from _doctest_faults(code)


def _doctest_faults(code: str) -> Iterator[str]:
    try:
        examples = DocTestParser().get_examples(code)
    except ValueError as error:
        yield f"this doctest cannot be read: {error}"
        return
    if not examples:
        yield "a doctest without a prompt (>>>) checks nothing"
    if any(example.options for example in examples):
        yield "doctest directives are not supported: outputs are compared as written"
    unchecked = list(_unchecked(code.split("\n"), examples)) if examples else []
    if unchecked:
        more = f" and {len(unchecked) - 1} more" if unchecked[1:] else ""
        yield (
            f"nothing checks {unchecked[0].strip()!r}{more}: write the output directly below its"
            " prompt, <BLANKLINE> for a blank line in it, and text outside the fence"
        )


def _unchecked(lines: list[str], examples: list[Example]) -> Iterator[str]:
    """Yield the lines of a doctest that neither run nor are compared."""
    checked: set[int] = set()
    for example in examples:
        last = example.lineno + 1
        while last < len(lines) and lines[last].lstrip().startswith("..."):
            last += 1
        checked.update(range(example.lineno, last + example.want.count("\n")))
    for number, line in enumerate(lines):
        if number not in checked and line.strip() and not NO_CODE.match(line):
            yield line
