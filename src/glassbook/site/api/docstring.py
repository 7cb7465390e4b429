"""The parts of a docstring, in the order in which an entry shows them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

import griffe

PARAGRAPHS = re.compile(r"\n{2,}(?! )")
# Paragraphs of our own kinds, which no docstring style has.
FACT = re.compile(r"(Shapes|Shapes and errors|Source): (.*)", re.DOTALL)
TITLES = {
    griffe.DocstringSectionKind.parameters: "Arguments",
    griffe.DocstringSectionKind.attributes: "Attributes",
}


@dataclass
class Docstring:
    """A docstring, taken apart.

    Attributes:
        text: Its paragraphs, as Markdown.
        facts: By title, a paragraph as Markdown, or names with their meanings; for "Raises", errors
            with the reasons for them.
        examples: Its doctests.
    """

    text: list[str] = field(default_factory=list)
    facts: dict[str, str | Mapping[str, str]] = field(default_factory=dict)
    examples: list[str] = field(default_factory=list)


def parse(text: str) -> Docstring:
    """Take a docstring apart.

    Raises:
        ValueError: It has a section that entries don't show.
    """
    parsed = Docstring()
    for section in griffe.parse_google(griffe.Docstring(text.strip()), warnings=False):
        if section.kind is griffe.DocstringSectionKind.text:
            for paragraph in filter(None, PARAGRAPHS.split(section.value)):
                if fact := FACT.fullmatch(paragraph):
                    parsed.facts[fact[1]] = fact[2]
                else:
                    is_example = paragraph.startswith(">>> ")
                    (parsed.examples if is_example else parsed.text).append(paragraph)
        elif section.kind is griffe.DocstringSectionKind.raises:
            errors = {str(one.annotation): _line(one.description) for one in section.value}
            parsed.facts["Raises"] = errors
        elif section.kind in TITLES:
            named = {_name(one): _line(one.description) for one in section.value}
            parsed.facts[TITLES[section.kind]] = named
        else:
            raise ValueError(f"no entry shows the section {section.kind.value} of {text!r}")
    return parsed


def _name(one: griffe.DocstringParameter | griffe.DocstringAttribute) -> str:
    """Return the name of an item, or its names; griffe takes a second one for a type."""
    return f"{one.name} {one.annotation}" if one.name.endswith(",") else one.name


def _line(text: str) -> str:
    return " ".join(text.split())
