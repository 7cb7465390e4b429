"""Measures of models and of texts."""
