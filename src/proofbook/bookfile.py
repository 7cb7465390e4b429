"""What a book says about itself in its `mkdocs.yml`, read with or without MkDocs."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from pydoc import locate
from typing import Any

import yaml

from proofbook.settings import Settings
from proofbook.weave import BROUGHT

HOSTS = {"github.com": "blob", "gitlab.com": "-/blob", "codeberg.org": "src/branch"}


@dataclass(frozen=True)
class BookSettings:
    """Where a book lies and how its pages are made and run.

    Attributes:
        running: How its pages run; `running.root` is the folder from which files are named.
        docs: The folder of the chapters.
        extensions: Names of the Markdown extensions, proofbook's own apart.
        configs: Their options, by name.
        hashed: Label to file (`path` or `package:path`), each hashed in the ledger.
        coverage_names: Names with a numeral in them, and other texts that claim nothing.
        source_url: Where `{path}`, lines `{first}` to `{last}`, can be read online; or "".
        site_name: What the book is called; or "".
        site_url: Where it is published; or "".
        directory_urls: Whether a page is served as a folder, under a name without an ending.
    """

    running: Settings
    docs: Path
    extensions: tuple[str, ...] = BROUGHT
    configs: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    hashed: Mapping[str, str] = field(default_factory=dict)
    coverage_names: tuple[str, ...] = ()
    source_url: str = ""
    site_name: str = ""
    site_url: str = ""
    directory_urls: bool = True

    @property
    def root(self) -> Path:
        """The folder from which files are named."""
        return self.running.root

    @property
    def sources(self) -> tuple[Path, ...]:
        """Folders of the modules that pages show and import."""
        return self.running.sources

    def name(self, file: Path) -> str:
        """A file as the author would name it."""
        file, root = file.resolve(), self.root
        return file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)


def load(config_file: Path, given: Mapping[str, Any] | None = None) -> BookSettings:
    """Read the settings of the book that a `mkdocs.yml` describes; defaults where there is none.

    Args:
        config_file: The `mkdocs.yml`.
        given: Options that go before those of the file.
    """
    config: dict[str, Any] = {}
    if config_file.is_file():
        config = yaml.load(config_file.read_text(encoding="utf-8"), _Loader) or {}
    named = _named(config.get("markdown_extensions"))
    options = _named(config.get("plugins")).get("proofbook") or named.get("proofbook") or {}
    return make(
        root=config_file.parent.resolve(),
        docs_dir=config.get("docs_dir", "docs"),
        extensions=with_brought(["toc", "tables", *named]),
        configs={name: value for name, value in named.items() if value},
        options={**options, **(given or {})},
        repo_url=config.get("repo_url") or "",
        edit_uri=config.get("edit_uri") or "",
        site_name=config.get("site_name") or "",
        site_url=config.get("site_url") or "",
        directory_urls=config.get("use_directory_urls", True),
    )


def make(
    root: Path,
    docs_dir: str,
    extensions: list[str],
    configs: Mapping[str, Mapping[str, Any]],
    options: Mapping[str, Any],
    repo_url: str,
    edit_uri: str,
    site_name: str = "",
    site_url: str = "",
    directory_urls: bool = True,
) -> BookSettings:
    """Settings from the options of the plugin (or of the extension) and the site's own."""
    cache_dir = options.get("cache_dir")
    running = Settings(
        root=root,
        preload=tuple(options.get("preload") or ()),
        timeout=float(options.get("timeout") or 60.0),
        jobs=options.get("jobs") or None,
        cache_dir=root / cache_dir if cache_dir else None,
        environment=tuple(options.get("environment") or ()),
        sources=tuple(root / name for name in options.get("sources") or ["src"]),
    )
    return BookSettings(
        running=running,
        docs=root / docs_dir,
        extensions=tuple(extensions),
        configs={name: configs[name] for name in extensions if name in configs},
        hashed=dict(options.get("hashed") or {}),
        coverage_names=tuple((options.get("coverage") or {}).get("names") or ()),
        source_url=options.get("source_url") or source_url(repo_url, edit_uri),
        site_name=site_name,
        site_url=site_url,
        directory_urls=directory_urls,
    )


def source_url(repo_url: str, edit_uri: str) -> str:
    """The address of lines in a file of a repository, on the branch that `edit_uri` names."""
    host = next((name for name in HOSTS if f"//{name}/" in repo_url), None)
    if host is None:
        return ""
    branch = next(iter(edit_uri.strip("/").removeprefix("-/").split("/")[1:2]), "main")
    return f"{repo_url.rstrip('/')}/{HOSTS[host]}/{branch}/{{path}}#L{{first}}-L{{last}}"


def with_brought(names: list[str]) -> list[str]:
    """A book's extensions with those that proofbook brings, each once, proofbook itself apart."""
    given = [name for name in names if name != "proofbook"]
    short = {name.removeprefix("markdown.extensions.") for name in given}
    return list(dict.fromkeys([*given, *(name for name in BROUGHT if name not in short)]))


def _named(entries: Any) -> dict[str, Any]:
    """MkDocs' lists of names, or of one-entry mappings from name to options, as one mapping."""
    if isinstance(entries, dict):
        return dict(entries)
    named: dict[str, Any] = {}
    for entry in entries or []:
        named.update(entry if isinstance(entry, dict) else {entry: None})
    return named


class _Loader(yaml.SafeLoader):
    """Knows the tags that MkDocs knows."""


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
