"""The settings of a plugin that has none."""

from mkdocs.config.base import Config


class NoSettings(Config):
    """No settings; MkDocs doesn't accept a bare `Config` for that."""
