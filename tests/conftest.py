"""For every test: no network, and the shapes in glassformer's signatures checked at each call."""

import os

# Read when huggingface_hub and tokenizers are imported, so set before anything imports them.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import pytest
from jaxtyping import install_import_hook

install_import_hook("glassformer", "beartype.beartype")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A browser that stops answering fails its test, and not the whole run."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.timeout(180, func_only=True))
