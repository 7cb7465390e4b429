"""Tables of recorded benchmarks: what was compared, and on which machine.

A file in `bench/results` has a `machine` and lists of rows. What a value means depends on its form:
`median`, `low`, and `high` are a ratio and its interval; whole numbers and words describe what was
measured; other numbers are times or rates, which mean nothing on another machine. If a table has
goals, its last column says which rows meet them.
"""

import ast
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from glassformer.views.view import View

BENCH = Path(__file__).parents[3] / "bench"
CODE = re.compile(r"`+([^`]+)`+")  # in a script's description
ONLY = re.compile(r"In `([^`]+)`, ")  # begins a paragraph about one of several tables
NO_INTERVAL = "–"  # for a single measurement, or for a program compared with itself
MACHINE = ("processor", "cores", "threads", "torch")
SHARE = "share of the goal"  # a time divided by the maximum that the goal allows
OTHERS = {"drift", "drift-anew", "seeds", "versions"}
"""Files without times: planted mistakes that were noticed, trainings, versions that passed."""

Row = Mapping[str, Any]


@dataclass(frozen=True)
class Table:
    """Rows of one file that were measured on one machine and one device.

    Attributes:
        name: The file and the list in it.
        about: The description in the docstring of the script that wrote it.
        command: The command that repeats the measurement.
        machine: What the numbers depend on: processor, cores, threads, versions.
        constant: The values that are the same in all rows.
        missed: The number of rows that miss their goal, and the number that have one.
        columns: The headers of the other columns.
        rows: The cells of each row as text, one for each column.
    """

    name: str
    about: str
    command: str
    machine: Mapping[str, str]
    constant: Mapping[str, str]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    missed: tuple[int, int] = (0, 0)

    def view(self) -> View:
        """Return the table for a page, below a description of the measurement and the machine."""
        machine = ", ".join(f"{name} {value}" for name, value in self.machine.items())
        constant = ", ".join(f"{name} {value}" for name, value in self.constant.items())
        lines = [self.about, f"Machine: {machine}."]
        if self.missed[1]:
            lines.insert(1, "Rows that miss the goal: {} of {}.".format(*self.missed))
        lines += [f"In all rows: {constant}."] if constant else []
        lines.append(f"To measure again: `{self.command}`")
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
    """Read every file of results, in alphabetical order.

    Raises:
        ValueError: A file doesn't name its machine or its versions, has no rows, or isn't written
            by any script.
    """
    paths = sorted((bench / "results").glob("*.json"))
    return [table for path in paths if path.stem not in OTHERS for table in read(path)]


def read(path: Path) -> list[Table]:
    """Read one file: a table for each list of rows, and for each device that the rows name.

    Raises:
        ValueError: As `read_benchmarks`.
    """
    found = json.loads(path.read_text(encoding="utf-8"))
    machine = found.get("machine", {})
    missing = [name for name in MACHINE if name not in machine]
    if missing:
        raise ValueError(f"{path.name} doesn't give its machine's {', '.join(missing)}: {machine}")
    parts = {name: rows for name, rows in found.items() if _is_rows(rows)}
    if not parts:
        raise ValueError(f"{path.name} has no rows, only {', '.join(found)}")
    names = {name: path.stem if name == "rows" else f"{path.stem}, {name}" for name in parts}
    return [
        tabled(
            names[name],
            *described(path, names[name]),
            {key: str(value) for key, value in {**machine, **device}.items()},
            chosen,
        )
        for name, rows in parts.items()
        for device, chosen in by_device(rows)
    ]


def by_device(rows: Sequence[Row]) -> Iterator[tuple[Row, list[Row]]]:
    """Separate the rows by device: no table mixes devices."""
    for device in dict.fromkeys(row.get("device") for row in rows):
        chosen = [row for row in rows if row.get("device") == device]
        rest: list[Row] = [{k: v for k, v in row.items() if k != "device"} for row in chosen]
        yield ({} if device is None else {"device": device}), rest


def described(path: Path, table: str) -> tuple[str, str]:
    """Find the script that writes a file; return its description of a table, and its command.

    A paragraph that begins with "In `NAME`, " is about the table of that name.

    Raises:
        ValueError: There is no such script.
    """
    for script in sorted(path.parents[1].glob("[a-z]*.py")):
        text = script.read_text(encoding="utf-8")
        if f'keep("{path.stem}"' in text or f"{path.stem}.json" in text:
            parts = (ast.get_docstring(ast.parse(text)) or "").split("\n\n")
            about = [
                part
                for part in parts
                if not part.lstrip().startswith("python ")
                and ((one := ONLY.match(part)) is None or one[1] == table)
            ]
            return " ".join(" ".join(about).split()), f"python bench/{script.name} --json"
    raise ValueError(f"no script beside {path.parent.name} writes {path.name}")


def tabled(
    name: str, about: str, command: str, machine: Mapping[str, str], rows: Sequence[Row]
) -> Table:
    """Make a table of each row's description and ratios.

    If no row has a ratio, all times are divided by the first time: they measure the same kind of
    thing, so they can be compared.
    """
    flat = [flattened(row) for row in rows]
    compared = any(isinstance(value, _Ratio) for row in flat for value in row.values())
    times = [v for row in flat for v in row.values() if isinstance(v, float)]
    if not compared and times:
        flat = [
            {k: _Ratio(v / times[0]) if isinstance(v, float) else v for k, v in row.items()}
            for row in flat
        ]
    reached = [GOALS[name](row) if name in GOALS else None for row in flat]
    for row, good in zip(flat, reached, strict=True):
        row |= {} if good is None else {"goal": "reached" if good else "missed"}
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
        missed=(reached.count(False), len(reached) - reached.count(None)),
    )


@dataclass(frozen=True)
class _Ratio:
    """A ratio, and its interval if it has one."""

    median: float
    low: float | None = None
    high: float | None = None

    def __str__(self) -> str:
        if self.low is None:
            return f"{self.median:.2f}"
        if self.low == self.high:
            return f"{self.median:.2f} ({NO_INTERVAL})"
        return f"{self.median:.2f} ({self.low:.2f} to {self.high:.2f})"

    def shown(self, end: str = "median") -> float:
        """Return the median or an end of the interval, rounded as a table shows it."""
        return round(getattr(self, end), 2)


GOALS: Mapping[str, Callable[[Row], bool | None]] = {
    "encoder": lambda row: all(row[peer].shown("low") <= 1 for peer in ("transformers", "torch")),
    "generation": lambda row: row["ratio"].shown() >= 1.2,
    "gpu, encoder": lambda row: (
        row[row["fastest"]].shown("low") <= 1
        and (row["batch"] < 64 or _percent(row["of_the_matrix_rate"]) >= 55)
    ),
    "gpu, generation": lambda row: _percent(row["of_the_bound"]) >= 70,
    "language_model": lambda row: row["ratio"].shown() >= (1.0 if row["new"] == 1 else 1.3),
    "packed": lambda row: (
        row["ratio"].shown() >= {8: 1.6, 4: 1.8}[row["bits"]]
        if row["bits"] in (8, 4) and row["prompt"] == 32
        else None
    ),
    "training": lambda row: all(row[peer].shown("high") >= 1 for peer in ("marian", "torch")),
    "views": lambda row: row[SHARE].shown() <= 1,
}
"""For each table with goals: whether a row reaches its goal, or None if it doesn't have one."""


def _percent(text: str) -> int:
    return int(text.removesuffix("%"))


def flattened(row: Row) -> dict[str, Any]:
    """Join each ratio with the ends of its interval, and flatten inner tables.

    A time with a maximum becomes a share of the maximum.
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
        flat[SHARE] = _Ratio(flat.pop("ms") / flat.pop("most"))
    return flat


def _is_rows(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(r, Mapping) for r in value)


def _cell(value: Any) -> str | None:
    """Return a value as the text of a table's cell, or None for a time or rate without a ratio."""
    if isinstance(value, list):
        parts = [_cell(one) for one in value]
        return None if None in parts else ", ".join(part for part in parts if part)
    if isinstance(value, float):
        return None
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)
