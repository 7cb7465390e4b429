"""The settings of a book, each declared once, here.

The plugin, the extension, the command line, and the reference all read `Options`.
"""

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from pydoc import locate
from typing import Any

import yaml

from proofbook.problems import ChapterError, Problem

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


def load(config_file: Path, given: Mapping[str, Any] | None = None) -> Settings:
    """Read the settings of the book that a `mkdocs.yml` describes; use defaults if there is none.

    Args:
        config_file: The `mkdocs.yml`.
        given: Options that take precedence over those in the file.

    Raises:
        ChapterError: The file can't be read, or an option can't be used.
    """
    config = _read(config_file) if config_file.is_file() else {}
    try:
        named = _named(config.get("markdown_extensions"))
        plugins = _named(config.get("plugins"))
        options = plugins.get("proofbook") or named.get("proofbook") or {}
        return make(
            {**options, **(given or {})},
            extensions=with_added(["toc", "tables", *named]),
            configs={name: value for name, value in named.items() if value},
            repo_url=config.get("repo_url") or "",
            edit_uri=config.get("edit_uri") or "",
            root=config_file.parent.resolve(),
            docs_dir=config.get("docs_dir", "docs"),
            site_name=config.get("site_name") or "",
            site_url=config.get("site_url") or "",
            directory_urls=config.get("use_directory_urls", True),
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise _unusable(config_file, str(error)) from error


def files_of(config_file: Path) -> list[Path]:
    """List a `mkdocs.yml` and the files that it inherits from, as far as they can be read."""
    files: list[Path] = []
    parent: object = config_file.name
    while parent is not None and (file := config_file.parent / str(parent)) not in files:
        files.append(file)
        config_file = file
        try:
            parent = _own(file).get("INHERIT")
        except ChapterError:
            break
    return files


def _read(file: Path, heirs: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Read a `mkdocs.yml`, and the one that it inherits from, as MkDocs does.

    Raises:
        ChapterError: A file can't be read.
    """
    own = _own(file)
    parent = own.pop("INHERIT", None)
    if parent is None:
        return own
    if file in heirs:
        raise _unusable(file, "it inherits from itself")
    return _merged(_read(file.parent / str(parent), (*heirs, file)), own)


def _own(file: Path) -> dict[str, Any]:
    """Read one file of settings.

    Raises:
        ChapterError: It can't be read.
    """
    try:
        config = yaml.load(file.read_bytes(), _Loader)
    except Exception as error:  # a Python tag may call anything
        mark = getattr(error, "problem_mark", None)
        raise _unusable(file, str(error), mark.line + 1 if mark else 1) from error
    if not isinstance(config or {}, dict):
        raise _unusable(file, f"this is not a mapping of settings: {str(config)[:50]!r}")
    return dict(config or {})


def _merged(parent: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return inherited settings, overridden by a file's own; mappings are merged."""
    merged = {**parent, **own}
    for name in parent.keys() & own.keys():
        if isinstance(parent[name], dict) and isinstance(own[name], dict):
            merged[name] = _merged(parent[name], own[name])
    return merged


def _unusable(file: Path, message: str, line: int = 1) -> ChapterError:
    first, _, detail = message.partition("\n")
    return ChapterError(
        [Problem(file.name, line, f"these settings cannot be used: {first}", "", detail)]
    )


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


def _named(entries: Any) -> dict[str, Any]:
    """Merge a list of names, or of one-entry mappings from name to options, into one mapping."""
    if isinstance(entries, dict):
        return dict(entries)
    named: dict[str, Any] = {}
    for entry in entries or []:
        named.update(entry if isinstance(entry, dict) else {entry: None})
    return named


def _cpus() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Loader(yaml.UnsafeLoader):
    """A loader for the tags that MkDocs knows; names that can't be found become `None`."""


def _env(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
    if isinstance(node, yaml.SequenceNode):
        *names, default = loader.construct_sequence(node)
        return next((os.environ[name] for name in names if name in os.environ), default)
    return os.environ.get(str(node.value))


_Loader.add_constructor("!ENV", _env)
_Loader.add_constructor("!relative", lambda loader, node: None)
_Loader.add_multi_constructor(
    "tag:yaml.org,2002:python/name:", lambda loader, name, node: locate(name)
)
