"""Read a book as MkDocs does: its settings, its pages, and what plugins and hooks make of them."""

import logging
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import is_dataclass
from pathlib import Path
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

from mkdocs.config import config_options as options
from mkdocs.config import load_config
from mkdocs.config.base import LegacyConfig
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, get_files, set_exclusions
from mkdocs.structure.nav import get_navigation
from mkdocs.structure.pages import Page
from mkdocs.utils import is_markdown_file

from proofbook.parsing.front_matter import split_front_matter
from proofbook.problems import ChapterError, Problem
from proofbook.settings import Options, Settings, make, with_added

NAMES = ("mkdocs.yml", "mkdocs.yaml")
"""The names that MkDocs gives the file with a site's settings."""
INHERIT = re.compile(r"^INHERIT:\s*['\"]?(.+?)['\"]?\s*$", re.MULTILINE)


def _schema(kind: Any) -> options.BaseConfigOption[Any]:
    """Return the MkDocs option for a type.

    An option that isn't given is `None`, as `make` expects.
    """
    if is_dataclass(kind):
        parts = get_type_hints(kind).items()
        return options.SubConfig(*((name, _schema(part)) for name, part in parts))
    if kind == tuple[str, ...]:
        return options.Optional(options.ListOfItems(options.Type(str)))
    if get_origin(kind) is Mapping:
        return options.Optional(options.Type(dict))
    if get_origin(kind) is UnionType:
        return _schema(get_args(kind)[0])
    return options.Optional(options.Type((int, float) if kind is float else kind))


SCHEMA = tuple((name, _schema(kind)) for name, kind in get_type_hints(Options).items())
"""The options of `proofbook`, as MkDocs checks them."""


class Manuscript:
    """The pages of a book, with their texts as plugins and hooks leave them.

    Args:
        config_file: The file with the book's settings; by default, the one that MkDocs would read.

    Attributes:
        settings: The settings of the book; the defaults if it has no such file.
        paths: Where each page's file is, by its name; `None` for a page that a plugin has made up.
        foreign: The pages that other plugins make of something else, such as notebooks.
        hooks: The files of its hooks.

    Raises:
        ChapterError: The settings can't be used, or a plugin or hook fails.
    """

    def __init__(self, config_file: Path | None = None) -> None:
        self._config: MkDocsConfig | None = None
        self._files = Files([])
        self._pages: dict[str, File] = {}
        self.paths: dict[str, Path | None] = {}
        self.foreign: list[str] = []
        self.hooks: list[Path] = []
        file = config_file or find_config(Path())
        if file is None:
            self.settings = load(None)
            pages = self.settings.pages(self.settings.docs)
            self.paths = {self.settings.name(page): page for page in pages}
        else:
            self._config = _loaded(file)
            try:
                with _told_of(file):
                    self._open(self._config)
            except ChapterError:
                self.close()
                raise

    def _open(self, config: MkDocsConfig) -> None:
        """Do what MkDocs does before it reads the first page, but run nothing."""
        plugin = config.plugins.get("proofbook")
        if plugin is not None:
            plugin.only_reads = True
        self.hooks = [Path(hook) for hook in config.hooks]
        config.plugins.on_startup(command="build", dirty=False)
        self._config = config = config.plugins.on_config(config)
        self.settings = plugin.settings if plugin is not None else settings_of(config)
        config.plugins.on_pre_build(config=config)
        files = get_files(config)
        files.add_files_from_theme(config.theme.get_env(), config)
        self._files = files = config.plugins.on_files(files, config=config)
        set_exclusions(files, config)
        config.plugins.on_nav(get_navigation(files, config), config=config, files=files)
        for file in files.documentation_pages():
            name = name_of(file, self.settings)
            if not is_markdown_file(file.src_uri):
                self.foreign.append(name)
                continue
            self._pages[name] = file
            self.paths[name] = Path(file.abs_src_path) if file.abs_src_path else None

    def read(
        self, paths: Sequence[Path] = (), *, only_pages: bool = False
    ) -> tuple[dict[str, str], list[Problem]]:
        """Return texts by name, and a problem for each file that can't be read.

        Args:
            paths: Files and folders; by default, all pages.
            only_pages: Leave out files that are not pages of the book.
        """
        texts: dict[str, str] = {}
        problems: list[Problem] = []
        for name, path in self._chosen(paths).items():
            if only_pages and name not in self.paths:
                continue
            try:
                texts[name] = self._text(name, path)
            except (OSError, UnicodeDecodeError) as error:
                problems.append(Problem(name, 1, f"this file cannot be read: {error}"))
            except ChapterError as error:
                problems += error.problems
        return texts, problems

    def _chosen(self, paths: Sequence[Path]) -> dict[str, Path | None]:
        """Return where files are, by their names."""
        if not paths:
            return dict(sorted(self.paths.items()))
        chosen: dict[str, Path | None] = {}
        for path in paths:
            folder = path.resolve()
            inside = {n: p for n, p in self.paths.items() if p and p.is_relative_to(folder)}
            others = self.settings.pages(path) if path.is_dir() and not inside else []
            files = [path] if not path.is_dir() else others
            chosen |= dict(sorted(inside.items())) | {self.settings.name(f): f for f in files}
        return chosen

    def _text(self, name: str, path: Path | None) -> str:
        """Return the text of a page after all edits, or that of any other file.

        Raises:
            OSError: It can't be read.
            UnicodeDecodeError: It isn't UTF-8.
            ChapterError: A plugin or a hook fails.
        """
        file, config = self._pages.get(name), self._config
        if file is None or config is None:
            return path.read_text(encoding="utf-8") if path else ""
        whole = file.content_string
        with _told_of(Path(name), is_page=True):
            page = file.page or Page(None, file, config)
            page = config.plugins.on_pre_page(page, config=config, files=self._files) or page
            page.read_source(config)
            text = config.plugins.on_page_markdown(
                page.markdown or "", page=page, config=config, files=self._files
            )
        return with_front_matter(whole, text or "")

    def close(self) -> None:
        """Let the plugins end; MkDocs uses some of them again in the same process."""
        if self._config is not None:
            self._config.plugins.on_shutdown()
            if (plugin := self._config.plugins.get("proofbook")) is not None:
                plugin.only_reads = False


def name_of(file: File, settings: Settings) -> str:
    """Return the name of a page: its path in the project, or in the docs folder if it's outside."""
    path = settings.name(Path(file.abs_src_path)) if file.abs_src_path else file.src_uri
    return file.src_uri if Path(path).is_absolute() else path  # no path of this machine


def with_front_matter(whole: str, markdown: str) -> str:
    """Return a page with another text after its front matter; the page itself if it's the same."""
    body, offset = split_front_matter(whole)
    if markdown.strip() == body.strip():
        return whole
    return "\n".join([*whole.split("\n")[:offset], markdown])


def load(config_file: Path | None, given: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings in a `mkdocs.yml`.

    Args:
        config_file: The file; `None` for a book that has none, in this folder.
        given: Options that take precedence over those in the file.

    Raises:
        ChapterError: The file can't be read, or a setting can't be used.
    """
    if config_file is None:
        names, root = with_added(["toc"]), Path().resolve()
        return make(_valid(given or {}, root), extensions=names, configs={}, root=root)
    return settings_of(_loaded(config_file), given)


def settings_of(config: MkDocsConfig, given: Mapping[str, Any] | None = None) -> Settings:
    """Return the settings of a site, with `given` options in place of its own."""
    names = with_added([name for name in config.markdown_extensions if isinstance(name, str)])
    file = Path(config.config_file_path)
    plugin = config.plugins.get("proofbook")
    own = plugin.config if plugin is not None else config.mdx_configs.get("proofbook", {})
    return make(
        {**own, **_valid(given or {}, file)},
        extensions=names,
        configs=config.mdx_configs,
        repo_url=config.repo_url or "",
        edit_uri=config.edit_uri or "",
        root=file.parent.resolve(),
        docs_dir=config.docs_dir,
        site_name=config.site_name,
        site_url=config.site_url or "",
        directory_urls=config.use_directory_urls,
    )


def find_config(folder: Path) -> Path | None:
    """Return the file of settings that MkDocs would read in a folder."""
    return next((folder / name for name in NAMES if (folder / name).is_file()), None)


def files_of(config_file: Path) -> list[Path]:
    """List a file of settings and those that it inherits from, as far as they can be read."""
    files: list[Path] = []
    file: Path | None = config_file
    while file is not None and file not in files:
        files.append(file)
        text = file.read_text(encoding="utf-8", errors="replace") if file.is_file() else ""
        parent = INHERIT.search(text)
        file = file.parent / parent[1] if parent else None
    return files


def _loaded(file: Path) -> MkDocsConfig:
    """Read the settings of a site; print what MkDocs warns of.

    Raises:
        ChapterError: The file can't be read, or MkDocs would refuse a setting.
    """
    with _told_of(file) as warnings:
        config = load_config(str(file))
        _valid(config.mdx_configs.get("proofbook") or {}, file)
    for warning in warnings:
        print(f"{file.name}: warning: {warning}", file=sys.stderr)
    return config


def _valid(given: Mapping[str, Any], file: Path) -> Mapping[str, Any]:
    """Return options of the extension if the plugin would take them.

    Raises:
        ChapterError: It would not.
    """
    config = LegacyConfig(SCHEMA)
    config.load_dict({name: value or None for name, value in given.items()})
    errors, warnings = config.validate()
    if found := [*errors, *warnings]:
        raise _unusable(file, "; ".join(f"proofbook: {name}: {error}" for name, error in found))
    return {name: config[name] for name in given}


@contextmanager
def _told_of(file: Path, *, is_page: bool = False) -> Iterator[list[str]]:
    """Turn an error into a problem of a file; provide the list of what MkDocs warns of meanwhile.

    Raises:
        ChapterError: Something failed: MkDocs, a plugin, or a hook.
    """
    said: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: said.append(_terse(record.getMessage()))  # type: ignore[method-assign]
    log = logging.getLogger("mkdocs")
    log.addHandler(handler)
    try:
        yield said
    except ChapterError:
        raise
    except (Exception, SystemExit) as error:  # a setting may call anything
        if is_page and isinstance(error, OSError | UnicodeDecodeError):
            raise
        if not is_page:
            raise _unusable(file, "\n".join(said) or str(error), error) from error
        message = f"a plugin or hook fails on this page: {type(error).__name__}: {error}"
        raise ChapterError([Problem(file.as_posix(), 1, message)]) from error
    finally:
        log.removeHandler(handler)


def _terse(message: str) -> str:
    """Return a message without the stack of a traceback."""
    return "\n".join(line for line in message.splitlines() if not line.startswith(" "))


def _unusable(file: Path, message: str, error: BaseException | None = None) -> ChapterError:
    mark = next((m for e in _causes(error) if (m := getattr(e, "problem_mark", None))), None)
    first, _, detail = message.partition("\n")
    line = mark.line + 1 if mark else 1
    return ChapterError(
        [Problem(file.name, line, f"these settings cannot be used: {first}", "", detail)]
    )


def _causes(error: BaseException | None) -> Iterable[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
