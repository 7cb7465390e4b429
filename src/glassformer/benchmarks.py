"""Recorded benchmarks, read back as tables: what was compared with what, and on which machine.

A file in `bench/results` has a `machine`, and lists of rows. What a row says is told by its shape:
`median`, `low` and `high` are a ratio and its interval; whole numbers and words say what was
measured; other numbers are times or rates, which mean nothing on another machine.
"""

import ast
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from glassformer.views.view import View

BENCH = Path(__file__).parents[2] / "bench"
CODE = re.compile(r"`+([^`]+)`+")  # in what a script says of itself
MACHINE = ("processor", "cores", "threads", "torch")
OTHERS = {"drift", "drift-anew", "versions"}
"""Records that aren't times: mistakes that were noticed, and versions that passed."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows of one file that were measured on one machine, and on one device.

    Attributes:
        name: the file, and the list in it.
        about: what the script that wrote it says of itself.
        command: how to measure again.
        machine: what the numbers depend on: processor, cores, threads, versions.
        constant: what is the same in all rows.
        columns: the heads of the others.
        rows: a text for each column.
    """

    name: str
    about: str
    command: str
    machine: Mapping[str, str]
    constant: Mapping[str, str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def view(self) -> View:
        """Return the table as a page shows it, below what was measured and where."""
        machine = ", ".join(f"{name} {value}" for name, value in self.machine.items())
        constant = ", ".join(f"{name} {value}" for name, value in self.constant.items())
        lines = [self.about, f"Machine: {machine}."]
        lines += [f"In all rows: {constant}."] if constant else []
        lines.append(f"Again: `{self.command}`")
        heads = "".join(f'<th scope="col">{escape(column)}</th>' for column in self.columns)
        body = "".join(
            f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in self.rows
        )
        name = escape(self.name)
        told = [CODE.sub(r"<code>\1</code>", escape(line)) for line in lines]
        above = "".join(f"<p>{line}</p>" for line in told)
        table = f"<table><thead><tr>{heads}</tr></thead><tbody>{body}</tbody></table>"
        scrolls = f'<div style="overflow-x:auto" tabindex="0" role="region" aria-label="{name}">'
        title = f"<p><strong>{name}</strong></p>"
        html = f"<div data-search-exclude>{title}{above}{scrolls}{table}</div></div>"
        text = [self.name, *lines, *map(" | ".join, [self.columns, *self.rows])]
        return View(html, "\n".join(text))


def read_benchmarks(bench: Path = BENCH) -> list[Table]:
    """Read every file of results, in the order of their names.

    Raises:
        ValueError: a file doesn't say on which machine or with which versions it was measured, or
            it has no rows, or no script writes it.
    """
    paths = sorted((bench / "results").glob("*.json"))
    return [table for path in paths if path.stem not in OTHERS for table in read(path)]


def read(path: Path) -> list[Table]:
    """Read one file: a table for each list of rows, and for each device that the rows name.

    Raises:
        ValueError: as `read_benchmarks`.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    machine = found.get("machine", {})
    missing = [name for name in MACHINE if name not in machine]
    if missing:
        raise ValueError(f"{path.name} names no {', '.join(missing)} of its machine: {machine}")
    parts = {name: rows for name, rows in found.items() if _is_rows(rows)}
    if not parts:
        raise ValueError(f"{path.name} has no rows, only {', '.join(found)}")
    about, command = described(path)
    return [
        tabled(
            path.stem if name == "rows" else f"{path.stem}, {name}",
            about,
            command,
            {key: str(value) for key, value in {**machine, **device}.items()},
            chosen,
        )
        for name, rows in parts.items()
        for device, chosen in by_device(rows)
    ]


def by_device(rows: Sequence[Row]) -> Iterator[tuple[Row, list[Row]]]:
    """Take rows of different devices apart: no table mixes them."""
    for device in dict.fromkeys(row.get("device") for row in rows):
        chosen = [row for row in rows if row.get("device") == device]
        rest: list[Row] = [{k: v for k, v in row.items() if k != "device"} for row in chosen]
        yield ({} if device is None else {"device": device}), rest


def described(path: Path) -> tuple[str, str]:
    """Find the script that writes a file; return what it says of itself, and its command.

    Raises:
        ValueError: there is none.
    """
    for script in sorted(path.parents[1].glob("[a-z]*.py")):
        text = script.read_text(encoding="utf-8")
        if f'keep("{path.stem}"' in text or f"{path.stem}.json" in text:
            parts = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")
            about = [part for part in parts if not part.lstrip().startswith("python ")]
            return " ".join(" ".join(about).split()), f"python bench/{script.name} --json"
    raise ValueError(f"no script beside {path.parent.name} writes {path.name}")


def tabled(
    name: str, about: str, command: str, machine: Mapping[str, str], rows: Sequence[Row]
) -> Table:
    """Keep what a row says of a comparison; without any ratio, take times as shares of the first.

    All numbers of rows without ratios are of one kind, so that they can be compared.
    """
    flat = [flattened(row) for row in rows]
    compared = any(isinstance(value, _Ratio) for row in flat for value in row.values())
    times = [v for row in flat for v in row.values() if isinstance(v, float)]
    if not compared and times:
        flat = [
            {k: _Ratio(v / times[0]) if isinstance(v, float) else v for k, v in row.items()}
            for row in flat
        ]
    kept = [{k: cell for k, v in row.items() if (cell := _cell(v)) is not None} for row in flat]
    names = dict.fromkeys(key for row in kept for key in row)
    same = {key for key in names if len({row.get(key) for row in kept}) == 1 and len(kept) > 1}
    columns = [key for key in names if key not in same]
    return Table(
        name=name,
        about=about,
        command=command,
        machine=machine,
        constant={key: kept[0][key] for key in names if key in same},
        columns=columns,
        rows=[[row.get(column, "") for column in columns] for row in kept],
    )


@dataclass(frozen=True)
class _Ratio:
    """A ratio, and its interval if it has one."""

    median: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        interval = "" if self.low is None else f" ({self.low:.2f} to {self.high:.2f})"
        return f"{self.median:.2f}{interval}"


def flattened(row: Row) -> dict[str, Any]:
    """Join each ratio with the ends of its interval, and take inner tables apart.

    A time beside the most that is allowed becomes a share of it.
    """
    flat: dict[str, Any] = {}
    for key, value in row.items():
        if isinstance(value, Mapping) and {"median", "low", "high"} == set(value):
            flat[key] = _Ratio(**value)
        elif isinstance(value, Mapping):
            flat |= {f"{key}, {inner}": one for inner, one in value.items()}
        else:
            flat[key] = value
    for key in list(flat):
        low, high = ("low", "high") if key == "ratio" else (f"{key}_low", f"{key}_high")
        if low in flat and high in flat:
            flat[key] = _Ratio(flat[key], flat.pop(low), flat.pop(high))
    if {"ms", "most"} <= set(flat):
        flat["share of what is allowed"] = _Ratio(flat.pop("ms") / flat.pop("most"))
    return flat


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(r, Mapping) for r in value)


def _cell(value: Any) -> str | None:
    """Return what a table shows of a value; None of a time or a rate without a ratio."""
    if isinstance(value, list):
        parts = [_cell(one) for one in value]
        return None if None in parts else ", ".join(part for part in parts if part)
    if isinstance(value, float):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
