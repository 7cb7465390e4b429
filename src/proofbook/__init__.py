"""The engine that runs, checks, caches, and renders Markdown chapters."""

__version__ = "0.2.0"
