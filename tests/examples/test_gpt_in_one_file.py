"""The GPT in one file is the package's GPT, and learns a text."""

import runpy
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from glassformer import TransformerConfig, TransformerForCausalLM

FILE = Path(__file__).parents[2] / "examples/gpt_in_one_file.py"
SIZES = {"vocab_size": 23, "d_model": 12, "num_heads": 3, "num_layers": 2}
NAMES = {
    "decoder.embeddings.positions.table.": "positions.",
    "decoder.embeddings.": "",
    "decoder.": "",
}


@pytest.fixture(scope="module")
def one_file():
    return runpy.run_path(str(FILE))


def renamed(name: str) -> str:
    prefix = next(prefix for prefix in NAMES if name.startswith(prefix))
    return NAMES[prefix] + name.removeprefix(prefix)


def test_it_equals_the_package_with_the_same_weights(one_file):
    torch.manual_seed(0)
    plain = {"dropout": 0.0, "attn_dropout": 0.0, "num_token_types": 0, "embedding_norm": False}
    shape = {"activation": "gelu_tanh", "norm_eps": 1e-5, "norm_first": True, "pad_token_id": None}
    config = TransformerConfig(**SIZES, **plain, **shape, d_ff=48, max_positions=11)
    theirs = TransformerForCausalLM(config).double()
    for weight in theirs.parameters():
        torch.nn.init.normal_(weight, std=0.5)
    ours = one_file["GPT"](**SIZES, max_positions=11).double()
    weights = theirs.state_dict()
    del weights["lm_head.weight"]  # the table of tokens
    ours.load_state_dict({renamed(name): weight for name, weight in weights.items()})
    ids = torch.randint(23, (2, 7))
    torch.testing.assert_close(ours(ids), theirs(ids), rtol=0, atol=1e-12)


def test_it_is_one_page_that_needs_torch_alone():
    text = FILE.read_text()
    assert len(text.splitlines()) <= 150
    code = (
        f"import runpy, sys; runpy.run_path({str(FILE)!r}); assert 'glassformer' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_learns_a_text_and_writes_it(one_file):
    torch.manual_seed(0)
    text = "time flies like an arrow; fruit flies like a banana. " * 20
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(letter) for letter in text])
    model = one_file["GPT"](len(letters), d_model=32, num_heads=2, num_layers=2, max_positions=32)
    loss = one_file["train"](model, ids, steps=300, rate=5e-3)
    assert loss < 0.3 < torch.tensor(len(letters)).log()
    written = "".join(letters[token] for token in one_file["write"](model, ids[:12], 40).tolist())
    assert written.startswith("time flies like an arrow")


def test_the_command_trains_on_a_file(tmp_path):
    (tmp_path / "text.txt").write_text("the cat sat on the mat. " * 20, encoding="utf-8")
    command = [sys.executable, str(FILE), str(tmp_path / "text.txt"), "--steps", "10"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.startswith("step 1: loss ")
    assert len(run.stdout.split("\n", 10)[10]) == 401 + 1
