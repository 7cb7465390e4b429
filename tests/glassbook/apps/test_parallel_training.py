"""The program for torchrun: its batches, a killed process, and the command line."""

import gc
import re
from pathlib import Path

import pytest
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torchrun import torchrun, trained_alone

from glassbook.apps.parallel_training import BATCH, batch_at, build, split, texts, train
from glassformer.distributed.sharded_checkpoints import newest_step

WORKER = Path(__file__).parents[2] / "glassformer" / "parallel_worker.py"


@pytest.fixture(scope="module")
def plain():
    """The losses of seven steps in one process."""
    rows = texts()
    return trained_alone(batch_at(step, rows, BATCH) for step in range(7))


@pytest.mark.nightly
def test_a_killed_process_costs_some_steps_and_changes_nothing(tmp_path, plain):
    torchrun(2, WORKER, "killed", tmp_path, restarts=1)
    for rank in range(2):
        lines = (tmp_path / f"losses-{rank}.txt").read_text().splitlines()
        told = [(int(line.split()[0]), int(line.split()[1])) for line in lines]
        again = [(1, step) for step in range(3, 7)]  # from the checkpoint after three steps
        assert told[-len(again) :] == again
        assert told[: -len(again)] == [(0, step) for step in range(5)]
        found = {int(line.split()[1]): float(line.split()[2]) for line in lines}
        assert [found[step] for step in range(7)] == pytest.approx(plain, rel=1e-5)
    assert newest_step(tmp_path) == 6
    assert plain[0] > plain[-1] + 0.1


@pytest.mark.nightly
def test_the_command_line_trains_and_another_number_of_processes_resumes(tmp_path, plain):
    program = ("-m", "glassbook.apps.parallel_training")
    first = torchrun(2, *program, "pipeline", tmp_path, "--steps=3", "--every=3")
    second = torchrun(1, *program, "tensor", tmp_path, "--steps=4")
    told = re.findall(r"step (\d): loss (\S+)", first + second)
    assert [int(step) for step, _ in told] == [0, 1, 2, 3]
    assert [float(loss) for _, loss in told] == pytest.approx(plain[:4], abs=1e-4)


def test_the_model_goes_before_its_group(tmp_path, monkeypatch):
    """Otherwise DDP ends the group while it holds the GIL, and one run in six never ends."""
    own = {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "localhost", "MASTER_PORT": "0"}
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    left, end = [], dist.destroy_process_group

    def models():
        return sum(type(each) is DistributedDataParallel for each in gc.get_objects())

    def counted():
        left.append(models())
        end()

    monkeypatch.setattr(dist, "destroy_process_group", counted)
    seen = []
    train("data", tmp_path, steps=2, every=2, report=lambda *_: seen.append(models()))
    assert seen == [1, 1]
    assert left == [0]
    assert not dist.is_initialized()


def test_each_row_comes_once_per_epoch_in_another_order():
    rows = torch.arange(23 * 3).view(23, 3)
    epochs = [[batch_at(step, rows, 5) for step in steps] for steps in (range(4), range(4, 8))]
    orders = [torch.cat(batches)[:, 0].tolist() for batches in epochs]
    assert all(len({*order}) == 20 for order in orders)
    assert orders[0] != orders[1]
    assert batch_at(6, rows, 5).equal(epochs[1][2])
    with pytest.raises(ValueError, match=r"rows \(23\) must be at least the batch \(29\)"):
        batch_at(0, rows, 29)


def test_texts_are_cut_and_not_padded():
    rows = texts()
    assert rows.shape[1] == 33
    assert len(rows) > 1000
    assert rows.min() > 0


def test_an_unknown_scheme():
    with pytest.raises(ValueError, match=r"scheme \('zero'\) must be one of data, shard, tensor"):
        split("zero", build(), 0, 1, 4)
