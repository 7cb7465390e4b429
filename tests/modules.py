"""The modules of the packages, without the site's code."""

import pkgutil

import glassbook
import glassformer

NAMES = [
    one.name
    for package in (glassformer, glassbook)
    for one in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    if not one.name.startswith("glassbook.site")
]
