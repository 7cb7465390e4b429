"""A reader keeps the pieces of a model in a file of their own, until it equals a published one."""

import ast
import linecache
import re
import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn

from glassbook.exercises import checkers
from glassbook.exercises.own import equals_minilm, equals_smollm2

DOCS = Path(__file__).parents[3] / "docs"
FENCE = re.compile(r"^([ ]*)```python\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
MINE = "my_encoder.py"
EMBED = "def token_and_position(ids, tokens, positions):\n    return {}\n"
RIGHT = EMBED.format("tokens[ids] + positions[: ids.shape[1]]")


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def cell(code, name="token_and_position"):
    """A function of a notebook's cell, whose source Python finds as it does there."""
    file = f"<cell {hash(code)}>"
    linecache.cache[file] = (len(code), None, code.splitlines(keepends=True), file)
    names = {"torch": torch, "F": nn.functional, "nn": nn}
    [node] = [one for one in ast.parse(code).body if getattr(one, "name", "") == name]
    exec(compile(ast.Module([node], []), file, "exec"), names)
    return names[name]


def blocks(chapter, name):
    """The code of each block that defines a function in the chapter of a title."""
    texts = (page.read_text(encoding="utf-8") for page in DOCS.glob("*/*.md"))
    [text] = [text for text in texts if f"\ntitle: {chapter}\n" in text]
    codes = [textwrap.dedent(code) for _, code in FENCE.findall(text)]
    return [code for code in codes if f"def {name}(" in code]


def solve(file, model, *without):
    """Keep the solution of every piece but some."""
    for name, (checker, chapter) in model.pieces.items():
        stub, solution = blocks(chapter, name)
        assert stub.endswith(f'\n\n{checker}({name}).keep("{file}")\n')
        if name not in without:
            verdict = checkers()[checker](cell(solution, name)).keep(file)
            assert verdict.because[-1] == f"{name} is in {file} now."


def whole(change=str):
    [code] = blocks("The whole encoder", "my_encoder")
    return cell(change(code), "my_encoder")


def test_the_solutions_are_minilm():
    solve(MINE, equals_minilm)
    verdict = equals_minilm(MINE, whole()).keep(MINE)
    assert verdict, verdict
    assert float(re.search(r"at most (\S+)\.$", verdict.says)[1]) <= 1e-5
    names = [one.name for one in ast.parse(Path(MINE).read_text()).body if hasattr(one, "body")]
    assert names == [*equals_minilm.pieces, "my_encoder"]
    assert [one.name for one in Path().iterdir()] == [MINE]


@pytest.mark.language_model
def test_the_solutions_are_smollm2():
    solve("my_gpt.py", equals_smollm2)
    [code] = blocks("A real language model", "my_gpt")
    verdict = equals_smollm2("my_gpt.py", cell(code, "my_gpt"))
    assert verdict, verdict
    assert verdict.because == ("The text: 'The opposite of hot is cold.'",)


def test_a_missing_file_or_piece_is_named():
    assert equals_minilm(MINE, whole()).says.startswith("Nothing to check yet. There's no my_enc")
    solve(MINE, equals_minilm, "into_heads")
    verdict = equals_minilm(MINE, whole())
    assert verdict.says == "Not yet. into_heads is missing from my_encoder.py."
    assert verdict.because == ("It's an exercise in the chapter Many heads.",)


def test_a_piece_that_was_edited_is_named_and_another_whole_is_not_kept():
    solve(MINE, equals_minilm)
    right = Path(MINE).read_text()
    Path(MINE).write_text(right.replace(" / query.shape[-1] ** 0.5", ""))
    verdict = equals_minilm(MINE, whole())
    assert verdict.says == "Not yet. attention_from_memory in my_encoder.py is wrong."
    assert "aren't divided" in verdict.because[0]
    Path(MINE).write_text(right)
    other = equals_minilm(MINE, whole(lambda code: code.replace('.weight"][0]', '.weight"][1]')))
    assert re.match("Not yet. All pieces are right, but hidden states differ by", other.says)
    assert other.keep(MINE) is other
    assert Path(MINE).read_text() == right


def kept(answer):
    """The last line of a verdict that was kept."""
    return checkers()["check_embed"](answer).keep(MINE).because[-1]


def test_a_newer_version_replaces_the_older_and_nothing_else():
    Path(MINE).write_text(f"# mine\nimport torch\n\n\n@torch.no_grad()\n{RIGHT}\n\nx = 1\n")
    newer = RIGHT.replace("    return ", "    # newer\n    return ")
    assert kept(cell(newer)) == f"token_and_position is in {MINE} now."
    assert Path(MINE).read_text() == f"# mine\nimport torch\n\n\n{newer}\n\nx = 1\n"


def test_what_is_wrong_or_would_not_run_there_is_not_kept():
    kept(cell(EMBED.format("tokens[ids]")))
    told = "isn't in my_encoder.py. Keep what it calls first. .* name 'rows' is not defined$"
    other = cell(EMBED.format("rows(tokens, ids) + positions[: ids.shape[1]]"))
    other.__globals__["rows"] = lambda tokens, ids: tokens[ids]
    assert re.search(told, kept(other))
    assert "only a function that def gave a name" in kept(lambda *given: other(*given))
    typed = cell(RIGHT)
    linecache.cache.pop(typed.__code__.co_filename)
    assert "its source is nowhere" in kept(typed)
    assert not Path(MINE).exists()
    Path(MINE).write_text("def broken(:")
    assert "invalid syntax" in kept(cell(RIGHT))
