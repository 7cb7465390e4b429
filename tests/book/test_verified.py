"""The page that says what was verified agrees with `verified.json` and with the chapters' text."""

import json
import re
import socket
import sys
from collections import Counter
from html import unescape
from importlib.metadata import version
from pathlib import Path
from typing import Any

import jupytext
import pytest
import test_notebooks
from pages import CHAPTERS, ROOT

from glassformer.weights.checkpoints import DEFAULT_SHA256

KINDS = ("blocks", "doctests", "claims", "exempt")


@pytest.fixture(scope="module")
def ledger(site: Path) -> dict[str, Any]:
    return json.loads((site / "verified.json").read_text(encoding="utf-8"))


def table(site: Path, name: str) -> list[list[str]]:
    """The rows of a table of the page, its head left out."""
    html = (site / "reference/verified/index.html").read_text(encoding="utf-8")
    [_, after] = html.split(f'<div data-verified="{name}">')
    body = after.partition("<tbody>")[2].partition("</tbody>")[0]
    rows = [re.findall("<td>(.*?)</td>", row) for row in re.findall("<tr>(.*?)</tr>", body)]
    return [[unescape(re.sub("<[^>]+>", "", cell)) for cell in row] for row in rows]


def numbers(rows: list[list[str]]) -> dict[str, int]:
    return {name: int(number.replace(",", "")) for name, number in rows}


def indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def counted(text: str) -> dict[str, Any]:
    """A chapter's fences and claims, counted line by line, and the reasons of what is exempt."""
    prose, fences, ticks = [], [], ""
    for line in text.split("\n"):
        mark = re.match(r"[> ]*(`{3,}|~{3,})(.*)", line)
        if not ticks and mark:
            ticks = mark[1]
            fences.append((mark[2].strip(), []))
        elif ticks and line.strip("> ") == ticks:
            ticks = ""
        elif ticks:
            fences[-1][1].append(line)
        else:
            prose.append(line)
    said = re.sub("<!--.*?-->", "", "\n".join(prose), flags=re.DOTALL)
    said = re.sub(r"(`+)(?!`).+?(?<!`)\1(?!`)", "`code`", said)  # what quotes a claim is none
    python = [head for head, _ in fences if re.match(r"python\b", head)]
    prompts = [line for head, lines in fences if re.match(r"pycon\b", head) for line in lines]
    bound = [lines for head, lines in fences if head == "facts"]
    facts = sum(indent(line) == indent(lines[0]) for lines in bound for line in lines)
    reasons = Counter(re.findall(r'\{ \.literal reason="(\w+)" \}', said))
    reasons["not run"] = sum("exec=" in head for head in python)
    return {
        "blocks": sum("show=" not in head and "exec=" not in head for head in python),
        "doctests": sum(bool(re.match(r"[> ]*>>> ", line)) for line in prompts),
        "claims": len(re.findall(r"[\]`*_]\{ (?:equals|holds|value)\b", said)) + facts,
        "exempt": reasons.total(),
        "reasons": reasons,
        "pycon": sum(bool(re.match(r"pycon\b", head)) for head, _ in fences),
    }


def test_every_number_is_what_a_count_of_the_chapters_gives(ledger):
    files = sorted((ROOT / "docs").rglob("*.md"))
    chapters = {str(file.relative_to(ROOT)): counted(file.read_text()) for file in files}
    assert ledger["pages"].keys() == chapters.keys()
    for path, chapter in chapters.items():
        page = ledger["pages"][path]
        assert {name: page[name] for name in KINDS} == {name: chapter[name] for name in KINDS}, path
    totals = {name: sum(chapter[name] for chapter in chapters.values()) for name in KINDS}
    offered = len(test_notebooks.EXPORTED)
    run_by_tests = {"scripts": offered, "notebooks": offered}
    assert ledger["totals"] == totals | run_by_tests
    assert sorted(chapters) == sorted(CHAPTERS)  # each with its script
    reasons = sum((chapter["reasons"] for chapter in chapters.values()), Counter())
    assert ledger["exemptions"] == dict(reasons)
    assert totals["blocks"] > 300
    assert totals["claims"] > 800


def test_labs_stand_with_the_cells_that_ran_and_the_assertions_that_held(site, ledger):
    found = {}
    for lab in sorted((ROOT / "docs/labs").glob("*.py")):
        codes = [cell.source for cell in jupytext.read(lab).cells if cell.cell_type == "code"]
        asserted = sum(len(re.findall(r"^\s*assert\b", code, re.MULTILINE)) for code in codes)
        found[f"docs/labs/{lab.name}"] = {"cells": len(codes), "assertions": asserted}
    assert ledger["labs"] == found
    assert all(lab["assertions"] > 3 for lab in found.values())
    in_file = [[str(lab["assertions"]), str(lab["cells"])] for lab in found.values()]
    assert sorted(row[1:] for row in table(site, "labs")) == sorted(in_file)


def test_the_page_says_what_the_file_says(site, ledger):
    totals = {"pages": len(ledger["pages"]), **ledger["totals"]}
    assert numbers(table(site, "totals")) == totals
    assert numbers(table(site, "exemptions")) == ledger["exemptions"]
    rows = [tuple(map(int, row[1:])) for row in table(site, "pages")]
    in_file = [tuple(page[name] for name in KINDS) for page in ledger["pages"].values()]
    assert sorted(rows) == sorted(row for row in in_file if any(row))
    kept = [page["kept"] for page in ledger["pages"].values() if page["blocks"] or page["claims"]]
    said = dict(table(site, "circumstances"))
    assert said == {
        "device": ", ".join(ledger["devices"]),
        **ledger["versions"],
        **ledger["data"],
        **({"variables set": ", ".join(ledger["variables"])} if ledger["variables"] else {}),
        **({"commit": ledger["commit"]} if ledger["commit"] else {}),
        "built": ledger["built"],
        "pages kept from an earlier run": f"{sum(kept)} of {len(kept)}",
    }


def test_it_names_the_versions_that_are_installed_and_the_weights_that_were_published(ledger):
    packages = ("torch", "transformers", "safetensors")
    python = ".".join(map(str, sys.version_info[:3]))
    assert ledger["versions"] == {"python": python, **{name: version(name) for name in packages}}
    assert ledger["data"] == {"checkpoint": DEFAULT_SHA256[:16]}
    assert ledger["problems"] == 0


def test_nothing_tells_of_the_machine_that_built_it(site, ledger):
    html = (site / "reference/verified/index.html").read_text(encoding="utf-8")
    told = html.partition("<article")[2].partition("</article>")[0]
    told += (site / "verified.json").read_text(encoding="utf-8")
    for place in (ROOT, Path.home(), Path(sys.prefix), site):
        assert len(place.parts) == 1 or str(place) not in told
    host = re.escape(socket.gethostname())
    words = re.sub(r"<[^<>]*>", "", told)  # a class may be called as the machine is
    assert not re.search(rf"(?<![\w/-]){host}(?![\w/-])", words)
    assert ledger.keys() == {
        *("built", "commit", "data", "devices", "exemptions", "labs", "pages", "problems"),
        *("totals", "variables", "versions"),
    }
    assert re.fullmatch(r"([0-9a-f]{12}(-dirty)?)?", ledger["commit"])
    assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d UTC", ledger["built"])
    assert all(re.fullmatch(r"(cpu|cuda|mps)(:\d+)?", device) for device in ledger["devices"])
    assert all(re.fullmatch(r"[A-Z_]+", name) for name in ledger["variables"])
