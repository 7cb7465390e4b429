"""Every citation leads to a work, every work is cited, and the ids on both sides agree."""

import re
from functools import cache
from pathlib import Path

from pages import Page

ROOT = Path(__file__).parents[2]
WORKS = ROOT / "docs/reference/bibliography.bib"
CITATION = re.compile(r"\[([^\]\[]+) \((\d{4})\)\]\([./]*reference/bibliography\.md#([\w-]+)\)")
ANY_LINK = re.compile(r"bibliography\.md#([\w-]+)")
UNLINKED = re.compile(r"(?:[A-Z][\w-]+|et al\.),? \(?(?:19|20)\d\d\)?(?!\])")
ARXIV = re.compile(r"\[arXiv:([^\]]+)\]\(https://arxiv\.org/abs/([^)]+)\)")
DOI = re.compile(r"\[doi:([^\]]+)\]\(https://doi\.org/([^)]+)\)")

WITHOUT_ID = {"gage1994", "tunstall2022"}
"""A magazine's article, older than its publisher's ids, and a book."""


@cache
def works() -> dict[str, dict[str, str]]:
    """The fields of each entry, read line by line, without the library that the page uses."""
    text = WORKS.read_text(encoding="utf-8")
    found = {}
    for kind, key, body in re.findall(r"^@(\w+)\{(\w+),\n(.*?)^\}", text, re.M | re.S):
        fields = dict(re.findall(r"^  (\w+) += \{(.*)\},$", body, re.M))
        assert len(fields) == body.count("\n"), key
        found[key] = {"kind": kind, **fields}
    assert len(found) == text.count("@")
    return found


def ways_to_say(authors: str) -> set[str]:
    """How a chapter may name authors: all of up to three, or the first of at least three."""
    names = [name.partition(",")[0] for name in authors.split(" and ")]
    last = ", and " if len(names) > 2 else " and "
    all_of_them = last.join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    ways = {all_of_them} if len(names) <= 3 and "others" not in names else set()
    return ways | ({f"{names[0]} et al."} if len(names) >= 3 else set())


@cache
def sources() -> dict[str, str]:
    """The sources of each chapter, as text."""
    found = {}
    for file in sorted((ROOT / "docs").rglob("*.md")):
        _, heading, after = file.read_text(encoding="utf-8").partition("\n## Sources\n")
        if heading:
            found[str(file.relative_to(ROOT))] = after.partition("\n**Next:**")[0]
    assert len(found) > 15
    return found


def test_chapters_cite_works_by_the_names_the_years_and_the_ids_that_they_have():
    known, wrong = works(), []
    for path, text in sources().items():
        assert CITATION.search(text), path
        assert len(CITATION.findall(text)) == len(ANY_LINK.findall(text)), path
        ends = [*(match.start() for match in CITATION.finditer(text)), len(text)][1:]
        for match, end in zip(CITATION.finditer(text), ends, strict=True):
            names, year, key = match.groups()
            work = known[key]
            if names not in ways_to_say(work["author"]) or year != work["year"]:
                wrong.append(f"{path}: {match[0]}")
            for field, pattern in (("eprint", ARXIV), ("doi", DOI)):
                for said in pattern.findall(text[match.end() : end]):
                    if {*said} != {work.get(field)}:
                        wrong.append(f"{path}: {key}: {field}: {said}")
    assert not wrong, "\n".join(wrong)


def test_no_citation_goes_without_a_link():
    for path, text in sources().items():
        bare = ARXIV.sub("", DOI.sub("", CITATION.sub("", text)))
        assert not UNLINKED.findall(bare), path


def test_each_work_is_cited():
    cited = {key for text in sources().values() for _, _, key in CITATION.findall(text)}
    assert cited == works().keys()


def test_ids_are_well_formed_and_nobody_has_anothers():
    known = works()
    for key, fields in known.items():
        assert re.fullmatch(r"(?:18|19|20)\d\d", fields["year"]), key
        assert key.startswith(re.sub(r"\W", "", fields["author"].partition(",")[0]).lower()), key
        assert fields["year"] in key
        if fields["kind"] != "techreport" and key not in WITHOUT_ID:
            assert "eprint" in fields or "doi" in fields, key
        if "doi" in fields:
            assert re.fullmatch(r"10\.\d{4,9}/[\w./-]+\w", fields["doi"]), key
        if "eprint" in fields:
            month = re.fullmatch(r"(\d\d)(0[1-9]|1[0-2])\.\d{4,5}", fields["eprint"])
            assert month, key
            late = fields["year"] < f"20{month[1]}"
            assert not late or key == "erkan2004", key  # put there by the journal years later
    for field in ("eprint", "doi", "title"):
        values = [fields[field] for fields in known.values() if field in fields]
        assert len(values) == len(set(values))


def test_a_work_names_who_cites_it_in_reading_order(site):
    html = (site / "reference/bibliography/index.html").read_text(encoding="utf-8")
    entry = html.partition('id="vaswani2017"')[2].partition("</p>")[0]
    cited = re.findall(r">([^<>]+)</a>", entry.partition("Cited in")[2])
    places = [cited.index(title) for title in ("Attention", "Positions", "Masks", "Translation")]
    assert places == sorted(places)


def test_the_page_lists_each_work_once_and_leads_back(site):
    page = Page(site / "reference/bibliography/index.html")
    known = works()
    entries = {tag.attributes["id"]: tag for tag in page.named("p") if "id" in tag.attributes}
    assert entries.keys() == known.keys()
    names = [fields["author"].partition(",")[0].lower() for fields in known.values()]
    assert len(entries) == len(names) > 40
    for key, tag in entries.items():
        assert known[key]["title"] in tag.text.replace("’", "'"), key
        for field in ("year", "eprint", "doi"):
            assert known[key].get(field, "") in tag.text
    assert "Ł" in entries["vaswani2017"].text
    cited_in = {key: [p for p, t in sources().items() if f"#{key})" in t] for key in known}
    links = [tag.attributes.get("href", "") for tag in page.named("a")]
    back = [href for href in links if href.endswith("#sources")]
    assert len(back) == sum(len(set(paths)) for paths in cited_in.values())
    for href in set(back):
        target = (site / "reference/bibliography" / href.partition("#")[0] / "index.html").resolve()
        assert "sources" in Page(target).ids
    assert (site / "reference/bibliography.bib").read_bytes() == WORKS.read_bytes()
