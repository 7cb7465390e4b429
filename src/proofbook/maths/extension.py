"""Mathematics written in TeX and shown as MathML, made when the page is built: no script, no image.

A Markdown extension of its own: `markdown_extensions: [proofbook.maths]` turns `$…$` and `\\(…\\)`
into formulas in the line, `$$…$$`, `\\[…\\]` and `\\begin{…}` into displayed ones. With
`symbols: PAGE`, the formulas of a book are explained by the tables of that page; see
`proofbook.maths.symbol_table`.
"""

import html
from xml.etree.ElementTree import Element

from markdown import Extension, Markdown
from markdown.treeprocessors import Treeprocessor

from proofbook.maths.explain import SymbolsTreeprocessor
from proofbook.maths.mathml import to_mathml

_LATE = 15  # after the inline patterns (20), before the table of contents (5)
_LAST = 4  # after the table of contents, before links are resolved


class MathsTreeprocessor(Treeprocessor):
    """Replaces the TeX that arithmatex found by MathML."""

    def run(self, root: Element) -> None:
        """Put a formula into each element that arithmatex made."""
        for element in list(root.iter()):
            if element.get("class") != "arithmatex":
                continue
            display = element.tag == "div"
            tex = html.unescape(element.text or "") if display else element.text or ""
            element.text = None
            element.set("class", "maths-block" if display else "maths")
            element.append(to_mathml(tex.strip(), display))


class MathsExtension(Extension):
    """The `proofbook.maths` Markdown extension."""

    def __init__(self, **options: object) -> None:
        self.config = {"symbols": ["", "The page with the symbols of the book, in its folder"]}
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown's name)
        """Let arithmatex find the formulas, then translate them."""
        bare = ["", ""]
        options = {"generic": True, "tex_inline_wrap": bare, "tex_block_wrap": bare}
        md.registerExtensions(["pymdownx.arithmatex"], {"pymdownx.arithmatex": options})
        md.treeprocessors.register(MathsTreeprocessor(md), "proofbook-maths", _LATE)
        if page := self.getConfig("symbols"):
            md.treeprocessors.register(SymbolsTreeprocessor(md, page), "proofbook-symbols", _LAST)


def makeExtension(**kwargs: object) -> MathsExtension:  # noqa: N802 (Python-Markdown's name)
    """Make the extension, as Python-Markdown asks for it."""
    return MathsExtension(**kwargs)
