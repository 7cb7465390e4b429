"""What describes something cannot be changed afterwards: dataclasses are frozen."""

import importlib
import pkgutil
from collections.abc import Iterator
from dataclasses import is_dataclass

import glassbook
import glassformer


def dataclasses() -> Iterator[type]:
    found_in = [
        one
        for package in (glassformer, glassbook)
        for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
        if not one.name.startswith("glassbook.site")
    ]
    for module in found_in:
        for found in vars(importlib.import_module(module.name)).values():
            if isinstance(found, type) and is_dataclass(found) and found.__module__ == module.name:
                yield found


def test_only_what_a_picture_is_laid_out_with_can_be_changed():
    changing = [one for one in dataclasses() if not one.__dataclass_params__.frozen]
    assert {one.__module__.rpartition(".")[0] for one in changing} == {"glassformer.views"}
    assert len(list(dataclasses())) > 20
