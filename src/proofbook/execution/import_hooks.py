"""What is different about importing inside a child.

Modules of the project are compiled from their source, because a `.pyc` counts as fresh when its
source was saved twice in a second with the same size. The project's folders of modules are on the
path, behind all that is installed. Some packages are given a last touch as they load: random
generators are seeded.
"""

import os
import random
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any

from proofbook.caching.fingerprint import is_installed

SEED = 0
"""Seed of every random generator at the start of every page."""
DEEPEST = 3
"""Folders below the project's root in which a module is looked for that no import finds."""


def compile_project_from_source() -> None:
    """Make this process read no `.pyc` of any module that is not an installed one."""
    cached = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if is_installed(path):
            return cached(self, fullname)
        return self.source_to_code(self.get_data(path), path)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def find_sources(folders: Iterable[str]) -> None:
    """Let this process import what is in the project's folders of modules, as if installed.

    What is on the path already comes first. A module that is both installed and in these folders,
    and not the same, is refused: the page would run one, while its author edits the other. The
    project's root, from which pages run, may hide modules as a script's folder does.
    """
    own, root = list(folders), os.getcwd()
    known = {os.path.realpath(path) for path in sys.path}
    before = [path for path in sys.path if os.path.realpath(path) != root]
    sys.path += [folder for folder in own if os.path.realpath(folder) not in known]
    sys.meta_path.insert(0, _Twins(own, before))


class _Twins:
    def __init__(self, folders: list[str], before: list[str]) -> None:
        self._folders = folders
        self._before = before

    def find_spec(self, name: str, path: Sequence[str] | None = None, *_: object) -> None:
        if path is not None or name in sys.stdlib_module_names:
            return
        own = PathFinder.find_spec(name, self._folders)
        if own is None or own.origin is None:
            return
        found, first = PathFinder.find_spec(name, self._before), PathFinder.find_spec(name)
        if found is None or found.origin is None or _is_same(own, found.origin):
            return
        if first and first.origin != found.origin:  # the page itself has changed the path
            return
        place = Path(own.origin).parent if own.submodule_search_locations else own.origin
        raise ImportError(
            f"{name!r} would come from {found.origin}, and {os.path.relpath(place)} is not the "
            "same: install the project with 'pip install -e .', or rename one of them",
            name=name,
        )


def _is_same(own: ModuleSpec, installed: str) -> bool:
    """Tell whether a module of the project is what is installed, as far as both have its files."""
    here, there = Path(str(own.origin)), Path(installed)
    if os.path.samefile(here, there):
        return True
    if not own.submodule_search_locations:
        return here.read_bytes() == there.read_bytes()
    pairs = ((file, there.parent / file.relative_to(here.parent)) for file in _modules(here.parent))
    return all(one.read_bytes() == other.read_bytes() for one, other in pairs if other.is_file())


def _modules(folder: Path) -> Iterable[Path]:
    return sorted(folder.rglob("*.py"))


def place_in_project(module: str) -> str:
    """Return where in the project a module is that no import finds, from the root, or ""."""
    for folder, folders, files in os.walk("."):
        depth = 0 if folder == "." else folder.count(os.sep)
        is_environment = "pyvenv.cfg" in files
        folders[:] = sorted(
            name
            for name in folders
            if depth < DEEPEST and not is_environment and not name.startswith((".", "_"))
        )
        for name in (f"{module}.py", os.path.join(module, "__init__.py")):
            if not is_environment and os.path.isfile(os.path.join(folder, name)):
                found = os.path.join(folder, name.removesuffix(f"{os.sep}__init__.py"))
                return Path(os.path.normpath(found)).as_posix()
    return ""


def is_own(package: str) -> bool:
    """Tell whether a package that is loaded is the project's own, and not an installed one."""
    path = getattr(sys.modules.get(package), "__file__", None)
    return path is not None and not is_installed(path)


def seed() -> None:
    """Seed Python's generator, and numpy's and torch's: now if loaded, else as soon as they are."""
    random.seed(SEED)
    after_import({"numpy": _seed_numpy, "torch": _seed_torch})


def compute_on(device: str) -> None:
    """Have torch make its tensors on a device: from now on if it is loaded, else from its import.

    Args:
        device: As torch names it; `cpu` leaves torch as it is.
    """
    if device != "cpu":
        after_import({"torch": lambda torch: torch.set_default_device(device)})


def show_with(display: Callable[..., None]) -> None:
    """Have IPython's own `display` show on the page, and not print for want of a notebook."""

    def touch(module: Any) -> None:
        if "display" in vars(module):
            module.display = display

    after_import(dict.fromkeys(("IPython.core.display_functions", "IPython.display"), touch))


def after_import(touches: Mapping[str, Callable[[Any], None]]) -> None:
    """Call each function with its module, now if it is loaded, else just after it loads."""
    for name, touch in touches.items():
        if name in sys.modules:
            touch(sys.modules[name])
        _TOUCHER.touches.setdefault(name, []).append(touch)
    if _TOUCHER not in sys.meta_path:
        sys.meta_path.insert(0, _TOUCHER)


class _Toucher:
    def __init__(self) -> None:
        self.touches: dict[str, list[Callable[[Any], None]]] = {}

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        touches = self.touches.get(name)
        spec = PathFinder.find_spec(name, path, target) if touches else None
        if touches is None or spec is None or spec.loader is None:
            return None
        load = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            load(module)
            for touch in touches:
                touch(module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


_TOUCHER = _Toucher()


def _seed_numpy(numpy: Any) -> None:
    numpy.random.seed(SEED)


def _seed_torch(torch: Any) -> None:
    torch.manual_seed(SEED)
