"""The settings of a book, each declared once, here.

The plugin, the extension, the command line, and the reference all read `Options`.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

REQUIRED_EXTENSIONS = ("pymdownx.superfences", "attr_list", "md_in_html")
"""The Markdown extensions that the engine itself needs."""
ADDED_EXTENSIONS = (
    *REQUIRED_EXTENSIONS,
    *("admonition", "tables", "pymdownx.details", "pymdownx.tabbed"),
)
"""The Markdown extensions that every book gets."""
PAGES = (".markdown", ".mdown", ".mkdn", ".mkd", ".md")
"""The suffixes of the files that MkDocs treats as pages."""
HOSTS = {"github.com": "blob", "gitlab.com": "-/blob", "codeberg.org": "src/branch"}


@dataclass(frozen=True)
class Coverage:
    """Texts that coverage always ignores, such as names that contain a numeral."""

    names: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Options:
    """Options that authors may set under `proofbook` in `mkdocs.yml`; all have usable defaults."""

    preload: tuple[str, ...] = field(
        default=(),
        metadata={"meaning": "packages to import once, before any page runs"},
    )
    timeout: float = field(
        default=60.0,
        metadata={"meaning": "how many seconds a block may run before it counts as hanging"},
    )
    jobs: int | None = field(
        default=None,
        metadata={"meaning": "how many pages run at the same time"},
    )
    first: tuple[str, ...] = field(
        default=(),
        metadata={
            "meaning": "pages to start first, by their paths in the docs folder: the slowest, "
            "which would otherwise finish last"
        },
    )
    cache_dir: str | Path | None = field(
        default=None,
        metadata={"meaning": "the folder where results are cached"},
    )
    environment: tuple[str, ...] = field(
        default=(),
        metadata={
            "meaning": "environment variables that results depend on; "
            "a variable whose name ends in DEVICE names the device"
        },
    )
    sources: tuple[str, ...] = field(
        default=("src",),
        metadata={"meaning": "the folders of the modules that pages show and import"},
    )
    absences: tuple[str, ...] = field(
        default=(),
        metadata={
            "meaning": "exceptions that mean that something is missing on this machine: a page "
            "that ends with such an exception shows it, and the build warns instead of failing"
        },
    )
    hashed: Mapping[str, str] = field(
        default_factory=dict,
        hash=False,
        metadata={"meaning": "files whose hashes the ledger lists, each under a label"},
    )
    coverage: Coverage = field(
        default_factory=Coverage,
        metadata={
            "meaning": "`names`: texts that never need a claim, "
            "such as names that contain a numeral"
        },
    )
    source_url: str = field(
        default="",
        metadata={
            "meaning": "where a file's lines can be read online, "
            "with placeholders `{path}`, `{first}`, and `{last}`"
        },
    )


@dataclass(frozen=True)
class Settings(Options):
    """A book: where it is, and how its pages are built and run.

    Attributes:
        root: The project's folder. Files are named relative to it, and pages run in it and import
            from it first.
        docs_dir: The folder of the chapters, relative to the root.
        extensions: Names of the Markdown extensions, except proofbook's own.
        configs: Their options, by name.
        site_name: The book's title, or "".
        site_url: The address where it's published, or "".
        directory_urls: Whether each page is served as a folder, at an address without an extension.
        spawn: Whether to start an interpreter for each page instead of forking one.
    """

    root: Path
    docs_dir: str = "docs"
    extensions: tuple[str, ...] = ADDED_EXTENSIONS
    configs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict, hash=False)
    site_name: str = ""
    site_url: str = ""
    directory_urls: bool = True
    spawn: bool = not sys.platform.startswith("linux")

    @property
    def docs(self) -> Path:
        """The folder of the chapters."""
        return self.root / self.docs_dir

    @property
    def source_folders(self) -> tuple[Path, ...]:
        """Folders of the modules that pages show and import."""
        return tuple(self.root / name for name in self.sources)

    @property
    def side_by_side(self) -> int:
        """How many pages run at once."""
        return self.jobs or _cpus()

    @property
    def cache(self) -> Path:
        """The folder of the cache."""
        return (self.root / (self.cache_dir or Path(".cache", "proofbook"))).absolute()

    @property
    def device(self) -> str:
        """The device that pages compute on, as named in the environment; `cpu` by default."""
        names = [name for name in self.environment if name.endswith("DEVICE")]
        return next((os.environ[name] for name in names if os.environ.get(name)), "cpu")

    def name(self, file: Path) -> str:
        """Return a file's path relative to the root, or its full path if it's outside."""
        file, root = file.resolve(), self.root
        return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)

    def pages(self, folder: Path) -> list[Path]:
        """Return the files in a folder that are pages, judging by their suffixes."""
        files = (path for path in folder.rglob("*") if path.name.endswith(PAGES))
        return sorted(path for path in files if path.is_file())

    def packages(self) -> list[str]:
        """Return the packages that prose may name without imports: preloaded or the book's own."""
        folders = [folder for folder in self.source_folders if folder.is_dir()]
        files = [path for folder in folders for path in folder.iterdir()]
        own = sorted(path.stem for path in files if not path.name.startswith(("_", ".")))
        return list(dict.fromkeys([*(name.partition(".")[0] for name in self.preload), *own]))

    def watched_environment(self) -> Mapping[str, str | None]:
        """Return the environment variables that results depend on, with their values."""
        return {name: os.environ.get(name) for name in self.environment}

    def child_environment(self) -> dict[str, str]:
        """Return the environment of a page: the builder's, with some variables fixed.

        Pages that run in parallel share the CPUs. If each started a thread for every CPU, they
        would compete.
        """
        threads = str(max(1, _cpus() // self.side_by_side))
        environment = {
            name: value for name, value in os.environ.items() if name != "PYTHONWARNINGS"
        }
        for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
            environment.setdefault(name, threads)
        fixed = {"PYTHONHASHSEED": "0", "MPLBACKEND": "agg"}
        fixed["TQDM_DISABLE"] = "1"  # a progress bar's output differs from run to run
        return environment | fixed


def make(
    options: Mapping[str, Any],
    *,
    extensions: Iterable[str],
    configs: Mapping[str, Mapping[str, Any]],
    repo_url: str = "",
    edit_uri: str = "",
    **site: Any,
) -> Settings:
    """Combine the author's options with the site's settings.

    An empty option counts as missing.
    """
    known = {one.name: options.get(one.name) for one in fields(Options)}
    given = {name: value for name, value in known.items() if value}
    for name, value in given.items():
        if isinstance(value, list):
            given[name] = tuple(value)
    given["timeout"] = float(given.get("timeout", Options.timeout))
    if coverage := given.get("coverage"):
        given["coverage"] = Coverage(tuple(coverage.get("names") or ()))
    given.setdefault("source_url", source_url(repo_url, edit_uri))
    names = tuple(extensions)
    configs = {name: configs[name] for name in names if name in configs}
    return Settings(extensions=names, configs=configs, **given, **site)


def source_url(repo_url: str, edit_uri: str) -> str:
    """Return a template for addresses of lines in a repository, on `edit_uri`'s branch."""
    host = next((name for name in HOSTS if f"//{name}/" in repo_url), None)
    if host is None:
        return ""
    branch = next(iter(edit_uri.strip("/").removeprefix("-/").split("/")[1:2]), "main")
    return f"{repo_url.rstrip('/')}/{HOSTS[host]}/{branch}/{{path}}#L{{first}}-L{{last}}"


def with_added(names: Iterable[str]) -> list[str]:
    """Add the extensions that proofbook needs, each once; leave out proofbook itself."""
    given = [name for name in names if name != "proofbook"]
    short = {name.removeprefix("markdown.extensions.") for name in given}
    return list(dict.fromkeys([*given, *(name for name in ADDED_EXTENSIONS if name not in short)]))


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
