"""What search engines, and people who get a link, see of a page before they open it.

That is a description, a picture if the site has an address, and the same in a form for programs.
"""
