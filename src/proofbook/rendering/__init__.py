"""Render checked pages for readers."""
