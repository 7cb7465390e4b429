"""Explain the formulas of a lab, as the engine does for chapters."""

from xml.etree.ElementTree import Element

from markdown import Markdown
from markdown.extensions import Extension
from markdown.treeprocessors import Treeprocessor

from proofbook.maths.explain import Explainer

LATE = 4  # after the table of contents, before links are resolved


class Explained(Extension):
    """Explains the formulas of a page before its links are resolved."""

    def __init__(self, explainer: Explainer) -> None:
        super().__init__()
        self.explainer = explainer

    def extendMarkdown(self, md: Markdown) -> None:  # noqa: N802 (Python-Markdown's name)
        """Run at the point where the formulas of chapters are explained."""
        md.treeprocessors.register(_Explaining(md, self.explainer), "lab-symbols", LATE)


class _Explaining(Treeprocessor):
    def __init__(self, md: Markdown, explainer: Explainer) -> None:
        super().__init__(md)
        self.explainer = explainer

    def run(self, root: Element) -> None:
        """Explain the formulas on the page."""
        self.explainer.explain(root)
