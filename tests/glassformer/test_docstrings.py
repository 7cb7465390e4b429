"""The examples in docstrings give what they say."""

import doctest
import importlib
import pkgutil

import pytest
import torch

import glassformer

NAMES = [one.name for one in pkgutil.walk_packages(glassformer.__path__, "glassformer.")]
MARKS = {"glassformer.language": pytest.mark.language_model}
EACH = [pytest.param(name, marks=MARKS.get(name, ())) for name in NAMES]
HAVE_NONE = {"CheckpointError", "MissingModelError", "Tape", "Trained", "default_device", "trained"}
"""Main names whose example would train a model, or be no more than that of another."""


def examples(module):
    tests = doctest.DocTestFinder(exclude_empty=True).find(module, extraglobs={"torch": torch})
    return [test for test in tests if test.examples]


@pytest.mark.parametrize("name", EACH)
def test_examples_give_what_they_say(name):
    for test in examples(importlib.import_module(name)):
        torch.manual_seed(0)
        said: list[str] = []
        result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        assert result.attempted > 0
        assert not result.failed, "".join(said)


def test_every_main_name_has_an_example():
    found = {test.name.rpartition(".")[2] for name in NAMES for test in examples_of(name)}
    assert set(glassformer.__all__) - found == HAVE_NONE


def examples_of(name):
    return examples(importlib.import_module(name))
