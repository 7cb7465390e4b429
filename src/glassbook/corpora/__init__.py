"""The texts that the book's models read, and the questions that they are asked."""

from pathlib import Path

DATA = Path(__file__).with_name("data")
"""The folder of the texts that are files."""
