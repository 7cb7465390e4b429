"""The site's plugins can be found, are all in use and load no model."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]
FILES = sorted((ROOT / "src/glassbook/site").rglob("*.py"))
MODULES = [one for one in FILES if "profile_default" not in one.parts]  # that folder is for kernels
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


def test_the_plugins_load_no_model():
    imports = "".join(f"import {target.partition(':')[0]}\n" for target in PLUGINS.values())
    code = f"{imports}import sys\nassert not {{'torch', 'glassformer'}} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
