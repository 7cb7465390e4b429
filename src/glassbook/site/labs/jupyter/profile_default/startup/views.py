"""Run by the kernel before a lab: keeps views in the form that lets a page share their scripts.

It leaves nothing behind among the names that the lab sees.
"""


def _keep_pages() -> None:
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


_keep_pages()
del _keep_pages
