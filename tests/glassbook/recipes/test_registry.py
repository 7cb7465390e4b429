import importlib
import inspect
import sys
from textwrap import dedent

import pytest
import torch

from glassbook.recipes import registry
from glassbook.recipes.registry import code_structure, find_recipe, recipe_key

SOUP = (
    """
    """
    + '"""'
    + """Soup."""
    + '"""'
    + """
    from torch import nn

    def build():
        return nn.Linear(3, 2)

    def train(model, report):
        return {}

    def data():
        return [b"leek", b"salt"]
    """
)


@pytest.fixture
def key(monkeypatch, tmp_path):
    """Gives the key of a recipe with some code, in a module of some name."""
    monkeypatch.syspath_prepend(tmp_path)

    def key_of(code, module="soup"):
        (tmp_path / f"{module}.py").write_text(dedent(code))
        monkeypatch.setattr(registry, "RECIPES", {"soup": module})
        sys.modules.pop(module, None)
        importlib.invalidate_caches()
        inspect.linecache.clearcache()
        return recipe_key("soup")

    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    yield key_of
    for name in ("soup", "stew"):
        sys.modules.pop(name, None)


def test_key_changes_with_code_and_data_and_not_with_imports_and_texts(key, monkeypatch):
    """Each change alone; names of modules don't count either, so a recipe can be moved."""
    before = key(SOUP)
    same = {
        "nothing": SOUP,
        "a docstring": SOUP.replace("Soup.", "Broth."),
        "a comment": SOUP.replace("return {}", "return {}  # yet"),
        "an import": SOUP.replace("from torch import nn", "import torch.nn as nn"),
        "line breaks": SOUP.replace("[b", "[\n            b"),
    }
    other = {
        "a number": SOUP.replace("Linear(3", "Linear(5"),
        "a name": SOUP.replace("report", "told"),
        "the data": SOUP.replace("salt", "dill"),
        "the order of the data": SOUP.replace('[b"leek", b"salt"]', '[b"leeks", b"alt"]'),
    }
    wrong = [name for name, code in same.items() if key(code) != before]
    wrong += [name for name, code in other.items() if key(code) == before]
    assert not wrong
    assert key(SOUP, "stew") == before
    torch.set_default_dtype(torch.float64)
    try:
        assert key(SOUP) != before
    finally:
        torch.set_default_dtype(torch.float32)
    monkeypatch.setattr(registry, "SEED", 1)
    assert key(SOUP) != before


def test_key_is_the_same_for_each_version_of_python_and_each_machine():
    """Worked out by hand from Python's grammar; `ast.dump` differs between 3.11 and 3.13."""
    assert code_structure("def f(a, *, b=2): return f'{a:>{b}} ' + 'a'[-1]") == (
        "Module(body=[FunctionDef(name=f args=arguments(args=[arg(arg=a)] kwonlyargs=[arg(arg=b)] "
        "kw_defaults=[Constant(value=2)]) body=[Return(value=BinOp(left=JoinedStr(values=["
        "FormattedValue(value=Name(id=a) conversion=-1 format_spec=JoinedStr(values=["
        "Constant(value='>') FormattedValue(value=Name(id=b) conversion=-1)])) "
        "Constant(value=' ')]) op=Add() right=Subscript(value=Constant(value='a') "
        "slice=UnaryOp(op=USub() operand=Constant(value=1)))))])])"
    )


def test_unknown_recipe_is_named_beside_the_known_ones(monkeypatch):
    monkeypatch.setattr(registry, "RECIPES", {"soup": "a", "bread": "b"})
    with pytest.raises(ValueError, match=r"'stew'\) must be one of the recipes: soup, bread"):
        find_recipe("stew")
