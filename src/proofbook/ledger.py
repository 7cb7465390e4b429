"""What was verified: the folded foot of each page, and `verified.json` for the site."""

import hashlib
import json
import platform
import subprocess
from collections.abc import Mapping, Sequence
from functools import lru_cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proofbook.book import Checked
from proofbook.bookfile import BookSettings


def counts(checked: Checked) -> dict[str, int]:
    """How many blocks, doctest examples and claims of a page were verified."""
    return {
        "blocks": sum(block.kind == "python" for block in checked.page.chapter.blocks),
        "doctests": sum(len(result.examples) for result in checked.run.blocks),
        "claims": len(checked.page.chapter.claims),
    }


def circumstances(settings: BookSettings) -> dict[str, Any]:
    """Under what a book was verified: versions, data and commit."""
    return {
        "versions": {"python": platform.python_version(), **_versions(settings.running.preload)},
        "data": {label: _digest(settings.root, file) for label, file in settings.hashed.items()},
        "commit": _commit(settings.root),
    }


def foot_html(checked: Checked, about: Mapping[str, Any]) -> str:
    """The folded line at the end of a page; empty for a page that verifies nothing."""
    found = counts(checked)
    if not any(found.values()):
        return ""
    what = ", ".join(f"{n} {name if n != 1 else name[:-1]}" for name, n in found.items() if n)
    rows = {"device": checked.run.device, **about["versions"], **about["data"]}
    if about["commit"]:
        rows["commit"] = about["commit"]
    details = "".join(
        f"<div><dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd></div>"
        for name, value in rows.items()
    )
    return (
        '<details class="proofbook-ledger">'
        f"<summary>Verified when this page was built: {what}</summary><dl>{details}</dl></details>"
    )


def verified_json(pages: Sequence[Checked], about: Mapping[str, Any]) -> str:
    """The ledger of a whole site."""
    per_page = {one.page.chapter.path: {**counts(one), "device": one.run.device} for one in pages}
    totals = {
        name: sum(counts(one)[name] for one in pages) for name in ("blocks", "doctests", "claims")
    }
    return json.dumps({"totals": totals, **about, "pages": per_page}, indent=2, sort_keys=True)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {}
    for package in dict.fromkeys(name.partition(".")[0] for name in packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _digest(root: Path, file: str) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of `path` or `package:path`."""
    package, _, inside = file.rpartition(":")
    if package:
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise FileNotFoundError(f"no package {package!r}, named under hashed: {file!r}")
        path = Path(spec.submodule_search_locations[0]) / inside
    else:
        path = root / inside
    status = path.stat()
    return _hashed(path, status.st_size, status.st_mtime_ns)


@lru_cache
def _hashed(path: Path, size: int, mtime_ns: int) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()[:16]


def _commit(root: Path) -> str:
    """The commit that is checked out, where there is one."""
    command = ["git", "-C", str(root), "rev-parse", "--short=12", "HEAD"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()
