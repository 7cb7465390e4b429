"""The model families of transformers that glassformer supports, described by tables.

To add a family, write a file that ends with a `Family`, and add that to `registry.FAMILIES`.
"""
