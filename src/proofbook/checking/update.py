"""Rewrite doctest outputs and `equals=` claims to match a run, keeping their style."""

import re
from collections.abc import Iterator
from doctest import DocTestParser
from typing import Any

from proofbook.checking.book import Checked
from proofbook.checking.compare import LEAF, says
from proofbook.checking.outputs import prints, reprinted
from proofbook.model import BlockResult
from proofbook.parsing.front_matter import split_front_matter
from proofbook.parsing.number_words import number_from_words, words_from_number
from proofbook.parsing.source import SourceText, edited, read

Edit = tuple[int, int, str]


def updated(text: str, checked: Checked) -> str:
    """Return the text of a chapter with the outputs and values of the run.

    Only differences are touched. Anything that can't be rewritten (a `holds`, a failing block and
    everything after it, an output that would end its own fence) stays for a later check to report.

    Raises:
        ValueError: The page contains more than this text, so positions in it are unknown.
    """
    ends = "\r\n" if "\r\n" in text else "\n"
    text = text.replace("\r\n", "\n")
    body, _ = split_front_matter(text)
    source, page = read(body), checked.page
    if (len(source.fences), len(source.spans)) != (len(page.source.fences), len(page.source.spans)):
        raise ValueError(
            "the page has fences or claims that its file doesn't, or they're indented with tabs"
        )
    edits = [*_outputs(source, checked), *_claims(source, checked)]
    return (text.removesuffix(body) + edited(body, edits)).replace("\n", ends)


def _outputs(source: SourceText, checked: Checked) -> Iterator[Edit]:
    """Yield an edit for each fence in which an output differs."""
    run = checked.run
    for index, number in checked.page.blocks.items():
        if number >= min(run.sound + 1, len(run.blocks)):
            continue
        fence, result = source.fences[index], run.blocks[number]
        lines = source.text[slice(*fence.body)].split("\n")
        if not _rewrite_doctest(lines, fence.prefix, result):
            continue
        edit = (*fence.body, "\n".join(lines))
        new = _shape_kept(source, edit)
        if new and _reads_back(new.fences[index].code, result):
            yield edit


def _claims(source: SourceText, checked: Checked) -> Iterator[Edit]:
    """Yield an edit for each claim whose text doesn't state its value."""
    for index, number in checked.page.claims.items():
        claim, span = checked.page.chapter.claims[number], source.spans[index]
        value = checked.run.values.get((claim.equals or "", claim.place))
        if value is None or value.failure or says(span.text, value.data):
            continue
        if value.after > checked.run.sound:
            continue
        written = rewritten(span.text, value.data)
        if not says(written, value.data):
            continue
        inner = source.text[slice(*span.inner)]
        edit = (*span.inner, _in_markup(inner, span.text, written))
        new = _shape_kept(source, edit)
        if new and new.spans[index].text == written:
            yield edit


def _shape_kept(source: SourceText, edit: Edit) -> SourceText | None:
    """Return the text after an edit; None if the edit changes its fences or claims.

    The edit may remove the phrase of a fact, which stays as a fault for the author to fix.
    """
    new = read(edited(source.text, [edit]))
    had, has = (
        [len(one.fences), len(one.foreign), len(one.faults) + len(one.facts)]
        for one in (source, new)
    )
    claims = [span.expressions for span in source.spans]
    return new if had == has and claims == [span.expressions for span in new.spans] else None


def _reads_back(code: str, result: BlockResult) -> bool:
    """Return whether a rewritten doctest agrees with the actual output."""
    written = DocTestParser().get_examples(code)[: len(result.examples)]
    return len(written) == len(result.examples) and all(
        one.source == ran.source and prints(one.want, ran.got)
        for one, ran in zip(written, result.examples, strict=True)
    )


def _rewrite_doctest(lines: list[str], prefix: str, result: BlockResult) -> bool:
    """Replace each output that differs in the lines of a fence; return whether any did."""
    changed = False
    for example in reversed(result.examples):
        if prints(example.want, example.got):
            continue
        first = example.offset + 1
        while lines[first : first + 1] and lines[first][len(prefix) :].lstrip().startswith("..."):
            first += 1
        last = first + example.want.count("\n")
        output = reprinted(example.want, example.got)
        new = output.removesuffix("\n").split("\n") if output else []
        indent = re.match(r"\s*", lines[example.offset][len(prefix) :])
        margin = prefix + (indent[0] if indent else "")
        lines[first:last] = [f"{margin}{line.rstrip() or '<BLANKLINE>'}" for line in new]
        changed = True
    return changed


def rewritten(text: str, value: Any) -> str:
    """Write a value in the style of the text it replaces: words, digits, separators, brackets."""
    if isinstance(value, bool):
        words = ("yes", "no") if text.lower() in ("yes", "no") else ("True", "False")
        word = words[0] if value else words[1]
        return word.capitalize() if text[:1].isupper() else word
    if isinstance(value, int | float):
        return _number(text, value)
    if isinstance(value, list):
        return _list(text, value)
    return str(value)


def _number(text: str, value: int | float) -> str:
    if number_from_words(text) is not None and isinstance(value, int) and 0 <= value < 1000:
        words = words_from_number(value)
        return words.capitalize() if text[:1].isupper() else words
    percent = "%" if text.endswith("%") else ""
    scaled = value * 100 if percent else value
    mantissa = re.split("[eE]", text.rstrip("% "))[0]
    digits = len(mantissa.partition(".")[2])
    if "e" in text.lower() and re.search(r"\d[eE]", text):
        return f"{scaled:.{digits}e}{percent}"
    if isinstance(value, int) and not percent:
        return f"{value:,}" if "," in text else str(value)
    comma = "," if "," in text else ""
    return f"{scaled:{comma}.{digits}f}{percent}"


def _list(text: str, value: list[Any]) -> str:
    leaves = LEAF.findall(text)
    sample = leaves[-1] if leaves else ""
    if "×" in text:
        return " × ".join(_leaf(sample, item) for item in value)
    inner = _nested(sample, value)
    return f"({inner[1:-1]})" if text.startswith("(") else inner


def _nested(sample: str, value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_nested(sample, item) for item in value)}]"
    return _leaf(sample, value)


def _leaf(sample: str, value: Any) -> str:
    if isinstance(value, str):
        quote = sample[:1] if sample[:1] in ("'", '"') else ""
        return f"{quote}{value}{quote}"
    if isinstance(value, float) and not re.fullmatch(r"[-+]?[\d.]+(e[-+]?\d+)?", sample):
        return repr(value)
    return rewritten(sample, value)


def _in_markup(markup: str, old: str, new: str) -> str:
    """Replace text and keep the marks of code or emphasis around it."""
    if markup.count(old) == 1:
        return markup.replace(old, new)
    marks = re.match(r"[`*_]*", markup)
    mark = marks[0] if marks else ""
    return f"{mark}{new}{mark[::-1]}"
