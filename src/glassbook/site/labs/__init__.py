"""Labs: notebooks that mkdocs-jupyter finds and runs, shown like the chapters.

Left alone, mkdocs-jupyter puts JupyterLab's style sheets into every page and loads MathJax and
Mermaid from other hosts. It takes its templates from a folder; those in `jupyter/` return the
notebook that has run, as data. The notebook's text goes through the book's own Markdown, links and
formulas included, and its cells look like a chapter's blocks.
"""
