"""Parse the text of a page: find what runs and what is claimed, and where."""
