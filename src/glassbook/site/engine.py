"""Find the engine among a book's plugins."""

from mkdocs.config.defaults import MkDocsConfig

from proofbook.integrations.mkdocs import ProofbookPlugin


def engine_of(config: MkDocsConfig) -> ProofbookPlugin | None:
    """Return the engine, or `None` if the book is built without it, for comparison."""
    found = config.plugins.get("proofbook")
    return found if isinstance(found, ProofbookPlugin) else None
