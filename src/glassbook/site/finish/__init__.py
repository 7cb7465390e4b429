"""Final touches to the markup of every page: fixes for what the theme and the views leave undone.

The checks in `tests/book/test_pages.py` found what needs repair: otherwise, pages would be invalid
HTML, incomplete for screen readers, too heavy, and too slow.
"""
