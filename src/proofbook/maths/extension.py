r"""TeX formulas, converted to MathML when a page is built, without scripts or images.

This is a separate Markdown extension: `markdown_extensions: [proofbook.maths]` turns `$…$` and
`\(…\)` into inline formulas, and `$$…$$`, `\[…\]`, and `\begin{…}` into displayed ones. With
`symbols: PAGE`, the tables of that page explain the formulas of a book; see
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
    """Replaces the TeX that arithmatex found with MathML."""

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
        self.config = {"symbols": ["", "The page with the book's symbols, in the docs folder"]}
        super().__init__(**options)

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown's name)
        """Register arithmatex to find the formulas, and processors to convert them."""
        bare = ["", ""]
        options = {"generic": True, "tex_inline_wrap": bare, "tex_block_wrap": bare}
        md.registerExtensions(["pymdownx.arithmatex"], {"pymdownx.arithmatex": options})
        md.treeprocessors.register(MathsTreeprocessor(md), "proofbook-maths", _LATE)
        if page := self.getConfig("symbols"):
            md.treeprocessors.register(SymbolsTreeprocessor(md, page), "proofbook-symbols", _LAST)


def makeExtension(**kwargs: object) -> MathsExtension:  # noqa: N802 (Python-Markdown's name)
    """Make the extension; Python-Markdown calls this."""
    return MathsExtension(**kwargs)
