"""The language model of the book: fetch it, unpack it, load it."""

from glassbook.smollm.language import language_checkpoint, language_model

__all__ = ["language_checkpoint", "language_model"]
