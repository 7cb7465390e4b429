"""What describes something cannot be changed afterwards: dataclasses are frozen."""

import importlib
from collections.abc import Iterator
from dataclasses import is_dataclass

from modules import NAMES


def dataclasses() -> Iterator[type]:
    for name in NAMES:
        for found in vars(importlib.import_module(name)).values():
            if isinstance(found, type) and is_dataclass(found) and found.__module__ == name:
                yield found


def test_only_what_a_picture_is_laid_out_with_can_be_changed():
    changing = [one for one in dataclasses() if not one.__dataclass_params__.frozen]
    assert {one.__module__.rpartition(".")[0] for one in changing} == {"glassformer.views"}
    assert len(list(dataclasses())) > 20
