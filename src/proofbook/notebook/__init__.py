"""A page as a notebook."""
