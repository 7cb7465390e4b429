"""Labs: notebooks that run when the book is built, shown like the chapters.

mkdocs-jupyter was tried and was not enough: it puts JupyterLab's style sheets into every page, and
loads MathJax and Mermaid from other hosts. Here, a notebook's text goes through the book's own
Markdown, links and formulas included, and its cells look like a chapter's blocks.
"""
