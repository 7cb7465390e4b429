"""Explain the terms of the glossary where a chapter first uses them.

The glossary is a page of definition lists. `terms` reads it, and `links` turns the first mention of
each term in a chapter into a link that carries the definition, which `aids.js` shows. A chapter
that a term's entry links to explains the term itself, and has no such link.

mkdocs-ezglossary-plugin (2.1) was not enough: each mention has to be marked in the text by hand.
"""
