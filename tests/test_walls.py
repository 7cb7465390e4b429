"""The walls of the house: who may import whom, and where a module's test and chapter are."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import yaml
from importlinter.cli import lint_imports

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
CHAPTERS = sorted((ROOT / "docs").rglob("*.md"))
SOURCES = sorted(
    path
    for path in [*SRC.glob("glassformer/**/*.py"), *SRC.glob("glassbook/**/*.py")]
    if path.stem[0] != "_" and path.relative_to(SRC).parts[:2] != ("glassbook", "site")
)
MODULES = {".".join(path.relative_to(SRC).with_suffix("").parts): path for path in SOURCES}
TOGETHER = ("exercises", "families", "views")  # folders whose tests are arranged otherwise

# What torch may contribute to a model; everything else in one is built here.
ELEMENTS = {"Linear", "Embedding", "LayerNorm", "Dropout", "GELU", "ReLU", "SiLU"}
CONTAINERS = {"Module", "ModuleDict", "ModuleList", "Parameter", "Buffer", "init"}


@cache
def loaded_by(code):
    """The names of all modules loaded in a fresh interpreter after this code."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return set(run.stdout.split())


def front_matter(path):
    """The settings at the head of a page."""
    match = re.match(r"---\n(.*?)\n---\n", path.read_text(), re.DOTALL)
    return (yaml.safe_load(match[1]) or {}) if match else {}


def fences(path):
    """The code of each python and pycon fence of a page, without prompts."""
    pattern = r"^([ \t]*)(`{3,}|~{3,})(?:python|pycon)\b[^\n]*\n(.*?)^\1\2[ \t]*$"
    for match in re.finditer(pattern, path.read_text(), re.DOTALL | re.MULTILINE):
        lines = (line.removeprefix(match[1]) for line in match[3].splitlines())
        yield "\n".join(line[4:] if line[:4] in (">>> ", "... ") else line for line in lines)


@cache
def public_names(module):
    """What a module or a room offers without a leading underscore."""
    path = SRC / Path(*module.split("."))
    is_package = path.is_dir()
    file = path / "__init__.py" if is_package else path.with_suffix(".py")
    tree = ast.parse(file.read_text())
    names = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = (part for target in targets for part in ast.walk(target))
            stored = (part for part in found if isinstance(getattr(part, "ctx", None), ast.Store))
            names |= {part.id for part in stored if isinstance(part, ast.Name)}
        elif is_package and isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name for alias in node.names}
    submodules = {p.stem for p in path.iterdir() if p.suffix == ".py"} if is_package else set()
    return {name for name in names | submodules if not name.startswith("_")}


OUTSIDE = [*(ROOT / "bench").glob("*.py"), *(ROOT / "tools").glob("*.py")]
OUTSIDE += [*(SRC / "glassbook/site").rglob("*.py"), *(ROOT / "tests/book").glob("*.py")]


def test_nobody_outside_the_engine_uses_what_is_private_to_it():
    private = [
        f"{path.name} imports {node.module}.{alias.name}"
        for path in OUTSIDE
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("proofbook")
        for alias in node.names
        if "._" in f"{node.module}.{alias.name}".replace(".__main__", "")
    ]
    assert len(OUTSIDE) > 30
    assert private == []


def test_rooms_import_as_pyproject_says(capsys):
    code = lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True, no_logo=True)
    assert code == 0, capsys.readouterr().out


def test_glassformer_loads_little_more_than_torch():
    """Nothing but itself, the shapes in its signatures, and the standard library."""
    ours, torchs = (
        {name.split(".")[0] for name in loaded_by(f"import {package}")}
        for package in ("glassformer", "torch")
    )
    extra = ours - torchs - set(sys.stdlib_module_names)
    assert extra <= {"glassformer", "jaxtyping", "wadler_lindig"}


VIEWS = "import glassformer.views"
EXERCISES = "import glassbook.exercises.attention"


def test_the_views_and_exercises_load_no_notebook_and_no_plotting_library():
    loaded = loaded_by(f"{VIEWS}\n{EXERCISES}")
    assert not {"transformers", "bertviz", "IPython", "matplotlib"} & loaded


def test_the_exercises_of_a_chapter_load_those_of_no_other():
    """A page that imports them would run again with each exercise that is added anywhere."""
    loaded = loaded_by(f"{VIEWS}\n{EXERCISES}")
    files = (SRC / "glassbook/exercises").glob("*.py")
    chapters = {f"glassbook.exercises.{f.stem}" for f in files if "__all__ =" in f.read_text()}
    assert len(chapters) > 10
    assert chapters & {*loaded} == {"glassbook.exercises.attention"}


def test_a_loaded_encoder_has_no_module_of_transformers_inside():
    from glassformer import default_checkpoint, load

    inside = {type(module).__module__ for module in load(default_checkpoint()).modules()}
    assert any(name.startswith("glassformer.") for name in inside)
    assert not [name for name in inside if name.split(".")[0] not in ("glassformer", "torch")]


def test_models_are_built_from_torchs_elements_alone():
    others = [
        f"{name} uses {ast.unparse(node)}"
        for name, path in MODULES.items()
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) in ("nn", "torch.nn")
        and node.attr not in ELEMENTS | CONTAINERS | {"functional"}
    ]
    assert others == []


def code_of(fence):
    """The syntax tree of a fence; of a doctest with its outputs, only its import lines."""
    try:
        return ast.parse(fence)
    except SyntaxError:
        lines = [line for line in fence.splitlines() if re.match(r"(from|import) ", line)]
        return ast.parse("\n".join(lines))


def test_chapters_import_public_names_only():
    private = [
        f"{path.relative_to(ROOT)}: from {node.module} import {alias.name}"
        for path in CHAPTERS
        for fence in fences(path)
        for node in ast.walk(code_of(fence))
        if isinstance(node, ast.ImportFrom)
        and (node.module or "").startswith(("glassformer", "glassbook"))
        for alias in node.names
        if alias.name not in public_names(node.module)
    ]
    assert len(CHAPTERS) > 30
    assert private == []


def test_every_module_has_its_test_in_the_same_place():
    missing = [
        name
        for name, path in MODULES.items()
        if path.parent.name not in TOGETHER
        and not (ROOT / "tests" / path.relative_to(SRC)).with_name(f"test_{path.name}").is_file()
    ]
    assert missing == []


def test_a_chapter_shows_or_uses_the_modules_that_it_names():
    named = [(path, name) for path in CHAPTERS for name in front_matter(path).get("modules") or []]
    wrong = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, name in named
        if name not in MODULES
        or not re.search(rf'show="{name}:|from {name} import', path.read_text(encoding="utf-8"))
    ]
    assert wrong == []
    assert len(named) == len({name for _, name in named}), "a module is the subject of one chapter"
