"""The walls of the house: who may import whom, and that chapter, module and test are one thing."""

import ast
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
SRC = ROOT / "src"
CHAPTERS = sorted((ROOT / "docs").rglob("*.md"))
MODULES = sorted(path.stem for path in (SRC / "glassformer").glob("*.py") if path.stem[0] != "_")

# What the API reference documents instead of a chapter.
PLUMBING = {
    "config",
    "checkpoints",
    "probe",
    "reading",
    "short_windows",
    "long_reading",
    "recipes",
    "retrain",
    "trained_models",
    "loading",
    "token_classification",
    "language",
    "gguf_files",
    "fetch",
    "capitals",
    "few_shot",
    "story_requests",
    "benchmarks",
}
# Modules whose chapter is not written yet. Its front matter takes them off this list.
WAITING: set[str] = set()

# What torch may contribute to a model; everything else in one is built here.
ELEMENTS = {"Linear", "Embedding", "LayerNorm", "Dropout", "GELU", "ReLU", "SiLU"}
CONTAINERS = {"Module", "ModuleDict", "ModuleList", "Parameter", "Buffer", "init"}


@cache
def tree_of(path):
    """The syntax tree of a file."""
    return ast.parse(path.read_text())


def source_of(stem):
    """The file of a module of glassformer."""
    return SRC / "glassformer" / f"{stem}.py"


def top_level_imports(path):
    """The packages that a file imports when it is imported itself."""
    statements = list(tree_of(path).body)
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
    """What a module of glassformer defines without a leading underscore."""
    path = SRC / Path(*module.split("."))
    is_package = path.is_dir()
    tree = tree_of(path / "__init__.py" if is_package else path.with_suffix(".py"))
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


# From the ground up: a room imports from those before it, and from itself.
ROOMS = ["caching", "parsing", "execution", "checking", "coverage", "notebook", "rendering"]
ROOMS += ["maths", "integrations", "commands"]
ROOTS = {"__init__": 0, "text": 0, "model": 0, "problems": 0, "settings": 0}
ROOTS["__main__"] = len(ROOMS) + 1
ENGINE = sorted((SRC / "proofbook").rglob("*.py"))


def engine_name(path):
    """A module of the engine by its dotted name."""
    parts = path.relative_to(SRC).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def floor(name):
    """How high a module of the engine stands: its room's place, or that of a file beside them."""
    room = [*name.split("."), "__init__"][1]
    return ROOMS.index(room) + 1 if room in ROOMS else ROOTS[room]


def imports_of_the_engine(path):
    """The modules of the engine that a file imports, wherever the statement stands."""
    modules = {engine_name(path) for path in ENGINE}
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in modules)
        elif isinstance(node, ast.ImportFrom) and node.module in modules:
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in modules else node.module for name in inner)


def test_the_engine_is_found_whole():
    """What looks for files by a pattern says nothing where it finds none."""
    assert len(ENGINE) >= 70
    assert {path.parent.name for path in ENGINE} == {"proofbook", *ROOMS}
    assert all((SRC / "proofbook" / room / "__init__.py").is_file() for room in ROOMS)


def test_rooms_import_downwards_only():
    upwards = [
        f"{ours} imports {name}, which is above it"
        for path in ENGINE
        for ours in [engine_name(path)]
        for name in imports_of_the_engine(path)
        if name.split(".")[1:2] != ours.split(".")[1:2]
        and floor(name) >= floor(ours)
        and not floor(ours) == floor(name) == 0
    ]
    assert upwards == []


def test_no_modules_of_the_engine_import_each_other():
    waiting = {engine_name(path): set(imports_of_the_engine(path)) for path in ENGINE}
    waiting = {name: needed - {name, "proofbook"} for name, needed in waiting.items()}
    while ready := {name for name, needed in waiting.items() if not needed & waiting.keys()}:
        for name in ready:
            del waiting[name]
    assert not waiting, f"these import each other: {sorted(waiting)}"


def test_proofbook_imports_no_model_when_it_is_imported():
    models = {"torch", "transformers", "glassformer"}
    imported = {path: models & set(top_level_imports(path)) for path in ENGINE}
    assert not any(imported.values()), imported


def test_proofbook_loads_no_model_when_it_is_imported():
    names = [engine_name(path) for path in ENGINE if path.stem != "__main__"]
    code = "\n".join(f"import {name}" for name in names)
    assert not {"torch", "transformers", "glassformer"} & loaded_by(code)


OUTSIDE = [*(ROOT / "bench").glob("*.py"), *(ROOT / "tools").glob("*.py")]
OUTSIDE += [*(SRC / "booksite").rglob("*.py"), *(ROOT / "tests/book").glob("*.py")]


def test_nobody_outside_the_engine_uses_what_is_private_to_it():
    private = [
        f"{path.name} imports {node.module}.{alias.name}"
        for path in OUTSIDE
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("proofbook")
        for alias in node.names
        if "._" in f"{node.module}.{alias.name}".replace(".__main__", "")
    ]
    assert len(OUTSIDE) > 30
    assert private == []


def test_glassformer_never_imports_proofbook():
    files = [*(SRC / "glassformer").rglob("*.py")]
    assert len(files) > len(MODULES)
    assert [path for path in files if "proofbook" in packages(tree_of(path))] == []


def test_glassformer_loads_little_more_than_torch():
    """Nothing but itself, the shapes in its signatures, and the standard library."""
    ours, torchs = (
        {name.split(".")[0] for name in loaded_by(f"import {package}")}
        for package in ("glassformer", "torch")
    )
    extra = ours - torchs - set(sys.stdlib_module_names)
    assert extra <= {"glassformer", "jaxtyping", "wadler_lindig"}


VIEWS = "import glassformer.views"
EXERCISES = "import glassformer.exercises.attention"


def test_the_views_and_exercises_load_no_notebook_and_no_plotting_library():
    loaded = loaded_by(f"{VIEWS}\n{EXERCISES}")
    assert not {"transformers", "bertviz", "IPython", "matplotlib"} & loaded


def test_the_exercises_of_a_chapter_load_those_of_no_other():
    """A page that imports them would run again with each exercise that is added anywhere."""
    loaded = loaded_by(f"{VIEWS}\n{EXERCISES}")
    files = (SRC / "glassformer/exercises").glob("*.py")
    chapters = {f"glassformer.exercises.{f.stem}" for f in files if "CHAPTER =" in f.read_text()}
    assert len(chapters) > 10
    assert chapters & {*loaded} == {"glassformer.exercises.attention"}


def test_no_module_hangs_on_the_exercises():
    """They ask about the modules, and a recipe that depended on them would train anew with each."""
    named = [stem for stem in MODULES if "glassformer.exercises" in source_of(stem).read_text()]
    assert named == []


def test_a_loaded_encoder_has_no_module_of_transformers_inside():
    from glassformer import default_checkpoint, load

    inside = {type(module).__module__ for module in load(default_checkpoint()).modules()}
    assert any(name.startswith("glassformer.") for name in inside)
    assert not [name for name in inside if name.split(".")[0] not in ("glassformer", "torch")]


def test_models_are_built_from_torchs_elements_alone():
    others = [
        f"{stem} uses {ast.unparse(node)}"
        for stem in MODULES
        for node in ast.walk(tree_of(source_of(stem)))
        if isinstance(node, ast.Attribute)
        and ast.unparse(node.value) in ("nn", "torch.nn")
        and node.attr not in ELEMENTS | CONTAINERS | {"functional"}
    ]
    assert others == []


def test_annotations_stay_objects_that_can_be_checked():
    postponed = [s for s in MODULES if "__future__" in top_level_imports(source_of(s))]
    assert postponed == []


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
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("glassformer")
        for alias in node.names
        if alias.name not in public_names(node.module)
    ]
    assert len(CHAPTERS) > 30
    assert private == []


def test_every_module_has_its_test():
    tests = ROOT / "tests" / "glassformer"
    assert [stem for stem in MODULES if not (tests / f"test_{stem}.py").is_file()] == []


def test_a_chapter_shows_the_modules_that_it_names():
    wrong = [
        f"{path.relative_to(ROOT)}: {module}"
        for path in CHAPTERS
        for module in front_matter(path).get("modules") or []
        if module not in {f"glassformer.{stem}" for stem in MODULES}
        or f'show="{module}:' not in path.read_text()
    ]
    assert wrong == []


def test_every_module_is_a_chapters_or_plumbing_or_waits_for_its_chapter():
    named = [module for path in CHAPTERS for module in front_matter(path).get("modules") or []]
    taught = {module.removeprefix("glassformer.") for module in named}
    assert len(named) == len(taught), "a module is the subject of one chapter"
    assert taught.isdisjoint(WAITING), "take what a chapter teaches off the waiting list"
    assert taught.isdisjoint(PLUMBING)
    assert taught | WAITING | PLUMBING == set(MODULES)
