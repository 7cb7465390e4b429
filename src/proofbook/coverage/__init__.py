"""Find prose that could be a claim but isn't."""
