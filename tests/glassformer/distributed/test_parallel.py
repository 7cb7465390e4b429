"""Each way to split a training step, on 2 and 4 processes, against the same step in one."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from parallel_worker import CONFIG, STEPS, batch, build, optimizer_of
from torch import distributed as dist
from torchrun import torchrun

from glassbook.apps.parallel_training import SCHEMES
from glassformer.distributed.communication import fake_process_group
from glassformer.distributed.parallel import Stage, joined, own_rows, tensor_parallel
from glassformer.distributed.sharded_checkpoints import load_sharded
from glassformer.models.task_models import TransformerForCausalLM

WORKER = Path(__file__).parents[1] / "parallel_worker.py"
EXACT = {"rtol": 1e-9, "atol": 1e-11}  # float64


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that processes write into."""
    return tmp_path_factory.mktemp("runs")


@pytest.fixture(scope="module")
def two(folder):
    """What two processes wrote."""
    torchrun(2, WORKER, "equal", folder)


@pytest.fixture(scope="module")
def four(folder, two):
    """What four processes wrote, which also resumed what the two had."""
    torchrun(4, WORKER, "equal", folder)


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


def check_equal(folder, plain, scheme, size):
    losses, wanted = plain
    seen = set()
    for rank in range(size):
        found, gradients = torch.load(folder / f"{scheme}-{size}-{rank}.pt")
        torch.testing.assert_close(found, losses[:STEPS], **EXACT)
        for name, gradient in gradients.items():
            torch.testing.assert_close(gradient, wanted[name], **EXACT)
        seen |= gradients.keys()
        assert (gradients.keys() == wanted.keys()) == (scheme != "pipeline")
    assert seen == wanted.keys()


def check_one_goes_on(folder, plain, scheme, size):
    model = build()
    torch.nn.init.zeros_(model.lm_head.weight)
    optimizer = optimizer_of(model)
    load_sharded(folder / f"{scheme}-{size}", STEPS, model, optimizer)
    found, _ = steps(model, optimizer, range(STEPS, 2 * STEPS))
    torch.testing.assert_close(found, plain[0][STEPS:], **EXACT)


@pytest.mark.slow
@pytest.mark.usefixtures("two")
def test_two_processes_have_the_losses_and_gradients_of_one_which_can_go_on(
    folder, plain, subtests
):
    for scheme in SCHEMES:
        with subtests.test(scheme):
            check_equal(folder, plain, scheme, 2)
            check_one_goes_on(folder, plain, scheme, 2)


@pytest.mark.nightly
@pytest.mark.usefixtures("four")
def test_four_processes_do_too_and_go_on_where_two_with_another_scheme_stopped(
    folder, plain, subtests
):
    for scheme in SCHEMES:
        with subtests.test(scheme):
            check_equal(folder, plain, scheme, 4)
            check_one_goes_on(folder, plain, scheme, 4)
            for rank in range(4):
                found = torch.load(folder / f"{scheme}-resumed-{rank}.pt")
                torch.testing.assert_close(found, plain[0][STEPS:], **EXACT)


def test_a_process_that_nobody_joins_gives_up_and_says_so(monkeypatch):
    lonely = {"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
    for name, value in lonely.items():
        monkeypatch.setenv(name, value)
    told = r"rank 0 of 2 waited 0\.1 s for a process that never joined"
    with pytest.raises(TimeoutError, match=told), joined(timeout=0.1):
        pass
    assert not dist.is_initialized()


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


def test_stages_one_after_another_are_the_model(subtests):
    for count in [1, 2, 3, 5]:
        with subtests.test(count=count):
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


def test_what_cannot_be_divided_among_seven_processes(subtests):
    rows = [
        ({}, r"num_heads \(4\) must be a multiple of the number of processes \(7\)"),
        ({"num_heads": 14, "num_kv_heads": 2}, r"num_kv_heads \(2\) must be a multiple .* \(7\)"),
        (
            {"num_heads": 7, "d_ff": 13},
            r"d_ff \(13\) must be a multiple of the number of processes \(7\)",
        ),
        ({"num_heads": 7, "qk_norm": True}, r"qk_norm \(True\) has weights that all heads share"),
    ]
    for changes, message in rows:
        with subtests.test(changes=changes, message=message):
            model = TransformerForCausalLM(replace(CONFIG, **changes))
            with fake_process_group(7) as mesh, pytest.raises(ValueError, match=message):
                tensor_parallel(model, mesh)
