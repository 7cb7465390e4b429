"""The Markdown extension `proofbook.maths`, which converts formulas to MathML at build time."""

from proofbook.maths.extension import MathsExtension, makeExtension

__all__ = ["MathsExtension", "makeExtension"]
