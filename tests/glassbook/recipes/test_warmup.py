import pytest
import torch
from torch import nn

from glassbook.recipes import warmup
from glassbook.recipes.warmup import LENGTH, RUNS, SYMBOLS, Reverser, Run, train_one, warm_up


def test_the_rate_rises_evenly_and_stays():
    assert [warm_up(step, 4) for step in range(6)] == [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    assert [warm_up(step, 0) for step in range(3)] == [1.0, 1.0, 1.0]


def test_the_optimizer_is_given_that_rate(monkeypatch):
    given = []

    class Adam(torch.optim.Adam):
        def step(self, closure=None):
            given.append(self.param_groups[0]["lr"])
            return super().step(closure)

    monkeypatch.setattr(torch.optim, "Adam", Adam)
    monkeypatch.setattr(warmup, "STEPS", 5)
    train_one(Reverser(False, 1), Run(False, 1, peak=0.08, warm_up=4))
    assert given == pytest.approx([0.02, 0.04, 0.06, 0.08, 0.08])


def test_a_stack_has_the_layers_and_the_norm_of_its_run():
    run = Run(True, 3)
    stack = Reverser(run.norm_first, run.depth)
    assert len(stack.encoder.layers) == 3
    assert all(layer.norm_first for layer in stack.encoder.layers)
    assert stack(torch.randint(SYMBOLS, (5, LENGTH))).shape == (5, LENGTH, SYMBOLS)


class Mirror(nn.Module):
    """Knows the answer: the sequence backwards, or the sequence itself."""

    def __init__(self, right):
        super().__init__()
        self.scale, self.right = nn.Parameter(torch.tensor(9.0)), right

    def forward(self, symbols):
        symbols = symbols.flip(1) if self.right else symbols
        return self.scale * nn.functional.one_hot(symbols, SYMBOLS)


def test_accuracy_is_of_the_sequence_backwards_at_every_step(monkeypatch):
    monkeypatch.setattr(warmup, "STEPS", 23)
    assert train_one(Mirror(right=True), RUNS[0]) == [1.0] * 23
    wrong = train_one(Mirror(right=False), RUNS[0])
    assert len(wrong) == 23
    assert max(wrong) < 0.15  # one in twenty by chance


def test_every_run_is_trained_from_weights_of_its_own(monkeypatch):
    stacks, before = [], []

    def train_one(model, run):
        stacks.append(model)
        before.append(model.head.weight.clone())
        return [0.5, 0.25]

    monkeypatch.setattr(warmup, "train_one", train_one)
    monkeypatch.setattr(warmup, "RUNS", (Run(False, 1), Run(True, 2)))
    reports, threads = [], torch.get_num_threads()
    history = warmup.train(warmup.build(), lambda *report: reports.append(report))
    each = warmup.ATTEMPTS
    assert list(history.values()) == [[0.5, 0.25]] * 2 * each
    assert list(history)[each] == "pre-norm, 2 layers, rate 0.01, no warm-up, attempt 0"
    assert [report[:2] for report in reports] == [(k, 2 * each) for k in range(2 * each)]
    assert [len(stack.encoder.layers) for stack in stacks] == [1] * each + [2] * each
    assert len({tuple(weight.flatten().tolist()) for weight in before}) == 2 * each
    assert torch.get_num_threads() == threads


def test_names_of_the_runs_differ():
    assert len({str(run) for run in RUNS}) == len(RUNS)
    assert str(Run(False, 12, 0.003, 7)) == "post-norm, 12 layers, rate 0.003, warm-up 7"
