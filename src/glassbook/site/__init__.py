"""The code of the book's own site: MkDocs plugins, listed with their settings in `mkdocs.yml`."""
