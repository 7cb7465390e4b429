"""Check a whole book: run it, and compare the results with its pages."""
