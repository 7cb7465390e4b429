"""The mistakes that the drift bench makes, small, of each kind, the same for the same seed; and
its journal, from which a run goes on."""

import ast
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from _journal import Journal, digest
from _mutations import Mutant, draw, page_edits, page_parses, parses, redrawn, source_edits

PAGE = """\
---
title: Page 7
---

# A page

It has [seven]{ equals="len(rows)" } rows, [31]{ equals="x.sum()" } in all, of shape
`[2, 3, 5]`{ equals="list(x.shape)" }; they are
[not equal]{ equals="word(a == b, 'equal', 'not equal')" }, and it is
[at most 11]{ holds="x.max() <= 11" }. Vaswani et al. (2017), [here](page-13.md), say $x^{17}$.

```python
from math import pi, tau

x = pi + 19
```

??? note

    ```pycon
    >>> import math as m
    >>> [m.floor(x), True]
    [22, True]
    ```
"""
MODULE = '''\
"""A module with 5 in its docstring, and ü."""

import math


def attend(x: "2 3", mask: int | None, layers=3, causal=False):
    """√d: "ü" stands before what is changed."""
    scores = x @ x.mT / math.sqrt(x.shape[-1])  # 7 + 7
    scores = scores.masked_fill(~mask, -math.inf).softmax(dim=-1)
    x = x + layer(scores, attn_mask=mask)
    if layers > 1 and not causal:
        raise ValueError(f"layers ({layers + 1})")
    return x
'''


def of_page(count: int = 1000, seed: int = 0) -> list[Mutant]:
    return draw({"page.md": PAGE}, page_edits, page_parses, count, seed)


def of_module(count: int = 1000, seed: int = 0) -> list[Mutant]:
    return draw({"module.py": MODULE}, source_edits, parses, count, seed)


def changes(mutants: list[Mutant], kind: str) -> dict[str, str]:
    return {one.original: one.mutated for one in mutants if one.kind == kind}


def differing(mutant: Mutant, text: str) -> list[tuple[str, str]]:
    lines, changed = text.split("\n"), mutant.text.split("\n")
    assert len(lines) == len(changed)
    return [(a, b) for a, b in zip(lines, changed, strict=True) if a != b]


@pytest.mark.parametrize(("mutants", "text"), [(of_page, PAGE), (of_module, MODULE)])
def test_a_mutant_differs_in_the_one_line_that_it_names(mutants, text):
    for one in mutants():
        assert differing(one, text) != []
        [(before, after)] = differing(one, text)
        assert text.split("\n")[one.line - 1] == before
        assert (one.original, one.mutated) == (" ".join(before.split()), " ".join(after.split()))


@pytest.mark.parametrize("mutants", [of_page, of_module])
def test_the_same_seed_gives_the_same_mutants_and_another_others(mutants):
    assert mutants(9, seed=3) == mutants(9, seed=3)
    assert mutants(9, seed=3) != mutants(9, seed=4)


def test_each_kind_comes_in_turn():
    kinds = {"digit", "shape", "output", "word", "code", "import"}
    assert {one.kind for one in of_page(len(kinds))} == kinds
    kinds = {"operator", "constant", "axis", "residual", "mask"}
    assert {one.kind for one in of_module(len(kinds))} == kinds


def test_a_page_says_something_else_where_it_states_a_fact():
    changed = "\n".join(one.mutated for one in of_page())
    for said in ("[eight]{ equals", "[equal]{ equals", "[at least 11]{ holds"):
        assert said in changed
    [printed] = [one for one in of_page() if one.original == "[22, True]"]
    assert printed.mutated == "[22, False]" or printed.mutated.endswith(", True]")
    for one in of_page():
        assert all(kept in one.text for kept in ('"len(rows)"', '"x.sum()"', '"x.max() <= 11"'))


def test_what_states_nothing_of_the_code_is_left_alone():
    for one in of_page():
        for kept in ("Page 7", "(2017)", "page-13.md", "x^{17}"):
            assert kept in one.text


def test_shapes_get_another_axis():
    [(before, after)] = changes(of_page(), "shape").items()
    assert "`[2, 3, 5]`" in before
    assert "`[2, 3, 5]`" not in after


def test_imports_miss_their_name():
    for one in of_page():
        if one.kind == "import":
            assert one.mutated != one.original
            assert ast.parse(one.mutated.removeprefix(">>> "))


def test_modules_compute_something_else():
    changed = [one.mutated for one in of_module()]
    for line in (
        "scores = x @ x.mT * math.sqrt(x.shape[-1]) # 7 + 7",
        "scores = x @ x.mT / math.sqrt(x.shape[-2]) # 7 + 7",
        "scores = x @ x / math.sqrt(x.shape[-1]) # 7 + 7",
        "scores = scores.masked_fill(mask, -math.inf).softmax(dim=-1)",
        "scores = scores.masked_fill(~mask, 0.0).softmax(dim=-1)",
        "scores = scores.softmax(dim=-1)",
        "scores = scores.masked_fill(~mask, -math.inf).softmax(dim=-2)",
        "x = layer(scores, attn_mask=mask)",
        "x = x - layer(scores, attn_mask=mask)",
        "x = x + layer(scores, attn_mask=None)",
        "if layers > 1 or not causal:",
        "if layers > 1 and (causal):",
    ):
        assert line in changed


def test_a_module_keeps_its_annotations_and_messages():
    for one in of_module():
        ast.parse(one.text)
        for kept in ("with 5", "int | None", '"2 3"', "# 7 + 7", "{layers + 1}"):
            assert kept in one.text


def test_a_text_without_places_has_no_mutants():
    assert draw({"page.md": "Words alone."}, page_edits, page_parses, 5, 0) == []


def test_mutants_come_from_every_file():
    texts = {f"{name}.md": PAGE for name in "abc"}
    drawn = draw(texts, page_edits, page_parses, 18, 0)
    assert sorted({(one.path, one.kind) for one in drawn}) == sorted(
        (path, kind)
        for path in texts
        for kind in ("code", "digit", "import", "output", "shape", "word")
    )


@pytest.mark.parametrize(("mutants", "text"), [(of_page, PAGE), (of_module, MODULE)])
def test_a_mutant_is_found_again_in_a_text_that_has_grown(mutants, text):
    for one in mutants():
        row = {name: asdict(one)[name] for name in ("path", "kind", "line", "before", "after")}
        assert redrawn(row, text) == one
        again = redrawn(row, f"\n# More\n{text}\n{one.before}\n")
        assert again.text == f"\n# More\n{one.text}\n{one.before}\n"
        assert again.line == one.line + 2
        assert redrawn(row, text.replace(one.before, "")) is None


def test_a_journal_is_read_by_the_next_run_and_by_one_beside_it(tmp_path):
    one, beside = Journal(tmp_path), Journal(tmp_path)
    one.add("a", [{"book": "line 7"}, {}])
    assert beside.get("a") == [{"book": "line 7"}, {}]
    one.add("b", 2)
    assert [beside.get(key) for key in "abc"] == [[{"book": "line 7"}, {}], 2, None]
    with (tmp_path / "judged.jsonl").open("a") as cut_off:
        cut_off.write('{"c": 3')
    after = Journal(tmp_path)
    after.add("d", 4)
    assert [after.get(key) for key in "bcd"] == [2, None, 4]


IN_ANOTHER = """
import sys
from pathlib import Path
from _journal import Journal
journal = Journal(Path(sys.argv[1]))
with journal.alone("x", wait=False) as x, journal.alone("y", wait=False) as y:
    print(x, y, journal.place().name)
"""


def test_what_one_process_works_on_no_other_does(tmp_path):
    journal = Journal(tmp_path)

    def another() -> str:
        command = [sys.executable, "-c", IN_ANOTHER, str(tmp_path)]
        bench = Path(__file__).parents[2] / "bench"
        return subprocess.run(command, capture_output=True, text=True, cwd=bench).stdout.strip()

    with journal.alone("x", wait=True) as mine:
        assert mine
        assert another() == "False True 0"
    assert journal.place().name == "0"
    assert another() == "True True 1"


def test_a_digest_names_what_a_tree_holds(tmp_path):
    names = ("a.md", "b/c.py", ".cache/d", "result.json")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("7")
    before = digest(tmp_path, without={"result.json"})
    for name in names:
        (tmp_path / name).write_text("8")
        assert (digest(tmp_path, without={"result.json"}) != before) == (name in names[:2])
        (tmp_path / name).write_text("7")
