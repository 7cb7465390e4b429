"""Each chapter says under its question what it gives and takes."""

import posixpath
import re
from functools import cache
from pathlib import Path

from mkdocs.utils import meta
from pages import read

DOCS = Path(__file__).parents[2] / "docs"
NAV = re.findall(
    r"(?<=[ :])[\w/-]+\.(?:md|py)(?=\n|$)",
    (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2],
)
OPENING = re.compile(r"\n\n\*You will know:\* .+[\n ]\*You need:\* (.+)\n\n")
LINK = re.compile(r"\]\(([\w./-]+\.(?:md|py))")


def text_of(path: str) -> str:
    """What a page says, without its front matter; of a lab, its cells as one text."""
    text = (DOCS / path).read_text(encoding="utf-8")
    if path.endswith(".md"):
        return meta.get_data(text)[0]
    return re.sub(r"(?<=[^.:!])\n(?=[a-z\[])", " ", re.sub(r"^# ?", "", text, flags=re.MULTILINE))


def links(path: str, text: str) -> list[str]:
    """The pages that a text leads to."""
    return [
        posixpath.normpath(posixpath.join(posixpath.dirname(path), link))
        for link in LINK.findall(text)
    ]


def is_chapter(path: str) -> bool:
    front = meta.get_data((DOCS / path).read_text(encoding="utf-8"))[1]
    return path.endswith(".md") and "modules" in front


CHAPTERS = [path for path in NAV if is_chapter(path)]
TAUGHT = [*CHAPTERS, "one-sentence.md", *(path for path in NAV if path.startswith("labs/"))]


@cache
def needs(path: str) -> list[str]:
    found = OPENING.search(text_of(path))
    assert found, path
    return [page for page in links(path, found[1]) if page in CHAPTERS]


def test_a_page_opens_on_its_question_and_says_then_what_it_gives_and_what_it_takes():
    wrong = []
    for path in TAUGHT:
        text = text_of(path).replace("%% [markdown]\n", "")
        opening, *more = OPENING.finditer(text)
        before = text[: opening.start()]
        section = before.rpartition("# ")[2].partition("\n")[2]
        if more or before.count("\n## ") > 1:
            wrong.append(f"{path}: the opening is there twice, or in the second section")
        if not re.search(r'^[A-Z*"].{30,}', section, re.MULTILINE):
            wrong.append(f"{path}: nothing is said before what it gives")
    assert not wrong, "\n".join(wrong)


def test_what_a_chapter_builds_on_comes_before_it():
    for turn, path in enumerate(CHAPTERS):
        assert {*needs(path)} <= {*CHAPTERS[:turn]}, path
        assert turn == 0 or needs(path), path


def test_one_line_of_the_page_says_what_it_gives_and_takes_and_a_box_lists_its_sections(site):
    for path in TAUGHT:
        page = read(site / path.rpartition(".")[0] / "index.html")
        html = page.path.read_text(encoding="utf-8")
        opening = r'<p class="opening"><em>You will know:</em>(?:(?!</p>).)*'
        [line] = re.findall(opening, html, re.DOTALL)
        assert line.count("<em>You need:</em>") == 1, path
        assert "<br" not in line, path
        boxes = html.split('<details class="contents" data-search-exclude>')[1:]
        assert len(boxes) == (path in CHAPTERS), path
        for box in boxes:
            sections = [tag.attributes["id"] for tag in page.named("h2") if "id" in tag.attributes]
            inside = box.partition("</details>")[0]
            assert re.findall(r'<li>.*?href="#([^"]+)"', inside, re.DOTALL) == sections, path
            assert len(sections) > 2, path
