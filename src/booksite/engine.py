"""The engine among the plugins of a book."""

from mkdocs.config.defaults import MkDocsConfig

from proofbook.integrations.mkdocs import ProofbookPlugin


def engine_of(config: MkDocsConfig) -> ProofbookPlugin | None:
    """Find the engine; there is none where a book is built to be compared with."""
    found = config.plugins.get("proofbook")
    return found if isinstance(found, ProofbookPlugin) else None
