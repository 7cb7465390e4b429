"""Run pages, each in its own process."""
