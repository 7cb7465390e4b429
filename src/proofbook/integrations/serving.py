"""What a book keeps from build to build while it is served."""

import jinja2
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import Files

from proofbook.integrations.kept import Once, Say
from proofbook.integrations.kept_pages import KeptPages
from proofbook.integrations.kept_search import KeptSearch
from proofbook.integrations.kept_templates import KeptTemplates


class Serving:
    """The conversions, templates and search entries of the last build.

    Attributes:
        pages: What Markdown made of each page.
    """

    def __init__(self, say: Say) -> None:
        once = Once(say)
        self.pages = KeptPages(once)
        self._templates = KeptTemplates(once)
        self._search = KeptSearch()

    def begin(
        self, env: jinja2.Environment, config: MkDocsConfig, files: Files
    ) -> jinja2.Environment:
        """Begin to write pages, all of which have been converted; gives their templates."""
        names = {file.src_uri for file in files.documentation_pages()}
        self.pages.forget(names)
        self._templates.forget(names)
        self._search.begin(config)
        return self._templates.begin(env, config)
