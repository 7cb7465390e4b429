"""Adapt imports in a page's process.

Project modules are compiled from their source, because a `.pyc` still counts as fresh if its source
was saved twice within a second with the same size. The project's source folders are on the path,
after everything that is installed. Some packages are adjusted as they load; for example, their
random generators are seeded.
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
"""Number of folder levels to search for a module that no import finds."""


def compile_project_from_source() -> None:
    """Keep this process from reading the `.pyc` of any module that isn't installed."""
    cached = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = self.get_filename(fullname)
        if is_installed(path):
            return cached(self, fullname)
        return self.source_to_code(self.get_data(path), path)

    SourceFileLoader.get_code = get_code  # type: ignore[method-assign, assignment]


def find_sources(folders: Iterable[str]) -> None:
    """Let this process import modules from the project's source folders, as if installed.

    Folders already on the path come first. A module that is both installed and in a source folder
    is refused if the two differ: the page would run one while its author edits the other. The
    project's root, where pages run, may shadow modules, as a script's folder does.
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
            f"{name!r} would come from {found.origin}, but {os.path.relpath(place)} is not the "
            "same: install the project with 'pip install -e .', or rename one of them",
            name=name,
        )


def _is_same(own: ModuleSpec, installed: str) -> bool:
    """Return whether a project's module equals the installed one in all files that both have."""
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
    """Return the path from the project's root to a module that no import finds, or ""."""
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
    """Return whether a loaded package is the project's own, not an installed one."""
    path = getattr(sys.modules.get(package), "__file__", None)
    return path is not None and not is_installed(path)


def seed() -> None:
    """Seed Python's generator now, and numpy's and torch's as soon as they are loaded."""
    random.seed(SEED)
    after_import({"numpy": _seed_numpy, "torch": _seed_torch})


def compute_on(device: str) -> None:
    """Make torch create tensors on a device, now or as soon as it is loaded.

    Args:
        device: The device, as torch names it; `cpu` leaves torch unchanged.
    """
    if device != "cpu":
        after_import({"torch": lambda torch: torch.set_default_device(device)})


def show_with(display: Callable[..., None]) -> None:
    """Make IPython's own `display` show values on the page instead of printing them."""

    def touch(module: Any) -> None:
        if "display" in vars(module):
            module.display = display

    after_import(dict.fromkeys(("IPython.core.display_functions", "IPython.display"), touch))


def after_import(touches: Mapping[str, Callable[[Any], None]]) -> None:
    """Call each function with its module, now if the module is loaded, or else when it loads."""
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
