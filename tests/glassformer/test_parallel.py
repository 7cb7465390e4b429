"""Each way to split a training step, on 2 and 4 processes, against the same step in one."""

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from parallel_worker import CONFIG, STEPS, batch, build, optimizer_of
from torchrun import environment, torchrun

from glassformer.heads import TransformerForCausalLM
from glassformer.parallel import Stage, joined, own_rows, tensor_parallel
from glassformer.parallel_training import SCHEMES
from glassformer.sharded_checkpoints import load
from glassformer.traffic import pretended

WORKER = Path(__file__).with_name("parallel_worker.py")
EXACT = {"rtol": 1e-9, "atol": 1e-11}  # float64


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The folder that 2 processes wrote into, and then 4, which also resumed what the 2 had."""
    folder = tmp_path_factory.mktemp("runs")
    for size in (2, 4):
        torchrun(size, WORKER, "equal", folder)
    return folder


def steps(model, optimizer, numbers):
    """Train plainly, with torch's own loss; losses, and the first gradient by name."""
    losses, first = [], {}
    for step in numbers:
        ids = batch(step)
        logits = model(ids[:, :-1])
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        first = first or {name: p.grad.clone() for name, p in model.named_parameters()}
        optimizer.step()
        losses.append(loss.item())
    return losses, first


@pytest.fixture(scope="module")
def plain():
    model = build()
    return steps(model, optimizer_of(model), range(2 * STEPS))


@pytest.mark.slow
@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_losses_and_gradients_are_those_of_one_process(runs, plain, scheme, size):
    losses, wanted = plain
    seen = set()
    for rank in range(size):
        found, gradients = torch.load(runs / f"{scheme}-{size}-{rank}.pt")
        torch.testing.assert_close(found, losses[:STEPS], **EXACT)
        for name, gradient in gradients.items():
            torch.testing.assert_close(gradient, wanted[name], **EXACT)
        seen |= gradients.keys()
        assert (gradients.keys() == wanted.keys()) == (scheme != "pipeline")
    assert seen == wanted.keys()


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_four_processes_go_on_where_two_with_another_scheme_stopped(runs, plain, scheme):
    for rank in range(4):
        found = torch.load(runs / f"{scheme}-resumed-{rank}.pt")
        torch.testing.assert_close(found, plain[0][STEPS:], **EXACT)


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_one_process_goes_on_where_four_stopped(runs, plain, scheme):
    model = build()
    torch.nn.init.zeros_(model.lm_head.weight)
    optimizer = optimizer_of(model)
    load(runs / f"{scheme}-4", STEPS, model, optimizer)
    found, _ = steps(model, optimizer, range(STEPS, 2 * STEPS))
    torch.testing.assert_close(found, plain[0][STEPS:], **EXACT)


def test_a_process_that_nobody_joins_gives_up_and_says_so():
    lonely = environment(RANK="0", WORLD_SIZE="2", MASTER_ADDR="localhost", MASTER_PORT="0")
    done = subprocess.run(
        [sys.executable, WORKER, "alone", "."],
        capture_output=True,
        text=True,
        timeout=100,
        env=lonely,
    )
    assert done.returncode == 1
    assert "TimeoutError: rank 0 of 2 waited 2 s for a process that never joined" in done.stderr


def test_without_torchrun_nobody_is_joined(monkeypatch):
    for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MASTER_PORT", "7")
    with (
        pytest.raises(ValueError, match=r"^RANK, WORLD_SIZE, MASTER_ADDR must be set: .* torchrun"),
        joined(),
    ):
        pass


def test_rows_are_dealt_like_cards():
    rows = torch.arange(15 * 7).view(15, 7)
    shares = [own_rows(rows, rank, 5) for rank in range(5)]
    assert [share[:, 0].tolist() for share in shares][1] == [7, 42, 77]
    assert sorted(torch.cat(shares)[:, 0].tolist()) == rows[:, 0].tolist()
    with pytest.raises(
        ValueError, match=r"batch \(15\) must be a multiple of the number of processes \(4\)"
    ):
        own_rows(rows, 0, 4)


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_stages_one_after_another_are_the_model(count):
    model = build()
    ids = batch(0)
    hidden = ids
    for index in range(count):
        hidden = Stage(model, index, count)(hidden)
    assert hidden.equal(model(ids))


def test_stages_keep_the_names_and_share_the_layers_evenly():
    model = build()
    stages = [Stage(model, index, 2) for index in range(2)]
    names = [name for stage in stages for name, _ in stage.named_parameters()]
    assert sorted(names) == sorted(name for name, _ in model.named_parameters())
    found = [{*re.findall(r"layers\.(\d)", " ".join(stage.state_dict()))} for stage in stages]
    assert found == [{"0", "1", "2"}, {"3", "4"}]


def test_what_stages_cannot_share():
    with pytest.raises(
        ValueError, match=r"num_layers \(5\) must be at least the number of stages \(7\)"
    ):
        Stage(build(), 0, 7)
    tied = TransformerForCausalLM(replace(CONFIG, tie_embeddings=True))
    with pytest.raises(ValueError, match=r"tie_embeddings \(True\) puts one table into both"):
        Stage(tied, 0, 2)
    assert Stage(tied, 0, 1)(batch(0)).equal(tied(batch(0)))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, r"num_heads \(4\) must be a multiple of the number of processes \(7\)"),
        ({"num_heads": 14, "num_kv_heads": 2}, r"num_kv_heads \(2\) must be a multiple .* \(7\)"),
        (
            {"num_heads": 7, "d_ff": 13},
            r"d_ff \(13\) must be a multiple of the number of processes \(7\)",
        ),
        ({"num_heads": 7, "qk_norm": True}, r"qk_norm \(True\) has weights that all heads share"),
    ],
)
def test_what_cannot_be_divided_among_seven_processes(changes, message):
    model = TransformerForCausalLM(replace(CONFIG, **changes))
    with pretended(7) as mesh, pytest.raises(ValueError, match=message):
        tensor_parallel(model, mesh)
