"""The book's own models in the reader's page."""
