"""Labs: notebooks that mkdocs-jupyter finds and runs, shown as the chapters are.

Left alone, mkdocs-jupyter puts JupyterLab's style sheets into every page and asks other hosts for
MathJax and Mermaid. It takes its templates from a folder; those in `jupyter/` return the
notebook that has run, as data. Its text goes through the book's own Markdown, links and formulas
included, and its cells get the look of a chapter's blocks.
"""
