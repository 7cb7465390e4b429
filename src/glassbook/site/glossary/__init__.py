"""The glossary: its terms, and links to them from where a chapter first uses them."""
