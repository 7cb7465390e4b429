"""Fill in tables of what a whole book has verified, at the placeholders on its pages.

A placeholder is an empty element, `<div data-verified="totals"></div>`, on any page. The tables
depend on all pages, so they are filled in after all pages have run and have been converted.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from html import escape
from typing import Any

from proofbook.rendering.ledger import KINDS, rows_of

PLACE = re.compile(r'<div data-verified="([^"]*)">.*?</div>', re.DOTALL)
NOTHING = "<p>The book does not pass, so nothing is listed here.</p>"
RUNNING = "<p>running… This table is made when all pages have run.</p>"

Account = Mapping[str, Any]
Links = Mapping[str, tuple[str, str]]


def has_places(html: str) -> bool:
    """Return whether a page has a placeholder for a table."""
    return PLACE.search(html) is not None


def filled(html: str, ledger: Account | None, links: Links) -> str:
    """Replace each placeholder on a page with a table, or a note if the book doesn't pass.

    Args:
        html: The page.
        ledger: What was verified, as `ledger.account` returns it; `None` while pages run.
        links: Each page's title and its address relative to this one, by path, in reading order.

    Raises:
        ValueError: A placeholder names an unknown table.
    """

    def table(place: re.Match[str]) -> str:
        if place[1] not in PARTS:
            raise ValueError(f"data-verified={place[1]!r} is unknown; known: {', '.join(PARTS)}")
        if ledger is None:
            inner = RUNNING
        else:
            inner = NOTHING if ledger["problems"] else PARTS[place[1]](ledger, links)
        return f'<div data-verified="{place[1]}">{inner}</div>'

    return PLACE.sub(table, html)


def _totals(ledger: Account, links: Links) -> str:
    counted = {"pages": len(ledger["pages"]), **ledger["totals"]}
    return _table(("item", "count"), ((name, _number(n)) for name, n in counted.items()))


def _exemptions(ledger: Account, links: Links) -> str:
    reasons = ledger["exemptions"]
    return _table(("reason", "count"), ((name, _number(n)) for name, n in reasons.items()))


def _circumstances(ledger: Account, links: Links) -> str:
    kept = [page["kept"] for page in ledger["pages"].values() if page["device"]]
    rows = {
        **rows_of(ledger, ledger["devices"]),
        "pages kept from an earlier run": f"{sum(kept)} of {len(kept)}",
    }
    given = ((escape(name), f"<code>{escape(text)}</code>") for name, text in rows.items() if text)
    return _table(("item", "value"), given)


def _pages(ledger: Account, links: Links) -> str:
    columns = (*KINDS, "exempt")
    found = {path: [page[name] for name in columns] for path, page in ledger["pages"].items()}
    known = {path: numbers for path, numbers in found.items() if any(numbers)}
    paths = [*(path for path in links if path in known), *sorted(known.keys() - links.keys())]
    rows = ((_link(path, links), *map(_number, known[path])) for path in paths)
    return _table(("page", *columns), rows)


def _labs(ledger: Account, links: Links) -> str:
    labs = ledger["labs"]
    kinds = sorted({kind for found in labs.values() for kind in found})
    rows = (
        (_link(path, links), *(_number(found.get(kind, 0)) for kind in kinds))
        for path, found in labs.items()
    )
    return _table(("page", *kinds), rows)


PARTS: dict[str, Callable[[Account, Links], str]] = {
    "totals": _totals,
    "exemptions": _exemptions,
    "circumstances": _circumstances,
    "pages": _pages,
    "labs": _labs,
}


def _link(path: str, links: Links) -> str:
    if path not in links:
        return escape(path)
    title, address = links[path]
    return f'<a href="{escape(address)}">{escape(title)}</a>'


def _number(number: int) -> str:
    return f"{number:,}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table whose cells are already HTML."""
    heads = "".join(f"<th>{name}</th>" for name in head)
    body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
    return f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
