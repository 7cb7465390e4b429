"""Whether a sentence states something that could be found true or false, by its grammar alone."""

import re
from collections.abc import Iterator

from proofbook.coverage.candidates import OTHER
from proofbook.coverage.lexicon import YEARS
from proofbook.coverage.masking import blank
from proofbook.coverage.sentences import readable
from proofbook.coverage.verbs import is_finite, is_past
from proofbook.parsing.source import read

WORD = re.compile(rf"[^\W\d_]+(?:[-'][^\W\d_]+)*|{OTHER}|[,;:|()]")
QUOTED = re.compile(r'["“][^"”“]*\s[^"”“]*\s[^"”“]*["”]')
ELSEWHERE = re.compile(rf"\bet al\b|\barXiv\b|\b(?:doi|isbn)\b|{YEARS.pattern}")
"""What sends the reader to the work of others."""
DEFINES = re.compile(
    r"\b(?:is|are) (?:called|known as|named)\b|\b(?:is|are) (?:an? |the )?\*\*", re.IGNORECASE
)
SUBORDINATORS = frozenset("who whom whose which what where when how why whether if that".split())
PERSONS = frozenset(
    "i we you let let's everybody everyone nobody no-one somebody someone anyone people reader"
    " readers author authors whoever others".split()
)
DOCUMENT = frozenset(
    "page pages chapter chapters section sections book books exercise exercises entry entries"
    " paper papers notebook notebooks solution below above".split()
)
CLAUSE = frozenset(";:|()")
PREPOSITIONS = frozenset("of in on at by for with from to into after before than".split())


def states(text: str) -> bool:
    """Tell whether a sentence, as Markdown has it, states something about its subject.

    A sentence states something where one of its verbs is finite, not within a subordinate clause,
    and has a subject other than its author, its reader or the text itself. Questions, orders,
    fragments, definitions and references have none.
    """
    source = read(text)
    if any(not span.reason for span in source.spans):
        return True
    words = readable(source)
    if words.rstrip(" )*_\"”").endswith("?") or ELSEWHERE.search(text) or DEFINES.search(text):
        return False
    for quoted in QUOTED.finditer(words):
        words = blank(words, *quoted.span(), OTHER)
    return any(_has_statement(clause) for clause in _clauses(words.replace("’", "'").lower()))


def _clauses(text: str) -> Iterator[list[str]]:
    clause: list[str] = []
    for word in WORD.findall(text):
        if word in CLAUSE:
            yield clause
            clause = []
        else:
            clause.append(word)
    yield clause


def _has_statement(words: list[str]) -> bool:
    """Look for a finite verb that is not taken by a subordinator or a person before it."""
    if DOCUMENT & {*words}:
        return False
    for is_verb in (is_finite, is_past):
        waiting, person, found = 0, False, False
        for at, word in enumerate(words):
            if is_verb(words, at):
                found = True
                if waiting:
                    waiting, person = waiting - 1, False
                elif person or words[at - 1 : at] == ["here"]:
                    person = False
                else:
                    return True
            person = person or word in PERSONS
            if word in SUBORDINATORS and not (word == "that" and (at == 0 or words[at - 1] in PREPOSITIONS)):
                waiting += 1
        if found:
            return False
    return False
