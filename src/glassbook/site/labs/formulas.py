"""Explain the formulas of a lab, as the engine does for chapters."""

from xml.etree.ElementTree import Element

from glassbook.site.common import TreeStep
from proofbook.maths.explain import Explainer


class Explained(TreeStep):
    """Explains the formulas of a page before its links are resolved."""

    step = "lab-symbols", 4  # after the table of contents, before links are resolved

    def __init__(self, explainer: Explainer) -> None:
        super().__init__()
        self.explainer = explainer

    def run(self, root: Element) -> None:
        """Explain the formulas on the page."""
        self.explainer.explain(root)
