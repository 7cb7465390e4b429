"""The API reference, made from the source; mentions of a symbol link to it, and it links back.

griffe takes docstrings apart. mkdocstrings, which would make whole pages with it, was tried and was
not enough: it calls a formatter for each signature, takes several times as long, and knows neither
which messages a function raises nor which chapters use it.
"""
