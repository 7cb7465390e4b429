"""Links from inline code in sentences to what it names."""

from collections.abc import Callable
from xml.etree.ElementTree import Element

from glassbook.site.common import TreeStep

VERBATIM = {"a", "button", "summary", "h1", "h2", "h3", "h4", "h5", "h6", "pre"}


class SymbolLinks(TreeStep):
    """Turns inline code that names one of the package's symbols into a link to its entry.

    Attributes:
        address: returns the address of the symbol that inline code names on this page;
            None if it names nothing.
    """

    step = "symbols", -5  # after MkDocs, which would take the addresses for file paths

    def __init__(self) -> None:
        self.address: Callable[[str], str | None] = lambda code: None
        super().__init__()

    def run(self, root: Element) -> None:
        """Wrap each piece of inline code that has an address in a link."""
        for place, child in enumerate(root):
            if child.tag == "code":
                address = self.address(child.text or "")
                if address:
                    root[place] = _link(child, address)
            elif child.tag not in VERBATIM:
                self.run(child)


def _link(code: Element, address: str) -> Element:
    link = Element("a", {"class": "symbol", "href": address})
    link.tail, code.tail = code.tail, None
    link.append(code)
    return link
