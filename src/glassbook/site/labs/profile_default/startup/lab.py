"""Run by the kernel before a lab: records what it depends on, and keeps views in a page's form.

It leaves nothing behind among the names that the lab sees.
"""


def _note_what_is_asked() -> None:
    """Record what the lab depends on, for the next build."""
    import json
    import os
    from importlib import import_module

    from IPython import get_ipython

    from proofbook.caching.dependencies import Dependencies
    from proofbook.execution.hidden_events import announce
    from proofbook.execution.import_hooks import compile_project_from_source

    told, root, preload = json.loads(os.environ["LAB"])
    # Installed packages are identified by their versions; some open libraries as they load.
    for name in preload:
        import_module(name)
    announce()
    compile_project_from_source()
    asked = Dependencies(root, os.path.dirname(told))

    def tell(_: object) -> None:
        with open(told, "w", encoding="utf-8") as file:
            json.dump(asked.seen() | {"declared": {}}, file)

    get_ipython().events.register("post_run_cell", tell)


def _keep_pages() -> None:
    """Keep views in the form that lets a page share their scripts."""
    from IPython import get_ipython
    from IPython.core.formatters import BaseFormatter
    from traitlets import ObjectName, Unicode

    class PageFormatter(BaseFormatter):
        """Markup, and as its metadata the files that the markup names."""

        format_type = Unicode("text/vnd.proofbook.page")
        print_method = ObjectName("_repr_page_")

    display = get_ipython().display_formatter
    formatter = PageFormatter(parent=display)
    display.formatters[formatter.format_type] = formatter


_note_what_is_asked()
_keep_pages()
del _note_what_is_asked, _keep_pages
