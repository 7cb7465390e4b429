"""Recorded benchmarks: which files are refused, and what a table shows of a row."""

import json
import re

import pytest

from glassbook.bench.benchmarks import BENCH, GOALS, OTHERS, read, read_benchmarks

MACHINE = {"processor": "abacus", "cores": 7, "threads": 3, "torch": "2.0"}
SCRIPT = '''"""Times beads against pebbles.

Smaller is better.

In `pebbles`, bigger is better.

    python bench/beads.py [--json]
"""

keep("beads", rows)
'''


@pytest.fixture
def write(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "beads.py").write_text(SCRIPT)

    def write(name="beads", **content):
        path = tmp_path / "results" / f"{name}.json"
        path.write_text(json.dumps(content))
        return path

    return write


def test_a_file_without_its_machine_rows_or_script_is_refused(write, subtests):
    full, lacking = {"machine": MACHINE, "rows": [{"n": 3}]}, {}
    for name in MACHINE:
        machine = {key: value for key, value in MACHINE.items() if key != name}
        lacking[f"beads.json doesn't give its machine's {name}: "] = full | {"machine": machine}
    every = "doesn't give its machine's processor, cores, threads, torch"
    lacking[every] = {"rows": full["rows"]}
    lacking["beads.json has no rows, only machine, rows"] = full | {"rows": []}
    lacking["no script beside results writes pebbles.json"] = full | {"name": "pebbles"}
    for message, content in lacking.items():
        with subtests.test(message), pytest.raises(ValueError, match=re.escape(message)):
            read(write(**content))


def test_ratios_are_joined_with_their_intervals_and_times_are_left_out(write):
    inner = {"median": 1.254, "low": 1.0, "high": 1.5}
    row = {"n": 1303, "speed": 17.5, "ratio": 0.5, "low": 0.25, "high": 0.75, "pebbles": inner}
    row |= {"read": 2.0, "read_low": 1.5, "read_high": 3.0, "fits": True, "size": [2, 3]}
    (table,) = read(write(machine=MACHINE, rows=[row, {**row, "n": 5, "fits": False}]))
    assert table.columns == ["n", "fits"]
    assert table.rows == [["1,303", "yes"], ["5", "no"]]
    assert table.constant == {
        "ratio": "0.50 (0.25 to 0.75)",
        "pebbles": "1.25 (1.00 to 1.50)",
        "read": "2.00 (1.50 to 3.00)",
        "size": "2, 3",
    }
    assert "17.5" not in table.view().text


def test_an_interval_without_a_width_is_a_dash(write):
    rows = [
        {"n": 2, "ratio": 1.5, "low": 1.5, "high": 1.5},
        {"n": 3, "ratio": 2.0, "low": 1.0, "high": 2.0},
    ]
    (table,) = read(write(machine=MACHINE, rows=rows))
    assert table.rows == [["2", "1.50 (–)"], ["3", "2.00 (1.00 to 2.00)"]]


def test_rows_that_miss_their_goal_are_counted():
    tables = {table.name: table for table in read_benchmarks()}
    assert tables["generation_by_length"].missed == (0, 0)
    for name, (missed, goals) in ((name, tables[name].missed) for name in GOALS):
        table = tables[name]
        view = table.view()
        assert f"Rows that miss the goal: {missed} of {goals}." in view.text
        assert 0 <= missed <= goals <= len(table.rows)
        if "goal" in table.columns:
            told = [row[table.columns.index("goal")] for row in table.rows]
            assert (told.count("missed"), len(told) - told.count("")) == (missed, goals)
        else:
            assert (missed > 0) == (table.constant["goal"] == "missed")


def test_times_without_ratios_become_shares_of_the_first(write):
    rows = [{"n": 2, "one": 4.0, "other": 8.0}, {"n": 3, "one": 3.0, "other": 2.0}]
    (table,) = read(write(machine=MACHINE, rows=rows))
    assert table.rows == [["2", "1.00", "2.00"], ["3", "0.75", "0.50"]]


def test_a_time_beside_its_limit_becomes_a_share(write):
    rows = [{"n": 2, "ms": 50, "most": 200}, {"n": 3, "ms": 30, "most": 100}]
    (table,) = read(write(machine=MACHINE, rows=rows))
    assert table.columns == ["n", "share of the goal"]
    assert table.rows == [["2", "0.25"], ["3", "0.30"]]


def test_devices_are_kept_apart(write):
    rows = [{"n": 2, "device": "cpu"}, {"n": 3, "device": "gpu"}, {"n": 5, "device": "cpu"}]
    cpu, gpu = read(write(machine=MACHINE, rows=rows))
    assert cpu.machine["device"] == "cpu"
    assert cpu.rows == [["2"], ["5"]]
    assert gpu.machine["device"] == "gpu"
    assert gpu.constant == {}
    assert gpu.rows == [["3"]]


def test_other_lists_of_a_file_are_tables_too(write):
    tables = read(
        write(machine=MACHINE, rows=[{"n": 2}], memory=[{"n": 3}, {"n": 7}], roof={"a": 1})
    )
    assert [table.name for table in tables] == ["beads", "beads, memory"]


def test_a_view_says_what_where_and_how(write):
    (table,) = read(write(machine=MACHINE, rows=[{"n<m": 2, "x": 3}, {"n<m": 5, "x": 3}]))
    assert table.about == "Times beads against pebbles. Smaller is better."
    assert table.command == "python bench/beads.py --json"
    view = table.view()
    for part in (table.about, "processor abacus, cores 7, threads 3, torch 2.0", "x 3", "beads.py"):
        assert part in view.text
        assert part in view.html
    assert '<th scope="col">n&lt;m</th>' in view.html
    assert "<td>5</td>" in view.html
    assert "n<m\n2\n5" in view.text


def test_every_result_of_the_book_is_shown():
    names = {table.name.partition(",")[0] for table in read_benchmarks()}
    assert names | OTHERS == {path.stem for path in (BENCH / "results").glob("*.json")}
    assert names.isdisjoint(OTHERS)
