"""Mathematics as MathML, made when a page is built: the Markdown extension `proofbook.maths`."""

from proofbook.maths.extension import MathsExtension, makeExtension

__all__ = ["MathsExtension", "makeExtension"]
