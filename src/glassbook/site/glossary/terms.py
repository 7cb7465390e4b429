"""The terms of the glossary, read from its page, which has definition lists."""

import re
from dataclasses import dataclass, field

ENTRY = re.compile(
    r"^(?P<name>\S.*?) \{ #(?P<key>[\w-]+)(?: data-forms=\"(?P<forms>[^\"]*)\")? \}\n"
    r":   (?P<definition>.+?) \[[^\]]+\]\((?:\.\./)(?P<home>[\w/-]+\.md)[^)]*\)$",
    flags=re.MULTILINE,
)
NEVER = "-"


@dataclass(frozen=True)
class Term:
    """An entry of the glossary.

    Attributes:
        key: Its anchor.
        forms: How chapters write it; empty if its mentions are left alone.
        definition: What it means, in plain text.
        home: The chapter that explains it.
    """

    key: str
    forms: tuple[str, ...]
    definition: str
    home: str


@dataclass
class Glossary:
    """The terms, and a pattern for all their forms.

    Attributes:
        terms: Each term by each of its forms; a form with a capital must match exactly.
        pattern: Finds a form in a text, the longest first.
    """

    terms: dict[str, Term] = field(default_factory=dict)
    pattern: re.Pattern[str] = re.compile(r"(?!)")

    def find(self, word: str) -> Term | None:
        """Look up the term that has a word of a text as one of its forms."""
        return self.terms.get(word) or self.terms.get(word.lower())


def read_terms(text: str) -> Glossary:
    """Read the terms of the page.

    Raises:
        ValueError: An entry cannot be read, or two share a form.
    """
    terms: dict[str, Term] = {}
    entries = list(ENTRY.finditer(text))
    if len(entries) != len(re.findall("^:   ", text, flags=re.MULTILINE)):
        raise ValueError('an entry is not "Term { #key }", its definition, and a link to a chapter')
    for entry in entries:
        name = entry["name"][0].lower() + entry["name"][1:]
        given = entry["forms"] or f"{name}|{name}s"
        forms = () if given == NEVER else tuple(given.split("|"))
        term = Term(entry["key"], forms, entry["definition"], entry["home"])
        for form in forms:
            if form in terms:
                raise ValueError(f"{form!r} is a form of {terms[form].key} and of {term.key}")
            terms[form] = term
    longest = sorted(terms, key=len, reverse=True)
    either = "|".join(_pattern(form) for form in longest)
    return Glossary(terms, re.compile(rf"(?<![\w-])(?:{either})(?![\w-])"))


def _pattern(form: str) -> str:
    """Match a form as a text may write it: at the start of a sentence, or across a line break."""
    first = f"[{form[0]}{form[0].upper()}]" if form.islower() else form[0]
    return first + re.escape(form[1:]).replace(r"\ ", r"\s+")
