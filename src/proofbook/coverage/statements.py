"""Tell by grammar alone whether a sentence states something that could be true or false."""

import re
from collections.abc import Collection, Iterator, Sequence

from proofbook.coverage.candidates import OTHER
from proofbook.coverage.lexicon import YEARS
from proofbook.coverage.masking import blank
from proofbook.coverage.sentences import FORMULA, readable, sentences
from proofbook.coverage.verbs import DETERMINERS, MODALS, PREPOSITIONS, is_finite, is_past, word_set
from proofbook.parsing.page import Page
from proofbook.parsing.source import read

WORD = re.compile(rf"[^\W\d_]+(?:[-'][^\W\d_]+)*|[{OTHER}{FORMULA}]|[,;:|()]")
QUOTED = re.compile(r'["“][^"”“\s]+\s+[^"”“\s]+\s[^"”“]*["”]')
"""A quotation of three words or more."""
LINKED = re.compile(r"(?<=\[)[^\[\]]+(?=\]\()")
ELSEWHERE = re.compile(rf"\bet al\b|\barXiv\b|\bdoi\b|\bISBN\b|{YEARS.pattern}")
SIGNPOST = re.compile(r"\W*(?:next\W*:|(?:in|see|from) \[[^\]\n]*\]\()", re.IGNORECASE)
"""Openings of sentences that point the reader to another place."""
DEFINES = re.compile(r"\b(?:is|are) (?:called|known as|named|(?:an? |the )?\*\*)")

SUBORDINATORS = word_set("who whom whose which what where when how why whether if that")
BEFORE_HERE = word_set("and but now so then")
BEFORE_A_NOUN = PREPOSITIONS | SUBORDINATORS | {"because", "since", "but"}
PRONOUNS = word_set("i we you let let's everybody everyone nobody somebody someone anyone whoever")
PEOPLE = word_set("people reader readers author authors others")
TEXTS = word_set(
    "page pages chapter chapters section sections book books exercise exercises entry entries"
    " article articles introduction introductions notebook notebooks paper papers tutorial"
    " tutorials"
)
THIS_TEXT = re.compile(rf"\b(?:this|these) (?:{'|'.join(sorted(TEXTS))})\b")


def unbound(page: Page, bound: Collection[tuple[int, int]]) -> Iterator[tuple[int, str]]:
    """Yield line and text of each sentence that states something but binds nothing.

    Args:
        page: The page.
        bound: Start and end of each bound stretch in its source's text.
    """
    text = page.source.text
    for start, end in sentences(page.source):
        is_bound = any(first < end and start < last for first, last in bound)
        if not is_bound and states(text[start:end]):
            yield page.offset + text.count("\n", 0, start) + 1, " ".join(text[start:end].split())


def states(text: str) -> bool:
    """Return whether a sentence, given as Markdown, states something about its subject.

    It does if it contains a claim, or if a main clause has a finite verb whose subject isn't the
    author, the reader, or the text itself. Questions, commands, fragments, definitions, and
    references state nothing.
    """
    source = read(text)
    if any(not span.reason for span in source.spans):
        return True
    words = readable(source)
    if words.rstrip(' )*_"”').endswith("?"):
        return False
    if any(pattern.search(text) for pattern in (ELSEWHERE, DEFINES)) or SIGNPOST.match(text):
        return False
    for other in [*QUOTED.finditer(words), *LINKED.finditer(text)]:
        words = blank(words, *other.span(), OTHER)
    clauses = _clauses(words.replace("’", "'").lower())
    is_row = text.startswith("|")  # its cells may have participles, but rarely past tenses
    return any(_has_statement(clause, not is_row) for clause in clauses)


def _clauses(text: str) -> Iterator[list[str]]:
    """Split the words of a sentence at all punctuation except commas."""
    clause: list[str] = []
    for word in WORD.findall(text):
        if word in ";:|()":
            yield clause
            clause = []
        else:
            clause.append(word)
    yield clause


def _has_statement(words: Sequence[str], has_past: bool) -> bool:
    """Return whether a clause states something; past forms count only if there's no other verb."""
    if THIS_TEXT.search(" ".join(words)):
        return False
    found = _finds_statement(words, by_past=False)
    if found is None and has_past:
        found = _finds_statement(words, by_past=True)
    return bool(found)


def _finds_statement(words: Sequence[str], by_past: bool) -> bool | None:
    """Return whether some verb is neither in a subordinate clause nor about people or a text.

    Each subordinator takes one of the verbs after it, and so does each person or text. Return
    `None` if there is no verb at all.
    """
    waiting, person = 0, False
    found: bool | None = None
    for at, word in enumerate(words):
        is_taken = waiting and (word in MODALS or is_past(words, at))
        if is_taken or is_finite(words, at) or (by_past and is_past(words, at)):
            found = False
            if not (waiting or person or _is_announcement(words[:at])):
                return True
            waiting, person = max(0, waiting - 1), False
        person = person or word in PRONOUNS or _is_other_subject(words, at)
        waiting += _is_subordinator(words, at)
    return found


def _is_announcement(words: Sequence[str]) -> bool:
    """Return whether the words before a verb only point ahead, as in *Here is …*."""
    return words[-1:] == ["here"] and BEFORE_HERE.issuperset(words[:-1])


def _is_subordinator(words: Sequence[str], at: int) -> bool:
    """Return whether a word begins a subordinate clause."""
    is_pronoun = at == 0 or words[at - 1] in BEFORE_A_NOUN or words[at + 1 : at + 2] == ["of"]
    return words[at] in SUBORDINATORS and not (words[at] == "that" and is_pronoun)


def _is_other_subject(words: Sequence[str], at: int) -> bool:
    """Return whether a word refers to people or a text and has no preposition before it."""
    before = [word for word in words[max(0, at - 2) : at] if word not in DETERMINERS]
    return words[at] in PEOPLE | TEXTS and PREPOSITIONS.isdisjoint(before[-1:])
