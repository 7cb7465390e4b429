"""Last touches to the markup of every page: what the theme and the views leave undone.

What it repairs, the checks of `tests/book/test_pages.py` found: without it pages would not be valid
HTML, not whole for those who listen to them, and too heavy and slow.
"""
