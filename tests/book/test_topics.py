"""Chapters name their subjects, and lead to all that the book must teach."""

import re
import tomllib
from functools import cache
from pathlib import Path

from mkdocs.utils import meta
from sections import read_sections

DOCS = Path(__file__).parents[2] / "docs"
CONTRACT = tomllib.loads(Path(__file__).with_name("contract.toml").read_text(encoding="utf-8"))
PLANNED = {"Korean edition"}


@cache
def subjects() -> dict[str, list[str]]:
    """The sections about each subject, over all pages."""
    found: dict[str, list[str]] = {}
    for path in sorted(DOCS.rglob("*.md")):
        front = meta.get_data(path.read_text(encoding="utf-8"))[1]
        page = path.relative_to(DOCS).as_posix()
        for entry, anchors in front.get("subjects", {}).items():
            name = re.sub(r" \(.+\)$", "", entry)
            found.setdefault(name, []).extend(f"{page}#{anchor}" for anchor in anchors)
    return found


def test_each_subject_leads_to_a_section():
    assert len(subjects()) > 250
    places = [place for found in subjects().values() for place in found]
    lost = [
        place
        for place in places
        if (parts := place.split("#"))[1] not in read_sections(DOCS / parts[0])
    ]
    assert not lost, "\n".join(lost)


def test_the_subjects_lead_to_a_section_on_each_item_of_the_contract():
    assert [*CONTRACT] == [str(number) for number in range(1, 123)]
    wrong = []
    for number, (item, subject, where, *held) in CONTRACT.items():
        path, _, anchor = where.partition("#")
        if not where:
            lost = [] if subject in PLANNED else ["it is neither taught nor planned"]
        elif where not in subjects().get(subject, []):
            lost = [f"{path} names no subject {subject!r} for its section {anchor}"]
        else:
            text = read_sections(DOCS / path)[anchor].text
            lost = [f"{where} lacks {words!r}" for words in held if words not in text]
            lost += [] if held else ["no words say that its section is there"]
        wrong += [f"{number}, {item}: {what}" for what in lost]
    assert not wrong, "\n".join(wrong)


def test_what_a_section_holds_is_told_by_what_its_reader_sees(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(
        """# Page

## One { #first }

Seen, [two]{ equals="hidden_one" }. <!-- hidden_two -->

```facts
hidden three: 1 < 2
```

```python show="made.up:name"
# no heading
```

### Two `parts`

Below.

## Three

Elsewhere.
""",
        encoding="utf-8",
    )
    sections = read_sections(page)
    assert list(sections) == ["page", "first", "two-parts", "three"]
    first = sections["first"]
    assert (first.level, first.title) == (2, "One")
    for seen in ("Seen, [two].", 'show="made.up:name"', "# no heading", "Two `parts`", "Below."):
        assert seen in first.text
    for unseen in ("hidden", "One", "Elsewhere"):
        assert unseen not in first.text
    assert sections["two-parts"].text.strip() == "Below."
