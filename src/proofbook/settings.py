"""How a book is run."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Settings:
    """What an author may say about running a book; every default is fit for use.

    Attributes:
        root: The project: pages run in this folder and import from it first.
        preload: Third-party packages that pages are forked with, already imported.
        timeout: Seconds until a block counts as hanging, unless its fence says otherwise.
        jobs: Pages that run side by side; `None` is one a CPU.
        cache_dir: Where results are kept; `None` is `.cache/proofbook` below the root.
        environment: Names of environment variables on which results depend; the one that ends
            in `DEVICE` names the device.
        sources: Folders of the project's modules.
        spawn: Start an interpreter a page instead of forking one.
    """

    root: Path
    preload: tuple[str, ...] = ()
    timeout: float = 60.0
    jobs: int | None = None
    cache_dir: Path | None = None
    environment: tuple[str, ...] = ()
    sources: tuple[Path, ...] = ()
    spawn: bool = not sys.platform.startswith("linux")

    @property
    def side_by_side(self) -> int:
        """How many pages run at once."""
        return self.jobs or _cpus()

    @property
    def cache(self) -> Path:
        """The folder of the cache."""
        return (self.cache_dir or self.root / ".cache" / "proofbook").absolute()

    @property
    def device(self) -> str:
        """The device on which pages compute, as the environment names it."""
        names = [name for name in self.environment if name.endswith("DEVICE")]
        return next((os.environ[name] for name in names if os.environ.get(name)), "cpu")

    def packages(self) -> list[str]:
        """The packages that a page may speak of without importing them: preloaded or its own."""
        files = [path for folder in self.sources if folder.is_dir() for path in folder.iterdir()]
        own = sorted(path.stem for path in files if not path.name.startswith(("_", ".")))
        return list(dict.fromkeys([*(name.partition(".")[0] for name in self.preload), *own]))

    def watched_environment(self) -> Mapping[str, str | None]:
        """The variables on which results depend."""
        return {name: os.environ.get(name) for name in self.environment}

    def child_environment(self) -> dict[str, str]:
        """The environment of a page: the builder's, made the same wherever the book is built.

        Pages side by side share the CPUs: with a thread a CPU each, they would fight for them.
        """
        threads = str(max(1, _cpus() // self.side_by_side))
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"
        }
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            environment.setdefault(name, threads)
        fixed = {"PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
        fixed["TQDM_DISABLE"] = "1"  # a progress bar is another output at every run
        return environment | fixed


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
