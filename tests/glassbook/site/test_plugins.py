"""The site's plugins can be found, are all in use, keep nothing in their modules, load no model."""

import ast
import re
import subprocess
import sys
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from mkdocs.plugins import BasePlugin

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "src/glassbook/site").rglob("*.py"))
MODULES = [one for one in FILES if "jupyter" not in one.parts]  # that folder is for kernels
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PLUGINS = {
    name: target
    for name, target in PROJECT["entry-points"]["mkdocs.plugins"].items()
    if name.startswith("glassbook/")
}


def test_every_plugin_has_a_name_and_the_book_lists_it():
    text = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert sorted(PLUGINS) == sorted(re.findall(r"^  - (glassbook/[\w-]+)", text, re.MULTILINE))
    code = "".join(one.read_text(encoding="utf-8") for one in MODULES)
    classes = re.findall(r"^class (\w+)\(BasePlugin\[", code, re.MULTILINE)
    assert sorted(target.partition(":")[2] for target in PLUGINS.values()) == sorted(classes)


@pytest.mark.parametrize("name", PLUGINS)
def test_a_plugin_is_found_under_its_name(name):
    module, _, short = PLUGINS[name].partition(":")
    assert issubclass(getattr(import_module(module), short), BasePlugin)


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_a_module_keeps_no_state(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        assert not isinstance(node, ast.Global), "a value of the module that changes"
        for decorator in getattr(node, "decorator_list", []) if node in tree.body else []:
            told = ast.unparse(decorator)
            assert "cache" not in told or told.startswith("lru_cache("), "it grows without bound"
    given = [node for node in tree.body if isinstance(node, ast.Assign | ast.AnnAssign)]
    names = [part.id for node in given for part in ast.walk(node) if _is_bound(part)]
    assert not [name for name in names if not name[0].isupper()]


def _is_bound(part: ast.AST) -> bool:
    return isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)


def test_the_plugins_load_no_model():
    imports = "".join(f"import {target.partition(':')[0]}\n" for target in PLUGINS.values())
    code = f"{imports}import sys\nassert not {{'torch', 'glassformer'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
