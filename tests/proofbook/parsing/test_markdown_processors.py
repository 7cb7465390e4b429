"""The marks reach the page, whatever else converts Markdown meanwhile."""

import pytest
from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor
from pymdownx.superfences import SuperFencesException

from proofbook.parsing.markdown_processors import MarkingExtension
from proofbook.parsing.source import Marks, SourceText, read


class Renderer:
    """Shows where it is asked."""

    stray = None

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open(self, text: str) -> SourceText:
        self.opened.append(text.strip())
        self.source = read(text)
        return self.source

    def has_fence(self, index: int) -> bool:
        return index != 1

    def fence(self, index: int, md: Markdown) -> str:
        if self.source.fences[index].code == "break":
            raise KeyError("no such thing")
        return f"<p>fence {index}</p>"

    def claim(self, index: int) -> Marks | None:
        return None if index == 1 else ("<i>", f"*{index}*", "</i>")

    def ends(self) -> tuple[str, str]:
        return "<p>head</p>", "<p>foot</p>"


class Inner(Extension):
    """Converts something else in the middle of a page, as a docstring is."""

    def __init__(self, marking: MarkingExtension) -> None:
        super().__init__()
        self.marking = marking

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802
        md.treeprocessors.register(_Inner(md, self.marking), "inner", 30)


class _Inner(Treeprocessor):
    def __init__(self, md: Markdown, marking: MarkingExtension) -> None:
        super().__init__(md)
        self.marking = marking

    def run(self, root) -> None:
        Markdown(extensions=[self.marking]).convert("```python\nnever run\n```\n`x`{ holds }")


def convert(text: str, *extensions) -> tuple[str, Renderer]:
    marking, renderer = MarkingExtension(), Renderer()
    marking.use(renderer)
    return Markdown(extensions=[*extensions, marking]).convert(text), renderer


FENCE = "```python\nx\n```\n"


def test_fences_and_claims_stand_at_their_marks():
    html, _ = convert(
        f"{FENCE}\n{FENCE}\n> {FENCE.replace(chr(10), chr(10) + '> ')}\nA [b]{{ equals='x' }}."
    )
    assert html.index("head") < html.index("fence 0") < html.index("fence 2") < html.index("foot")
    assert "fence 1" not in html
    assert "<p>A <i><em>0</em></i>.</p>" in html


def test_superfences_may_come_before_or_after():
    marking, renderer = MarkingExtension(), Renderer()
    marking.use(renderer)
    html = Markdown(extensions=[marking, "pymdownx.superfences"]).convert(FENCE)
    assert "fence 0" in html
    assert "fence 0" in convert(FENCE, "pymdownx.superfences")[0]


def test_what_is_converted_within_a_page_is_left_alone():
    marking, renderer = MarkingExtension(), Renderer()
    marking.use(renderer)
    html = Markdown(extensions=[marking, Inner(marking)]).convert(FENCE)
    assert renderer.opened == [FENCE.strip()]
    assert html.count("foot") == 1


def test_a_page_after_one_that_broke_off_is_shown():
    marking, renderer = MarkingExtension(), Renderer()
    marking.use(renderer)
    md = Markdown(extensions=[marking])
    for _ in range(2):
        with pytest.raises(SuperFencesException, match="KeyError: 'no such thing'"):
            md.convert("```python\nbreak\n```")
    assert "fence 0" in md.reset().convert(FENCE)
