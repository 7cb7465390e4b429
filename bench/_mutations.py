"""Small changes that someone might make by mistake: one at a time, drawn with a seed.

A page is changed in what it tells a reader, a module in what it computes. Parts that say nothing
about the code are left alone: formulas, link targets, years, citations, versions, strings,
messages.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from doctest import DocTestParser
from random import Random
from typing import Any

from proofbook.coverage.coverage import SHAPE
from proofbook.coverage.lexicon import EXEMPT
from proofbook.coverage.masking import blank, blank_all, words_alone
from proofbook.parsing.claims import Span
from proofbook.parsing.fences import Fence
from proofbook.parsing.front_matter import split_front_matter
from proofbook.parsing.inline_code import inline_code
from proofbook.parsing.number_words import number_from_words, words_from_number
from proofbook.parsing.source import SourceText, read

NUMBER = re.compile(r"\d(?:[\d.,]*\d)?")
ANTONYMS = (
    *("above below", "after before", "all none", "always never", "better worse", "first last"),
    *("higher lower", "larger smaller", "longer shorter", "more less", "most least", "over under"),
    *("same different", "within beyond"),
)
OPPOSITE = {a: b for pair in map(str.split, ANTONYMS) for a, b in (pair, reversed(pair))}

Swaps = dict[type[ast.AST], tuple[str, tuple[str, ...]]]
BETWEEN: Swaps = {
    **{ast.Add: ("+", ("-",)), ast.Sub: ("-", ("+",)), ast.Mult: ("*", ("/",))},
    **{ast.Div: ("/", ("*",)), ast.FloorDiv: ("//", ("*",)), ast.Pow: ("**", ("*",))},
    **{ast.Mod: ("%", ("*",)), ast.BitAnd: ("&", ("|",)), ast.BitOr: ("|", ("&",))},
    **{ast.Lt: ("<", ("<=", ">=")), ast.LtE: ("<=", ("<", ">")), ast.Eq: ("==", ("!=",))},
    **{ast.Gt: (">", (">=", "<=")), ast.GtE: (">=", (">", "<")), ast.NotEq: ("!=", ("==",))},
    **{ast.Is: ("is", ("is not",)), ast.IsNot: ("is not", ("is",))},
    **{ast.In: ("in", ("not in",)), ast.NotIn: ("not in", ("in",))},
    **{ast.And: ("and", ("or",)), ast.Or: ("or", ("and",))},
}
"""The operators, and what may replace each of them."""
AXIS_WORDS = {"axis", "dim", "dim0", "dim1", "dims", "end_dim", "start_dim"}
AXIS_CALLS = {
    *("all", "amax", "any", "argmax", "argmin", "cat", "cumsum", "flatten", "log_softmax", "mean"),
    *("movedim", "permute", "select", "size", "softmax", "squeeze", "stack", "std", "sum"),
    *("transpose", "unbind", "unflatten", "unsqueeze", "var"),
}
"""Methods whose positional numbers are axes."""


@dataclass(frozen=True)
class Edit:
    """A replacement for a stretch of a text.

    Attributes:
        kind: The kind of thing that is changed.
        start: Where the stretch begins.
        end: Where it ends.
        new: The new text.
    """

    kind: str
    start: int
    end: int
    new: str

    def moved(self, by: int) -> "Edit":
        """Return the same edit in a text with this much more before it."""
        return replace(self, start=self.start + by, end=self.end + by)

    def applied(self, text: str) -> str:
        """Return the text after the change."""
        return text[: self.start] + self.new + text[self.end :]


@dataclass(frozen=True)
class Mutant:
    """A file with one change.

    Attributes:
        path: The file.
        kind: The kind of thing that is changed.
        line: Where the change begins.
        before: The lines before the change.
        after: The lines after the change.
        text: The whole file after the change.
    """

    path: str
    kind: str
    line: int
    before: str
    after: str
    text: str

    @property
    def original(self) -> str:
        """The lines that change, joined."""
        return " ".join(self.before.split())

    @property
    def mutated(self) -> str:
        """The same lines after the change."""
        return " ".join(self.after.split())


def draw(
    texts: Mapping[str, str],
    find: Callable[[str, Random], Iterable[Edit]],
    parses: Callable[[str], bool],
    count: int,
    seed: int,
) -> list[Mutant]:
    """Draw this many mutants of some files, spread evenly over files and kinds where possible.

    A change that leaves a text unchanged, or makes it unparsable, is skipped.
    """
    chance = Random(seed)
    strata: dict[tuple[str, str], list[Edit]] = defaultdict(list)
    for path, text in sorted(texts.items()):
        for edit in find(text, chance):
            strata[path, edit.kind].append(edit)
    for edits in strata.values():
        chance.shuffle(edits)
    drawn: list[Mutant] = []
    while strata and len(drawn) < count:
        for path, kind in chance.sample(sorted(strata), len(strata)):
            mutant = _next(path, texts[path], strata[path, kind], parses)
            if mutant is None:
                del strata[path, kind]
            else:
                drawn.append(mutant)
    return drawn[:count]


def _next(path: str, text: str, edits: list[Edit], parses: Callable[[str], bool]) -> Mutant | None:
    while edits:
        edit = edits.pop()
        changed = edit.applied(text)
        if changed != text and parses(changed):
            return _mutant(path, text, changed, edit)
    return None


def _mutant(path: str, text: str, changed: str, edit: Edit) -> Mutant:
    first = text.rfind("\n", 0, edit.start) + 1
    last = text.find("\n", edit.end)
    after = len(changed) if last < 0 else last + len(changed) - len(text)
    original, mutated = text[first : last if last >= 0 else None], changed[first:after]
    line = text.count("\n", 0, edit.start) + 1
    return Mutant(path, edit.kind, line, original, mutated, changed)


def redrawn(row: Mapping[str, Any], text: str) -> Mutant | None:
    """Return an earlier text's mutant in this text, at the nearest place, if it has its lines.

    Args:
        row: Its path, kind, line, before, and after.
        text: The file as it is now.
    """
    before, after = row["before"], row["after"]
    whole = f"\n{text}\n"
    places = [m.start() for m in re.finditer(rf"(?<=\n){re.escape(before)}(?=\n)", whole)]
    lines = {whole.count("\n", 0, at): at - 1 for at in places}
    if not lines:
        return None
    line = min(lines, key=lambda one: abs(one - row["line"]))
    changed = text[: lines[line]] + after + text[lines[line] + len(before) :]
    return Mutant(row["path"], row["kind"], line, before, after, changed)


# Pages


def page_edits(text: str, chance: Random) -> Iterator[Edit]:
    """Yield a change for each place of a page where a change would make it say something else."""
    body, _ = split_front_matter(text)
    sheet = read(body)
    for find in (_digits, _shapes, _printed, _claimed, _words, _code, _imports):
        yield from (edit.moved(len(text) - len(body)) for edit in find(sheet, chance))


def page_parses(text: str) -> bool:
    """Return whether the code of a page is Python."""
    sheet = read(split_front_matter(text)[0])
    return all(parses(listing.source) for listing in _listings(sheet))


def _digits(sheet: SourceText, chance: Random) -> Iterator[Edit]:
    """Yield changes of numbers that a reader sees, in or out of claims; shapes are another kind."""
    text = sheet.text
    for start, end in _between(sheet.prose, len(text)):
        text = blank(text, start, end)
    for span in sheet.spans:
        text = blank(blank(text, span.start, span.inner[0]), span.inner[1], span.end)
    for code in inline_code(sheet, ()):
        if SHAPE.fullmatch(code.code):
            text = blank(text, code.start, code.end)
    text = words_alone(text, maths=True)
    for pattern in EXEMPT:
        text = blank_all(text, pattern)
    for number in NUMBER.finditer(text):
        yield Edit("digit", *number.span(), other_number(number[0], chance))


def _between(stretches: list[tuple[int, int]], end: int) -> Iterator[tuple[int, int]]:
    at = 0
    for first, last in [*stretches, (end, end)]:
        yield at, first
        at = last


def _shapes(sheet: SourceText, chance: Random) -> Iterator[Edit]:
    for code in inline_code(sheet, ()):
        if SHAPE.fullmatch(code.code):
            written = sheet.text[code.start : code.end]
            yield Edit("shape", code.start, code.end, other_shape(written, chance))


def _printed(sheet: SourceText, chance: Random) -> Iterator[Edit]:
    """Yield a change in the expected output of each example."""
    for fence in sheet.fences:
        if fence.kind == "pycon":
            lines = _lines(sheet, fence)
            for example in DocTestParser().get_examples(fence.code):
                first = example.lineno + example.source.count("\n")
                want = lines[first : first + example.want.count("\n")]
                yield from _other_output(want, chance)


def _other_output(want: list[tuple[str, int]], chance: Random) -> Iterator[Edit]:
    telling = [(line, at) for line, at in want if not line.startswith("Traceback")]
    for pattern in (r"\d(?:[\d.]*\d)?|\b(?:True|False)\b", r"[A-Za-z]{3,}"):
        places = [(match, at) for line, at in telling for match in re.finditer(pattern, line)]
        if places:
            match, at = chance.choice(places)
            new = _other_token(match[0], chance)
            yield Edit("output", at + match.start(), at + match.end(), new)
            return


def _other_token(token: str, chance: Random) -> str:
    flipped = {"True": "False", "False": "True"}
    if token[0].isdigit():
        return other_number(token, chance)
    return flipped.get(token, token[:-1])


def _claimed(sheet: SourceText, chance: Random) -> Iterator[Edit]:
    """Yield changes of the text of claims that say what it must be."""
    for span in sheet.spans:
        if "equals" in span.expressions and not _choices(span):
            new = _other_claim(span.text, chance)
            yield from _in_span(sheet, span, span.text, new, "output")


def _other_claim(text: str, chance: Random) -> str:
    number = number_from_words(text)
    if number is not None and number < 999:
        return words_from_number(number + 1)
    digits = list(NUMBER.finditer(text))
    if not digits:
        return text[:-1]
    one = chance.choice(digits)
    return text[: one.start()] + other_number(one[0], chance) + text[one.end() :]


def _words(sheet: SourceText, chance: Random) -> Iterator[Edit]:
    """Yield the other word of a `word(…)`, or the opposite of a word with a `holds`."""
    for span in sheet.spans:
        choices = _choices(span)
        if span.text in choices:
            other = choices[1 - choices.index(span.text)]
            yield from _in_span(sheet, span, span.text, other, "word")
        elif "holds" in span.expressions:
            yield from _opposites(sheet, span)


def _choices(span: Span) -> list[str]:
    """Return the words between which a `word(…)` chooses."""
    tree = ast.parse(span.expressions.get("equals", "None"), mode="eval").body
    match tree:
        case ast.Call(ast.Name("word"), [_, ast.Constant(str(a)), ast.Constant(str(b))]):
            return [a, b]
    return []


def _opposites(sheet: SourceText, span: Span) -> Iterator[Edit]:
    for match in re.finditer(r"[A-Za-z]+", sheet.text[slice(*span.inner)]):
        opposite = OPPOSITE.get(match[0].lower())
        if opposite:
            at = span.inner[0]
            new = opposite.capitalize() if match[0][0].isupper() else opposite
            yield Edit("word", at + match.start(), at + match.end(), new)
            return


def _in_span(sheet: SourceText, span: Span, old: str, new: str, kind: str) -> Iterator[Edit]:
    """Yield a change of text within the markup of a claim, unless markup breaks the text up."""
    at = sheet.text.find(old, *span.inner)
    if at >= 0:
        yield Edit(kind, at, at + len(old), new)


def _code(sheet: SourceText, chance: Random) -> Iterator[Edit]:
    """Yield changes of constants, operators, and the like in blocks."""
    for listing in _listings(sheet):
        if parses(listing.source):
            for edit in source_edits(listing.source, chance):
                yield from listing.placed(replace(edit, kind="code"))


def _imports(sheet: SourceText, chance: Random) -> Iterator[Edit]:
    """Yield imports of a name that doesn't exist, or under a name that nobody uses."""
    for listing in _listings(sheet):
        if not parses(listing.source):
            continue
        code = Code(listing.source)
        for node in code.nodes:
            if isinstance(node, ast.alias) and node.name != "*":
                start, end = code.span(node)
                renamed = node.name + ("s" if node.asname or chance.random() < 0.5 else "_1")
                tail = code.text[start + len(node.name) : end]
                if not node.asname and chance.random() < 0.5:
                    renamed, tail = node.name, f" as {node.name.replace('.', '_')}_1"
                yield from listing.placed(Edit("import", start, end, renamed + tail))


@dataclass(frozen=True)
class Listing:
    """A program of a page: its lines, each with its position in the page's text."""

    lines: list[tuple[str, int]]

    @property
    def source(self) -> str:
        """The program."""
        return "\n".join(line for line, _ in self.lines)

    def placed(self, edit: Edit) -> Iterator[Edit]:
        """Turn an edit of the program into one of the page, if it stays within a line."""
        at = 0
        for line, place in self.lines:
            if at <= edit.start <= edit.end <= at + len(line):
                yield edit.moved(place - at)
            at += len(line) + 1


def _listings(sheet: SourceText) -> Iterator[Listing]:
    """Yield the blocks of a page, and each example of its doctests."""
    for fence in sheet.fences:
        lines = _lines(sheet, fence)
        if fence.kind == "python":
            yield Listing(lines)
        elif fence.kind == "pycon":
            for example in DocTestParser().get_examples(fence.code):
                last = example.lineno + example.source.count("\n")
                prompt = example.indent + len(">>> ")
                source = lines[example.lineno : last]
                yield Listing([(line[prompt:], at + prompt) for line, at in source])


def _lines(sheet: SourceText, fence: Fence) -> list[tuple[str, int]]:
    """Return the lines of a fence without its indentation, each with its position in the text."""
    lines, at = [], fence.body[0]
    written = sheet.text[slice(*fence.body)].split("\n")
    for raw, line in zip(written, fence.code.split("\n"), strict=False):
        lines.append((line, at + len(raw) - len(line)))
        at += len(raw) + 1
    return lines


# Values


def other_number(number: str, chance: Random) -> str:
    """Return the number with another digit in one place."""
    places = [at for at, sign in enumerate(number) if sign.isdigit()]
    at = chance.choice(places)
    digits = "0123456789" if at or len(number) == 1 else "123456789"
    digit = chance.choice(digits.replace(number[at], ""))
    return number[:at] + digit + number[at + 1 :]


def other_shape(shape: str, chance: Random) -> str:
    """Return the shape with another number, two axes swapped, or an axis less."""
    axes = list(re.finditer(r"\w+", shape))
    changes = [
        _swapped(shape, a, b) for a in axes for b in axes if a[0] != b[0] and a.end() < b.end()
    ]
    changes += [
        shape[: one.start()] + other_number(one[0], chance) + shape[one.end() :]
        for one in axes
        if one[0].isdigit()
    ]
    if len(axes) > 2:
        changes += [shape[: axes[0].start()] + shape[axes[1].start() :]]
    return chance.choice(changes) if changes else shape


def _swapped(text: str, a: re.Match[str], b: re.Match[str]) -> str:
    return text[: a.start()] + b[0] + text[a.end() : b.start()] + a[0] + text[b.end() :]


# Python


def source_edits(source: str, chance: Random) -> Iterator[Edit]:
    """Yield a change for each operator, constant, axis, residual, and mask of a program."""
    code = Code(source)
    for node in code.nodes:
        for find in (_operator, _constant, _axis, _residual, _mask):
            edit = find(code, node, chance)
            if edit:
                yield edit


def parses(source: str) -> bool:
    """Return whether a text is a Python program."""
    try:
        ast.parse(source)
    except (SyntaxError, ValueError):
        return False
    return True


class Code:
    """A program, with the positions of its nodes.

    Attributes:
        text: The program.
        nodes: Its nodes, except those within annotations and formatted strings.
        axes: The nodes of numbers that are axes.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._lines = text.split("\n")
        self._starts = [0]
        for line in self._lines:
            self._starts.append(self._starts[-1] + len(line) + 1)
        self.nodes = list(_nodes(ast.parse(text)))
        self.axes = {axis for node in self.nodes for axis in _axes_of(node)}

    def span(self, node: ast.AST) -> tuple[int, int]:
        """Return where a node begins and ends."""
        first, last = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)
        return self._place(*first), self._place(*last)

    def of(self, node: ast.AST) -> str:
        """Return how a node is written."""
        return self.text[slice(*self.span(node))]

    def between(self, kind: str, left: ast.AST, right: ast.AST, old: str, new: str) -> Edit | None:
        """Return an edit that replaces the sign between two nodes."""
        start, end = self.span(left)[1], self.span(right)[0]
        gap = re.sub(r"#[^\n]*", lambda note: " " * len(note[0]), self.text[start:end])
        found = re.search(re.escape(old).replace(r"\ ", r"\s+"), gap)
        return Edit(kind, start + found.start(), start + found.end(), new) if found else None

    def _place(self, line: int, column: int) -> int:
        """Return a position in the text; Python counts columns in bytes."""
        before = self._lines[line - 1].encode()[:column]
        return self._starts[line - 1] + len(before.decode())


def _nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield all nodes except annotations and formatted strings; a negative number is one node."""
    waiting = [tree]
    while waiting:
        node = waiting.pop()
        yield node
        if _number_of(node) is not None:
            continue
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns"):
                continue
            parts = value if isinstance(value, list) else [value]
            kept = (ast.JoinedStr, ast.expr_context, ast.operator)
            waiting += [p for p in parts if isinstance(p, ast.AST) and not isinstance(p, kept)]


def _number_of(node: ast.AST) -> int | float | None:
    """Return the number that a node is, with its sign; a truth value isn't one."""
    match node:
        case ast.UnaryOp(ast.USub(), ast.Constant(int(value) | float(value))):
            return -value
        case ast.Constant(bool()):
            return None
        case ast.Constant(int(value) | float(value)):
            return value
    return None


def _axes_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the numbers of a call or a subscript that are axes."""
    found: list[ast.expr] = []
    match node:
        case ast.Call(func=function, args=arguments, keywords=keywords):
            if isinstance(function, ast.Attribute) and function.attr in AXIS_CALLS:
                first_alone = function.attr in ("select", "unflatten")
                found += arguments[:1] if first_alone else arguments
            for keyword in (k for k in keywords if k.arg in AXIS_WORDS):
                value = keyword.value
                found += value.elts if isinstance(value, ast.Tuple | ast.List) else [value]
        case ast.Subscript(ast.Attribute(attr="shape"), index):
            found.append(index)
    yield from (one for one in found if isinstance(_number_of(one), int))


def _operator(code: Code, node: ast.AST, chance: Random) -> Edit | None:
    match node:
        case ast.BinOp(left, sign, right) | ast.Compare(left, [sign], [right]):
            pass
        case ast.BoolOp(sign, [left, right, *_]):
            pass
        case ast.UnaryOp(ast.Not(), operand):
            return Edit("operator", *code.span(node), f"({code.of(operand)})")
        case _:
            return None
    old, others = BETWEEN.get(type(sign), ("", ()))
    return code.between("operator", left, right, old, chance.choice(others)) if old else None


def _constant(code: Code, node: ast.AST, chance: Random) -> Edit | None:
    number = _number_of(node)
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return Edit("constant", *code.span(node), repr(not node.value))
    if number is None or node in code.axes:
        return None
    if isinstance(number, int):
        other: int | float = number + chance.choice((-1, 1))
    else:
        other = number * chance.choice((0.5, 2.0)) if number else 1.0
    return Edit("constant", *code.span(node), repr(other))


def _axis(code: Code, node: ast.AST, chance: Random) -> Edit | None:
    if isinstance(node, ast.Attribute) and node.attr in ("mT", "T"):
        return Edit("axis", *code.span(node), code.of(node.value))
    if node not in code.axes:
        return None
    axis = _number_of(node)
    assert isinstance(axis, int)
    other = chance.choice({-1: (-2,), 0: (1,)}.get(axis, (axis - 1, axis + 1)))
    return Edit("axis", *code.span(node), repr(other))


def _residual(code: Code, node: ast.AST, chance: Random) -> Edit | None:
    """Return an edit that leaves only a call, without the name that is added to it."""
    match node:
        case ast.BinOp(ast.Name(), ast.Add(), ast.Call() as call):
            pass
        case ast.BinOp(ast.Call() as call, ast.Add(), ast.Name()):
            pass
        case _:
            return None
    return Edit("residual", *code.span(node), code.of(call))


def _mask(code: Code, node: ast.AST, chance: Random) -> Edit | None:
    """Return an edit that inverts a mask, leaves it out, or takes the other triangle."""
    match node:
        case ast.UnaryOp(ast.Invert(), operand):
            return Edit("mask", *code.span(node), code.of(operand))
        case ast.UnaryOp(ast.USub(), ast.Attribute(attr="inf")):
            return Edit("mask", *code.span(node), "0.0")
        case ast.keyword(str(name), value) if "mask" in name or name == "is_causal":
            nothing = "False" if name == "is_causal" else "None"
            return Edit("mask", *code.span(value), nothing)
        case ast.Call(ast.Attribute(value, "masked_fill" | "tril" | "triu" as name)):
            if name == "masked_fill":
                return Edit("mask", *code.span(node), code.of(value))
            end = code.span(node.func)[1]
            return Edit("mask", end - 4, end, {"tril": "triu", "triu": "tril"}[name])
        case ast.Call(ast.Attribute(attr="where"), [_, a, b]):
            (start, _), (_, end) = code.span(a), code.span(b)
            return Edit("mask", start, end, f"{code.of(b)}, {code.of(a)}")
    return None
