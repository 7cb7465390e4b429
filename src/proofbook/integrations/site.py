"""Open a MkDocs site: do all that MkDocs does before it converts the first page."""

from collections.abc import Mapping
from dataclasses import dataclass

import jinja2
from mkdocs.commands import build as building
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel, get_files, set_exclusions
from mkdocs.structure.nav import Navigation, get_navigation
from mkdocs.structure.pages import Page

READ = ("markdown", "meta", "content", "toc", "_title_from_render", "present_anchor_ids")
"""What a page's file says; it's known once the page has been converted."""


@dataclass(frozen=True)
class Site:
    """A site whose pages can be made one at a time.

    Attributes:
        pages: Its pages, by their place in the folder of the site, in reading order.
    """

    config: MkDocsConfig
    files: Files
    nav: Navigation
    env: jinja2.Environment
    pages: dict[str, File]

    def keep(self, last: "Site", texts: Mapping[str, bytes]) -> set[str]:
        """Take over what is known of the pages whose texts are the same; return their places."""
        same = set()
        for place, file in self.pages.items():
            if place in last.pages and texts.get(place) == file.content_bytes:
                page, other = _page(file), _page(last.pages[place])
                vars(page).update({name: vars(other)[name] for name in READ if name in vars(other)})
                same.add(place)
        return same

    def make(self, file: File) -> str:
        """Fill in a page's template, and write it to the site's folder; return the HTML."""
        documents = list(self.pages.values())
        page, excluded = _page(file), file.inclusion.is_excluded()
        building._build_page(page, self.config, documents, self.nav, self.env, excluded=excluded)
        with open(file.abs_dest_path, encoding="utf-8") as written:
            return written.read()

    def convert(self, file: File) -> None:
        """Convert a page's Markdown."""
        vars(_page(file)).pop("render", None)  # plugins have replaced it
        building._populate_page(_page(file), self.config, self.files)

    def check_links(self, file: File) -> None:
        """Report links of a page to sections that other pages don't have."""
        level = self.config.validation.links.anchors
        _page(file).validate_anchor_links(files=self.files, log_level=level)


def open_site(config: MkDocsConfig) -> Site:
    """Find a site's files and read its pages, and write what doesn't depend on their content."""
    plugins = config.plugins
    config = plugins.on_config(config)
    plugins.on_pre_build(config=config)
    files = get_files(config)
    env = config.theme.get_env()
    files.add_files_from_theme(env, config)
    files = plugins.on_files(files, config=config)
    set_exclusions(files, config)
    nav = plugins.on_nav(get_navigation(files, config), config=config, files=files)
    assert nav is not None
    documents = files.documentation_pages(inclusion=InclusionLevel.is_in_serve)
    for file in documents:
        if file.page is None:
            Page(None, file, config)
        _page(file).read_source(config)
    env = plugins.on_env(env, config=config, files=files) or env
    files.copy_static_files(inclusion=InclusionLevel.is_in_serve)
    for name in config.theme.static_templates:
        building._build_theme_template(name, env, files, config, nav)
    for name in config.extra_templates:
        building._build_extra_template(str(name), files, config, nav)
    listed = [page.file for page in nav.pages]
    ordered = [*listed, *(file for file in documents if file not in listed)]
    return Site(config, files, nav, env, {file.dest_uri: file for file in ordered})


def _page(file: File) -> Page:
    assert file.page is not None
    return file.page
