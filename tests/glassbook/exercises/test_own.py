"""A reader keeps the pieces of a model in a file of their own, until it equals a published one."""

import ast
import linecache
import re
import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn

from glassbook import exercises
from glassbook.exercises.own import equals_minilm, equals_smollm2

DOCS = Path(__file__).parents[3] / "docs"
CHECKERS = exercises.checkers()
FENCE = re.compile(r"^([ ]*)```python\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
MINE, GPT = "my_encoder.py", "my_gpt.py"
MODELS = {MINE: equals_minilm, GPT: equals_smollm2}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def cell(code, name):
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


def solve(file, *without):
    """Keep the solution of every piece but some."""
    for name, (checker, chapter) in MODELS[file].pieces.items():
        stub, solution = blocks(chapter, name)
        assert stub.endswith(f'\n\n{checker}({name}).keep("{file}")\n')
        if name not in without:
            verdict = CHECKERS[checker](cell(solution, name)).keep(file)
            assert verdict.because[-1] == f"{name} is in {file} now."


def mine():
    return cell(*blocks("The whole encoder", "my_encoder"), "my_encoder")


def test_the_solutions_are_minilm():
    solve(MINE)
    verdict = equals_minilm(MINE, mine()).keep(MINE)
    assert verdict, verdict
    assert float(re.search(r"at most (\S+)\.$", verdict.says)[1]) <= 1e-5
    names = [one.name for one in ast.parse(Path(MINE).read_text()).body if hasattr(one, "body")]
    assert names == [*equals_minilm.pieces, "my_encoder"]
    assert [one.name for one in Path().iterdir()] == [MINE]


@pytest.mark.language_model
def test_the_solutions_are_smollm2():
    solve(GPT)
    whole = cell(*blocks("A real language model", "my_gpt"), "my_gpt")
    verdict = equals_smollm2(GPT, whole)
    assert verdict, verdict
    assert verdict.because == ("The text: 'The opposite of hot is cold.'",)


def test_without_a_file_there_is_nothing_to_check():
    assert equals_minilm(MINE, mine()).says.startswith("Nothing to check yet. There's no my_enc")


def test_a_missing_piece_is_named():
    solve(MINE, "into_heads")
    verdict = equals_minilm(MINE, mine())
    assert verdict.says == "Not yet. into_heads is missing from my_encoder.py."
    assert verdict.because == ("It's an exercise in the chapter Many heads.",)


def test_a_piece_that_was_edited_is_named_and_so_is_another_whole():
    solve(MINE)
    right = Path(MINE).read_text()
    Path(MINE).write_text(right.replace(" / query.shape[-1] ** 0.5", ""))
    verdict = equals_minilm(MINE, mine())
    assert verdict.says == "Not yet. attention_from_memory in my_encoder.py is wrong."
    assert "aren't divided" in verdict.because[0]
    Path(MINE).write_text(right)
    [code] = blocks("The whole encoder", "my_encoder")
    other = equals_minilm(MINE, cell(code.replace('.weight"][0]', '.weight"][1]'), "my_encoder"))
    assert re.match("Not yet. All pieces are right, but hidden states differ by", other.says)
    other.keep(MINE)
    assert Path(MINE).read_text() == right


EMBED = "def token_and_position(ids, tokens, positions):\n    return {}\n"
RIGHT = EMBED.format("tokens[ids] + positions[: ids.shape[1]]")


def kept(answer):
    """The last line of a verdict that was kept."""
    return CHECKERS["check_embed"](answer).keep(MINE).because[-1]


def test_a_wrong_piece_is_not_kept():
    kept(cell(EMBED.format("tokens[ids]"), "token_and_position"))
    assert not Path(MINE).exists()


def test_a_newer_version_replaces_the_older_and_nothing_else():
    Path(MINE).write_text(f"# mine\nimport torch\n\n\n@torch.no_grad()\n{RIGHT}\n\nx = 1\n")
    newer = RIGHT.replace("    return ", "    # newer\n    return ")
    assert kept(cell(newer, "token_and_position")) == f"token_and_position is in {MINE} now."
    assert Path(MINE).read_text() == f"# mine\nimport torch\n\n\n{newer}\n\nx = 1\n"


def test_what_the_file_could_not_run_is_not_kept():
    def rows(ids, tokens):
        return tokens[ids]

    def calls_another(ids, tokens, positions):
        return rows(ids, tokens) + positions[: ids.shape[1]]

    told = (
        "calls_another isn't in my_encoder.py. Keep what it calls first. .* 'rows' is not defined"
    )
    assert re.match(told, kept(calls_another))
    assert "only a function that def gave a name" in kept(lambda *given: calls_another(*given))
    assert not Path(MINE).exists()
    Path(MINE).write_text("def broken(:")
    assert "invalid syntax" in kept(cell(RIGHT, "token_and_position"))
    typed = cell(RIGHT, "token_and_position")
    linecache.cache.pop(typed.__code__.co_filename)
    assert "its source is nowhere" in kept(typed)
