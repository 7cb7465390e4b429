import importlib
import sys
from textwrap import dedent

import pytest
import torch

from glassformer import recipes
from glassformer.recipes import RECIPES, find_recipe, recipe_key, sources

CPU = torch.device("cpu")


@pytest.fixture
def package(monkeypatch, tmp_path):
    """A package whose recipe imports some of its modules, in several ways, and not others."""
    folder = tmp_path / "kitchen"
    folder.mkdir()
    for stem, code in {
        "__init__": "",
        "soup": """
            from torch import nn
            import kitchen.knife
            from kitchen import pot
            from kitchen.stove import heat
            from glassformer.masks import causal_mask
            def build():
                return nn.Linear(3, 2)
            def train(model, report):
                return {}
            def files():
                from pathlib import Path
                return [Path(__file__).with_name("vegetables.txt")]
            """,
        "knife": "",
        "pot": "def lid():\n    from . import handle",
        "handle": "",
        "stove": "from .gas import flame\nheat = flame",
        "gas": "flame = 1",
        "radio": "",
    }.items():
        (folder / f"{stem}.py").write_text(dedent(code))
    (folder / "vegetables.txt").write_text("leek")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(recipes, "RECIPES", {"soup": "kitchen.soup"})
    importlib.invalidate_caches()
    yield folder
    for name in [name for name in sys.modules if name.split(".")[0] == "kitchen"]:
        del sys.modules[name]


def test_sources_are_what_is_imported_and_no_more(package):
    found = sources("kitchen.soup")
    stems = {"soup", "knife", "pot", "handle", "stove", "gas"}
    assert {path for path in found if path.parent == package} == {
        package / f"{stem}.py" for stem in stems
    }
    assert [path.name for path in found if path.parent != package] == ["masks.py"]


def test_a_name_taken_from_a_package_itself_counts_all_that_the_package_imports(package):
    (package / "__init__.py").write_text("from kitchen.radio import song")
    (package / "radio.py").write_text("song = 1")
    assert package / "radio.py" not in sources("kitchen.soup")
    (package / "gas.py").write_text("from kitchen import song\nflame = 1")
    assert {package / "radio.py", package / "__init__.py"} < set(sources("kitchen.soup"))


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("soup.py", True),
        ("gas.py", True),
        ("handle.py", True),
        ("vegetables.txt", True),
        ("radio.py", False),
    ],
)
def test_key_changes_with_what_training_reads_and_with_nothing_else(package, name, counts):
    before = recipe_key("soup", CPU)
    assert recipe_key("soup", CPU) == before
    with (package / name).open("a") as file:
        file.write("\nsalt = 1\n")
    assert (recipe_key("soup", CPU) != before) is counts


def test_key_does_not_change_with_comments_and_docstrings(package):
    before = recipe_key("soup", CPU)
    gas = package / "gas.py"
    gas.write_text(f'"""What burns."""\n\n# blue\n{gas.read_text()}\n"""Of one kind."""\n')
    assert recipe_key("soup", CPU) == before
    gas.write_text(gas.read_text().replace("flame = 1", "flame = 2"))
    assert recipe_key("soup", CPU) != before


@pytest.mark.usefixtures("package")
def test_key_changes_with_seed_torch_device_and_dtype(monkeypatch):
    keys = [recipe_key("soup", CPU), recipe_key("soup", torch.device("cuda"))]
    torch.set_default_dtype(torch.float64)
    keys.append(recipe_key("soup", CPU))
    torch.set_default_dtype(torch.float32)
    monkeypatch.setattr(torch, "__version__", "0.0.1")
    keys.append(recipe_key("soup", CPU))
    monkeypatch.setattr(recipes, "SEED", 1)
    keys.append(recipe_key("soup", CPU))
    assert len(set(keys)) == 5


def test_unknown_recipe_is_named_beside_the_known_ones(monkeypatch):
    monkeypatch.setattr(recipes, "RECIPES", {"soup": "a", "bread": "b"})
    with pytest.raises(ValueError, match=r"'stew'\) must be one of the recipes: soup, bread"):
        find_recipe("stew")


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_offers_what_a_recipe_must(name):
    recipe = find_recipe(name)
    assert callable(recipe.build)
    assert callable(recipe.train)
    assert all(path.is_file() for path in recipe.files())
