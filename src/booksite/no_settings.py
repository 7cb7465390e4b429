"""The settings of a plugin that has none."""

from mkdocs.config.base import Config


class NoSettings(Config):
    """Nothing to set; MkDocs takes no bare `Config` for it."""
