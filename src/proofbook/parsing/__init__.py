"""From the text of a page to what runs and what is claimed, and where."""
