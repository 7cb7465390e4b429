"""The index by subject is in order, and leads to all that the book must teach."""

import re
import tomllib
from functools import cache
from pathlib import Path

from sections import read_sections
from test_openings import NAV, text_of

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOPICS = DOCS / "reference/topics.md"
CONTRACT = tomllib.loads(Path(__file__).with_name("contract.toml").read_text(encoding="utf-8"))
# Chapters to come. Once one is in the navigation, nothing may be left as planned for it.
PLANNED = {"A Korean edition"}
LEFT_OUT = "What the book leaves out"
LINK = re.compile(r"\[((?:[^\[\]`]|`[^`]*`)+)\]\(([\w/.-]+)#([\w-]+)\)")


@cache
def listed() -> dict[str, dict[str, str]]:
    """Under each heading of the index its entries, each with where it leads."""
    groups = re.split(r"^## (.+?)(?: \{.+\})?$", TOPICS.read_text("utf-8"), flags=re.MULTILINE)
    found = {}
    for name, rows in zip(groups[1::2], groups[2::2], strict=True):
        cells = re.findall(r"^\| (?!subject)(.+?)(?: \(.+?\))? \| (.+) \|$", rows, re.MULTILINE)
        if name == LEFT_OUT:
            assert not cells
            continue
        found[name] = dict(cells)
        assert len(found[name]) == len(cells), name
    return found


def every() -> dict[str, str]:
    """Where each entry leads, under whatever heading it is."""
    return {entry: cell for rows in listed().values() for entry, cell in rows.items()}


def target(path: str) -> str:
    """The file that a link of the index names, from the folder of all pages."""
    return (TOPICS.parent / path).resolve().relative_to(DOCS).as_posix()


def targets(cell: str) -> list[str]:
    """The sections that an entry leads to."""
    return [f"{target(path)}#{anchor}" for _, path, anchor in LINK.findall(cell)]


def alphabetical(entry: str) -> str:
    return re.sub(r"[^a-z0-9 ]", "", entry.lower())


def test_entries_are_unique_and_in_alphabetical_order():
    for name, rows in listed().items():
        assert list(rows) == sorted(rows, key=alphabetical), name
    assert len(every()) == sum(map(len, listed().values())) > 250


def test_each_entry_leads_to_a_section_or_says_what_it_is_planned_for():
    for entry, cell in every().items():
        planned = re.findall(r"\*planned: (.+?)\*", cell)
        assert targets(cell) or planned, entry
        assert {*planned} <= PLANNED, entry


def test_a_link_has_the_words_of_its_heading_behind_those_of_its_chapter():
    wrong = []
    for entry, cell in every().items():
        for place in cell.split("<br>"):
            chapter = place.split(": [")[0]
            for words, path, anchor in LINK.findall(place):
                sections = read_sections(DOCS / target(path))
                titles = [one.title for one in sections.values() if one.level == 1]
                title = "Home" if target(path) == "index.md" else titles[0]
                heading = sections[anchor].title if anchor in sections else "nothing"
                if (chapter, words.replace("`", "")) != (title, heading.replace("`", "")):
                    wrong.append(f"{entry}: {chapter}: {words} leads to {title}: {heading}")
    assert not wrong, "\n".join(wrong)


def test_the_index_leads_to_a_section_on_each_item_of_the_contract():
    assert [*CONTRACT] == [str(number) for number in range(1, 123)]
    wrong = []
    for number, (item, subject, where, *held) in CONTRACT.items():
        path, _, anchor = where.partition("#")
        cell = every().get(subject, "")
        if not where:
            lost = [] if "*planned: " in cell else ["it is no longer planned"]
        elif where not in targets(cell):
            lost = [f"the index doesn't lead from {subject!r} to {where}"]
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


def test_what_is_planned_is_not_in_the_navigation_yet():
    files = [path for path in NAV if path.endswith(".md")]
    titles = {
        re.search(r"^# (.+)$", text_of(path), flags=re.MULTILINE)[1]
        for path in files
        if path != "index.md"
    }
    assert len(titles) > 5
    assert not titles & PLANNED
