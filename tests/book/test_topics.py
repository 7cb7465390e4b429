"""The index by subject is in order, and each section that it leads to treats its subject."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from pages import read
from sections import read_sections

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
TOPICS = DOCS / "reference/topics.md"
SUBJECTS = tomllib.loads((Path(__file__).parent / "subjects.toml").read_text(encoding="utf-8"))
# Chapters to come. Once one is in the navigation, nothing may be left as planned for it.
PLANNED = {"A Korean edition"}
LEFT_OUT = "What the book leaves out"
HELD = [
    (entry, where, tuple(held))
    for entries in SUBJECTS.values()
    for entry, places in entries.items()
    for where, held in places.items()
]
LINK = re.compile(r"\[((?:[^\[\]`]|`[^`]*`)+)\]\(([\w/.-]+)#([\w-]+)\)")

pytestmark = pytest.mark.xdist_group("site")


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


def target(path: str) -> str:
    """The file that a link of the index names, from the folder of all pages."""
    return (TOPICS.parent / path).resolve().relative_to(DOCS).as_posix()


def alphabetical(entry: str) -> str:
    return re.sub(r"[^a-z0-9 ]", "", entry.lower())


def test_each_subject_is_listed_once_and_its_entries_are_in_alphabetical_order():
    entries = listed()
    assert {name: list(rows) for name, rows in entries.items()} == {
        name: list(rows) for name, rows in SUBJECTS.items()
    }
    for rows in entries.values():
        assert list(rows) == sorted(rows, key=alphabetical)
    every = [entry for rows in entries.values() for entry in rows]
    assert len(set(every)) == len(every) > 250


@pytest.mark.parametrize("name", SUBJECTS)
def test_an_entry_leads_to_the_sections_that_are_looked_at(name):
    for entry, cell in listed()[name].items():
        links = LINK.findall(cell)
        assert [f"{target(path)}#{anchor}" for _, path, anchor in links] == [
            *SUBJECTS[name][entry]
        ], entry
        planned = re.findall(r"\*planned: (.+?)\*", cell)
        assert links or planned, entry
        assert {*planned} <= PLANNED, entry


def test_a_link_has_the_words_of_its_heading_behind_those_of_its_chapter():
    for rows in listed().values():
        for entry, cell in rows.items():
            for place in cell.split("<br>"):
                chapter = place.split(": [")[0]
                for words, path, anchor in LINK.findall(place):
                    sections = read_sections(DOCS / target(path))
                    titles = [one.title for one in sections.values() if one.level == 1]
                    assert sections[anchor].title.replace("`", "") == words.replace("`", ""), entry
                    assert chapter == ("Home" if target(path) == "index.md" else titles[0]), entry


@pytest.mark.parametrize(("entry", "where", "held"), HELD)
def test_a_section_treats_its_subject(entry, where, held):
    path, anchor = where.split("#")
    text = read_sections(DOCS / path)[anchor].text
    assert held, entry
    assert [one for one in held if one not in text] == [], f"{where} lacks what {entry!r} promises"


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
    # The file's own tags (!ENV, !!python/name) are nobody's business here.
    text = re.sub(r"(?<=\s)!\S+", "", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"))
    files = re.findall(r"[\w/-]+\.md", str(yaml.safe_load(text)["nav"]))
    assert len(files) > 5
    titles = set()
    for file in files:
        heading = re.search(r"^# (.+)$", (ROOT / "docs" / file).read_text(), flags=re.MULTILINE)
        titles.add(heading[1])
    assert not titles & PLANNED


def test_links_name_the_heading_they_lead_to(site):
    folder = site / "reference/topics"
    page = read(folder / "index.html")
    table = [
        tag for tag in page.named("a") if re.match(r"\.\./.+#", tag.attributes.get("href", ""))
    ]
    table = [tag for tag in table if "md-" not in tag.attributes.get("class", "")]
    table = [tag for tag in table if "the-catalogue" not in tag.attributes["href"]]
    assert len(table) > 400
    for tag in table:
        path, anchor = tag.attributes["href"].split("#")
        there = read((folder / path / "index.html").resolve())
        named = [h for h in there.named("h2", "h3") if h.attributes.get("id") == anchor]
        assert named, tag.attributes["href"]
        assert named[0].text.removesuffix("#").strip() == tag.text.strip()
