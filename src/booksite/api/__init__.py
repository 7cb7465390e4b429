"""The API reference, made from the source; mentions of a symbol lead there, and back from there.

griffe says which names there are, where, and what their docstrings say. mkdocstrings, which would
make pages of that, was tried and was not enough: it calls a formatter for each signature, takes
several times as long, and knows neither which messages a function raises nor which chapters use it.
"""
