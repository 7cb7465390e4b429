"""What others see of a page before they open it: search engines, and those it is sent to.

A description, a picture where the site has an address, and the same for programs to read.
"""
