"""Find where a line is in the author's files, of a page that plugins and includes have changed."""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path

from proofbook.parsing.front_matter import split_front_matter
from proofbook.parsing.page import Page, normal
from proofbook.problems import Problem
from proofbook.settings import Settings

PATH = re.compile(r"[\w./@+-]*\w\.\w+")
"""What may be the path of an included file."""

Place = tuple[str, int]
"""The name of a file, and a line in it, from 1."""


def placed(problems: Sequence[Problem], page: Page, settings: Settings) -> list[Problem]:
    """Return a page's problems with the files and lines that their author wrote."""
    file = settings.root / page.chapter.path
    if not problems or not file.is_file():
        return list(problems)
    body, offset = split_front_matter(_text_of(file))
    own, lines = body.split("\n"), page.source.text.split("\n")
    if own == lines:
        return list(problems)
    places = _places((page.chapter.path, offset), own, lines, settings)

    def moved(problem: Problem) -> Problem:
        number = problem.line - page.offset - 1
        name, line = places[number] if 0 <= number < len(places) else (problem.path, problem.line)
        return replace(problem, path=name, line=line)

    return [moved(problem) for problem in problems]


def _places(
    page: Place, own: Sequence[str], lines: Sequence[str], settings: Settings
) -> list[Place]:
    """Return where each line is: in the page, or in a file that the page includes there."""
    name, offset = page
    places = [(name, offset + 1)] * len(lines)
    changes = []
    for tag, start, end, first, last in _compared(own, lines).get_opcodes():
        if tag == "equal":
            places[first:last] = [(name, offset + line + 1) for line in range(start, end)]
        else:
            places[first:last] = [(name, offset + min(start + 1, len(own)))] * (last - first)
            changes.append((slice(start, end), slice(first, last)))
    changed = "\n".join(line for written, _ in changes for line in own[written])
    for file in _included(changed, settings.root / name, settings):
        text = _text_of(file).split("\n")
        for _, made in changes:
            for there, here, count in _compared(text, lines[made]).get_matching_blocks():
                for number in range(count):
                    if text[there + number].strip():
                        places[made.start + here + number] = settings.name(file), there + number + 1
    return places


def _compared(some: Sequence[str], others: Sequence[str]) -> SequenceMatcher[str]:
    return SequenceMatcher(None, some, others, autojunk=False)


def _included(text: str, page: Path, settings: Settings) -> Iterator[Path]:
    """Yield the files that lines name, from the project, the page, or a folder of snippets."""
    bases = settings.configs.get("pymdownx.snippets", {}).get("base_path") or ["."]
    bases = [bases] if isinstance(bases, str | os.PathLike) else bases
    folders = [page.parent, settings.docs, settings.root]
    folders += [settings.root / os.fspath(base) for base in bases]
    for named in dict.fromkeys(PATH.findall(text)):
        if file := next((one / named for one in folders if (one / named).is_file()), None):
            yield file


def _text_of(file: Path) -> str:
    return normal(file.read_text(encoding="utf-8", errors="replace"))
