"""The benchmark for a GPU: its step of fixed shapes, and that all its parts run without one."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import transformers

from glassformer import from_hf

BENCH = Path(__file__).parents[3] / "bench"
BATCH, PROMPT, NEW = 3, 7, 5


@pytest.fixture
def tools(monkeypatch):
    monkeypatch.syspath_prepend(BENCH)
    import _fixed_step

    return _fixed_step


@pytest.fixture
def theirs():
    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=101,
        hidden_size=36,
        intermediate_size=44,
        num_hidden_layers=3,
        num_attention_heads=6,
        num_key_value_heads=2,
        initializer_range=0.5,  # so that the best tokens differ
    )
    return transformers.LlamaForCausalLM(config).eval()


def prompts(seed):
    return torch.randint(0, 101, (BATCH, PROMPT), generator=torch.Generator().manual_seed(seed))


def expected(theirs, ids):
    given = {"attention_mask": torch.ones_like(ids), "max_new_tokens": NEW, "do_sample": False}
    return theirs.generate(ids, **given, eos_token_id=None, pad_token_id=0)[:, PROMPT:]


def test_a_step_of_fixed_shapes_writes_what_transformers_writes(tools, theirs):
    step = tools.FixedStep(from_hf(theirs).eval(), BATCH, PROMPT + NEW).eval()
    write = tools.writer(step, step)
    places = [room.buffer.data_ptr() for room in step.rooms]
    for seed in (2, 3):  # the second prompts are read into the same memory
        ids = prompts(seed)
        wanted = expected(theirs, ids)
        assert len(wanted.unique()) > NEW
        assert torch.equal(write(ids, NEW), wanted)
    assert [room.buffer.data_ptr() for room in step.rooms] == places


def test_places_not_yet_written_are_hidden(tools, theirs):
    step = tools.FixedStep(from_hf(theirs).eval(), BATCH, PROMPT + NEW + 2).eval()
    for room in step.rooms:
        room.buffer.fill_(1e4)
    ids = prompts(2)
    assert torch.equal(tools.writer(step, step)(ids, NEW), expected(theirs, ids))


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_graph_of_the_step_writes_the_same(tools, theirs):
    ids = prompts(2)
    step = tools.FixedStep(from_hf(theirs).eval().cuda(), BATCH, PROMPT + NEW).eval()
    write = tools.writer(step, tools.captured(step, step))
    assert torch.equal(write(ids.cuda(), NEW).cpu(), expected(theirs, ids))


def said(*options):
    command = [sys.executable, str(BENCH / "gpu.py"), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout.splitlines()


@pytest.mark.nightly
def test_every_part_runs_on_the_processor():
    """There, the models are traced for the compiler but not compiled."""
    rows = [line.partition(" {") for line in said("--device", "cpu", "--turns", "2")[2:]]
    told = [(name, json.loads("{" + rest)) for name, _, rest in rows]
    assert [name for name, _ in told] == [
        *["encoder"] * 2,
        "generation",
        *["attention"] * 6,
        *["number types"] * 3,
    ]
    assert [row["type"] for name, row in told if name == "number types"] == [
        "float32",
        "TF32",
        "bfloat16",
    ]
    # The same processor, so only bfloat16 rounds otherwise.
    assert [row["within_the_claims"] for name, row in told[-3:]] == [True, True, False]


@pytest.mark.nightly
@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a GPU, so it would be measured")
def test_without_a_gpu_nothing_is_measured():
    assert said() == ["torch finds no CUDA device here, so nothing is measured"]
