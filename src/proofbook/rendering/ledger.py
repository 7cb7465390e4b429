"""Report what was verified, in the folded foot of each page and in the site's `verified.json`."""

import hashlib
import json
import os
import platform
import subprocess
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from html import escape
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proofbook.checking.book import Checked
from proofbook.settings import Settings

KINDS = ("blocks", "doctests", "claims")
NOT_RUN = "not run"

Labs = Mapping[str, Mapping[str, int]]
"""The counts of each page that something other than this engine ran, by path."""


def counts(checked: Checked) -> dict[str, int]:
    """Count how many blocks, doctest examples, and claims of a page were verified."""
    return {
        "blocks": sum(block.kind == "python" for block in checked.page.chapter.blocks),
        "doctests": sum(len(result.examples) for result in checked.run.blocks),
        "claims": len(checked.page.claims) + len(checked.page.facts),
    }


def exemptions(checked: Checked) -> dict[str, int]:
    """Count the exempt parts of a page, by reason."""
    source = checked.page.source
    reasons = Counter(source.spans[index].reason for index in checked.page.literals)
    reasons[NOT_RUN] = sum(source.fences[index].kind == "off" for index in checked.page.shown)
    return {reason: number for reason, number in sorted(reasons.items()) if number}


def provenance(settings: Settings, session: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return how a book was verified: versions, data, commit, time, and the variables set.

    The values of variables are left out, since they may be paths on this machine.

    Args:
        settings: The book.
        session: The result for the first of several builds. Later builds show its commit and time,
            since a new time would change every page.
    """
    session = session or {}
    watched = settings.watched_environment()
    return {
        "versions": {"python": platform.python_version(), **_versions(settings.preload)},
        "data": {label: _digest(settings.root, file) for label, file in settings.hashed.items()},
        "variables": sorted(name for name, value in watched.items() if value),
        "commit": session["commit"] if session else _commit(settings.root),
        "built": session["built"] if session else _now(),
    }


def foot_html(checked: Checked, about: Mapping[str, Any]) -> str:
    """Return the folded line at the end of a page; "" for a page that verifies nothing."""
    found = counts(checked)
    if not any(found.values()):
        return ""
    what = ", ".join(f"{n} {name if n != 1 else name[:-1]}" for name, n in found.items() if n)
    rows = {"exempt": listed(exemptions(checked)), **rows_of(about, [checked.run.device])}
    details = "".join(
        f"<div><dt>{escape(name)}</dt><dd><code>{escape(value)}</code></dd></div>"
        for name, value in rows.items()
        if value
    )
    return (
        '<details class="proofbook-ledger">'
        f"<summary>Verified when this page was built: {what}</summary><dl>{details}</dl></details>"
    )


def rows_of(about: Mapping[str, Any], devices: Sequence[str]) -> dict[str, str]:
    """Return labels and texts for the circumstances.

    If a circumstance doesn't apply, its text is empty.
    """
    return {
        "device": ", ".join(devices),
        **about["versions"],
        **about["data"],
        "variables set": ", ".join(about["variables"]),
        "commit": about["commit"],
        "built": about["built"],
    }


def listed(exempt: Mapping[str, int]) -> str:
    """List reasons with their counts, on one line."""
    return ", ".join(f"{number} {reason}" for reason, number in exempt.items())


def account(pages: Sequence[Checked], about: Mapping[str, Any], labs: Labs) -> dict[str, Any]:
    """Return the ledger of a book, for `verified.json` and for the page that shows it.

    The totals leave out blocks, doctests, and claims of pages with problems.
    """
    exempt = [exemptions(one) for one in pages]
    sound = [one for one in pages if not one.problems]
    totals = {name: sum(counts(one)[name] for one in sound) for name in KINDS}
    offered = sum(bool(one.page.chapter.blocks) for one in pages)
    per_page = {
        one.page.chapter.path: {
            **counts(one),
            "exempt": sum(reasons.values()),
            "device": one.run.device if _ran(one) else None,
            "kept": one.run.cached,
            "problems": len(one.problems),
        }
        for one, reasons in zip(pages, exempt, strict=True)
    }
    return {
        **about,
        "totals": {
            **totals,
            "exempt": sum(sum(reasons.values()) for reasons in exempt),
            "scripts": offered,
            "notebooks": offered,
        },
        "exemptions": dict(sorted(sum(map(Counter, exempt), Counter()).items())),
        "devices": sorted({one.run.device for one in pages if _ran(one)}),
        "problems": sum(len(one.problems) for one in pages),
        "pages": per_page,
        "labs": {path: dict(found) for path, found in labs.items()},
    }


def verified_json(pages: Sequence[Checked], about: Mapping[str, Any], labs: Labs) -> str:
    """Return the ledger of a whole site as JSON."""
    return json.dumps(account(pages, about, labs), indent=2, sort_keys=True)


def _ran(checked: Checked) -> bool:
    return bool(checked.run.blocks or checked.run.values)


def _versions(packages: Sequence[str]) -> dict[str, str]:
    found = {}
    for package in dict.fromkeys(name.partition(".")[0] for name in packages):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _digest(root: Path, file: str) -> str:
    """Return the first 16 hexadecimal digits of the SHA-256 of `path` or `package:path`."""
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
    """Return the current commit, with `-dirty` if the tree differs; "" outside a repository."""
    head = _git(root, "rev-parse", "--short=12", "HEAD")
    dirty = "-dirty" if head and _git(root, "status", "--porcelain") else ""
    return f"{head}{dirty}"


def _git(root: Path, *words: str) -> str:
    # Without optional locks, a build doesn't get in the way of a commit.
    command = ["git", "--no-optional-locks", "-C", str(root), *words]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout.strip()


def _now() -> str:
    """Return the time in UTC.

    `SOURCE_DATE_EPOCH` sets it, to reproduce a build exactly.
    """
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
