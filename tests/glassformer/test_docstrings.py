"""The examples in docstrings give what they say."""

import doctest
import importlib

import pytest
import torch

import glassformer
from modules import NAMES

OF_THE_LANGUAGE_MODEL = "glassbook.smollm.language"
HAVE_NONE = {"CheckpointError", "MissingModelError", "ActivationCache", "default_device"}
"""Main names whose example would be no more than that of another."""


def examples(name):
    finder = doctest.DocTestFinder(exclude_empty=True)
    tests = finder.find(importlib.import_module(name), extraglobs={"torch": torch})
    return [test for test in tests if test.examples]


def check(name):
    for test in examples(name):
        torch.manual_seed(0)
        said: list[str] = []
        result = doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        assert result.attempted > 0
        assert not result.failed, "".join(said)


def test_examples_give_what_they_say(subtests):
    for name in NAMES:
        if name != OF_THE_LANGUAGE_MODEL:
            with subtests.test(name):
                check(name)


@pytest.mark.language_model
def test_the_example_of_the_language_model_gives_what_it_says():
    check(OF_THE_LANGUAGE_MODEL)


def test_every_main_name_has_an_example():
    found = {test.name.rpartition(".")[2] for name in NAMES for test in examples(name)}
    assert set(glassformer.__all__) - found == HAVE_NONE
