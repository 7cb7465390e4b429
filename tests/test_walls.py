"""The walls of the house: who may import whom, and that chapter, module and test are one thing."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
CHAPTERS = sorted((ROOT / "docs").rglob("*.md"))
MODULES = sorted(path.stem for path in (SRC / "glassformer").glob("*.py") if path.stem[0] != "_")

# What the API reference documents instead of a chapter.
PLUMBING = {
    "config",
    "pretrained",
    "checkpoints",
    "probe",
    "recipes",
    "rope_scaling",
    "loading",
    "token_classification",
}
# Modules whose chapter is not written yet. Its front matter takes them off this list.
WAITING: set[str] = set()

# What torch may contribute to a model; everything else in one is built here.
ELEMENTS = {"Linear", "Embedding", "LayerNorm", "Dropout", "GELU", "ReLU", "SiLU"}
CONTAINERS = {"Module", "ModuleList", "Parameter", "Buffer", "init"}


def top_level_imports(path):
    """The packages that a file imports when it is imported itself."""
    statements = list(ast.parse(path.read_text()).body)
    while statements:
        statement = statements.pop()
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            statements.extend(statement.orelse)
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            statements.extend(s for s in ast.iter_child_nodes(statement) if isinstance(s, ast.stmt))
        elif not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield from packages(statement)


def packages(tree):
    """The packages of every import in a syntax tree, however deep."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.split(".")[0]


def loaded_by(code):
    """The names of all modules loaded in a fresh interpreter after this code."""
    run = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=120,
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


def public_names(module):
    """What a module of glassformer defines without a leading underscore."""
    path = SRC / Path(*module.split("."))
    is_package = path.is_dir()
    tree = ast.parse((path / "__init__.py" if is_package else path.with_suffix(".py")).read_text())
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


@pytest.mark.parametrize("path", sorted((SRC / "proofbook").rglob("*.py")), ids=lambda p: p.stem)
def test_proofbook_imports_no_model_when_it_is_imported(path):
    assert not {"torch", "transformers", "glassformer"} & set(top_level_imports(path))


def test_proofbook_loads_no_model_when_it_is_imported():
    stems = [path.stem for path in (SRC / "proofbook").glob("*.py") if path.stem[0] != "_"]
    code = "\n".join(["import proofbook", *(f"import proofbook.{stem}" for stem in stems)])
    assert not {"torch", "transformers", "glassformer"} & loaded_by(code)


@pytest.mark.parametrize("path", sorted((SRC / "glassformer").rglob("*.py")), ids=lambda p: p.stem)
def test_glassformer_never_imports_proofbook(path):
    assert "proofbook" not in set(packages(ast.parse(path.read_text())))


def test_glassformer_loads_little_more_than_torch():
    """Nothing but itself, the shapes in its signatures, and the standard library."""
    ours, torchs = (
        {name.split(".")[0] for name in loaded_by(f"import {package}")}
        for package in ("glassformer", "torch")
    )
    extra = ours - torchs - set(sys.stdlib_module_names)
    assert extra <= {"glassformer", "jaxtyping", "wadler_lindig"}


@pytest.mark.parametrize("package", ["views", "exercises"])
def test_a_package_loads_no_notebook_and_no_plotting_library(package):
    loaded = loaded_by(f"import glassformer.{package}")
    assert not {"transformers", "bertviz", "IPython", "matplotlib"} & loaded


@pytest.mark.parametrize("stem", MODULES)
def test_no_module_hangs_on_the_exercises(stem):
    """They ask about the modules, and a recipe that depended on them would train anew with each."""
    assert "glassformer.exercises" not in (SRC / "glassformer" / f"{stem}.py").read_text()


def test_a_loaded_encoder_has_no_module_of_transformers_inside():
    from glassformer import default_checkpoint, load

    inside = {type(module).__module__ for module in load(default_checkpoint()).modules()}
    assert any(name.startswith("glassformer.") for name in inside)
    assert not [name for name in inside if name.split(".")[0] not in ("glassformer", "torch")]


@pytest.mark.parametrize("stem", MODULES)
def test_models_are_built_from_torchs_elements_alone(stem):
    tree = ast.parse((SRC / "glassformer" / f"{stem}.py").read_text())
    used = {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) in ("nn", "torch.nn")
    }
    assert used <= ELEMENTS | CONTAINERS | {"functional"}


@pytest.mark.parametrize("stem", MODULES)
def test_annotations_stay_objects_that_can_be_checked(stem):
    assert "__future__" not in set(top_level_imports(SRC / "glassformer" / f"{stem}.py"))


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: str(p.relative_to(ROOT / "docs")))
def test_chapters_import_public_names_only(path):
    for code in fences(path):
        try:
            tree = ast.parse(code)
        except SyntaxError:
            # Output stands between the prompts of a doctest: read its import lines alone.
            lines = [line for line in code.splitlines() if re.match(r"(from|import) ", line)]
            tree = ast.parse("\n".join(lines))
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glassformer"):
                asked = {alias.name for alias in node.names}
                private = asked - public_names(node.module)
                assert not private, f"{path.name}: from {node.module} import {private}"


@pytest.mark.parametrize("stem", MODULES)
def test_every_module_has_its_test(stem):
    assert (ROOT / "tests" / "glassformer" / f"test_{stem}.py").is_file()


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda p: str(p.relative_to(ROOT / "docs")))
def test_a_chapter_shows_the_modules_that_it_names(path):
    for module in front_matter(path).get("modules") or []:
        package, _, stem = module.partition(".")
        assert package == "glassformer"
        assert stem in MODULES, f"{path.name} names {module}, which does not exist"
        assert f'show="{module}:' in path.read_text(), f"{path.name} does not show {module}"


def test_every_module_is_a_chapters_or_plumbing_or_waits_for_its_chapter():
    named = [module for path in CHAPTERS for module in front_matter(path).get("modules") or []]
    taught = {module.removeprefix("glassformer.") for module in named}
    assert len(named) == len(taught), "a module is the subject of one chapter"
    assert taught.isdisjoint(WAITING), "take what a chapter teaches off the waiting list"
    assert taught.isdisjoint(PLUMBING)
    assert taught | WAITING | PLUMBING == set(MODULES)
