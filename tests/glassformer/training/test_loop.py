import pytest
import torch
from torch import nn

from glassformer.training.loop import (
    at_most,
    fit,
    fit_language_model,
    one_thread,
    warmup_linear_decay,
)


def sgd(model, lr):
    return torch.optim.SGD(model.parameters(), lr=lr)


def test_a_step_follows_the_gradient_of_its_own_batch_at_its_share_of_the_rate():
    """Plain descent by hand: gradients do not pile up, and step n has share n."""
    model, reports = nn.Linear(1, 1, bias=False), []
    start = model.weight.item()
    losses = fit(
        model,
        [2.0, 3.0, 5.0],
        lambda slope: slope * model.weight.sum(),
        sgd(model, 0.1),
        lr_factor=[1.0, 0.5, 0.25, 0.0].__getitem__,
        report=lambda *told: reports.append(told),
    )
    after_one, after_two = start - 0.1 * 2, start - 0.1 * 2 - 0.05 * 3
    assert losses == pytest.approx([2 * start, 3 * after_one, 5 * after_two])
    assert model.weight.item() == pytest.approx(after_two - 0.025 * 5)
    assert reports == [(n, f"loss {loss:.2f}") for n, loss in enumerate(losses, start=1)]


def test_only_the_first_steps_are_taken_inside_the_block_and_all_of_them_outside():
    model = nn.Linear(1, 1, bias=False)

    def losses():
        return fit(model, range(7), lambda _: model.weight.sum(), sgd(model, 0.1))

    with at_most(5):
        with at_most(2):
            assert len(losses()) == 2
        assert len(losses()) == 5
        with pytest.raises(ZeroDivisionError, match="by zero"), at_most(3):
            _ = 1 / 0
        assert len(losses()) == 5
    assert len(losses()) == 7


def test_a_long_gradient_is_cut_where_a_length_is_named():
    model, toward = nn.Linear(2, 1, bias=False), torch.tensor([[30.0, 40.0]])
    for longest, length in [(None, 50.0), (1.0, 1.0), (70.0, 50.0)]:
        step = sgd(model, 0.1)
        fit(model, [0], lambda _: (toward * model.weight).sum(), step, max_norm=longest)
        assert model.weight.grad.norm().item() == pytest.approx(length, rel=1e-4)


def test_a_batch_is_drawn_when_its_turn_comes():
    """What a batch is made of may depend on the steps before it."""
    model, order = nn.Linear(1, 1), []

    def batches():
        for number in range(2):
            order.append(f"draw {number}")
            yield number

    def loss_fn(number):
        order.append(f"loss {number}")
        return model.weight.sum()

    fit(model, batches(), loss_fn, sgd(model, 0.1))
    assert order == ["draw 0", "loss 0", "draw 1", "loss 1"]


def test_a_share_rises_for_a_tenth_of_the_steps_and_falls_to_nothing():
    shares = [warmup_linear_decay(step, 20) for step in range(21)]
    assert shares[:3] == pytest.approx([0.5, 0.95, 0.9])
    assert shares[1:] == sorted(shares[1:], reverse=True)
    assert shares[19:] == pytest.approx([1 / 20, 0])


def test_the_optimizer_averages_as_roberta_was_trained(monkeypatch):
    given, rates = {}, []

    class Adam(torch.optim.AdamW):
        def __init__(self, parameters, **options):
            given.update(options)
            super().__init__(parameters, **options)

        def step(self, closure=None):
            rates.append(self.param_groups[0]["lr"])
            return super().step(closure)

    monkeypatch.setattr(torch.optim, "AdamW", Adam)
    model = nn.Linear(3, 2)
    fit_language_model(
        model,
        range(10),
        lambda _: 100 * model.weight.sum(),
        steps=10,
        rate=0.5,
        report=lambda *told: None,
    )
    assert given["betas"] == (0.9, 0.98)  # Liu et al. 2019, section 3.1
    assert rates == pytest.approx([0.5 * warmup_linear_decay(step, 10) for step in range(10)])
    assert model.weight.grad.norm().item() == pytest.approx(1, abs=1e-4)


def test_one_thread_is_enough_and_the_others_are_given_back():
    def stop():
        raise ValueError(f"stopped in {torch.get_num_threads()} thread")

    torch.set_num_threads(2)
    with pytest.raises(ValueError, match="stopped in 1 thread"), one_thread():
        stop()
    assert torch.get_num_threads() == 2


def test_language_models_are_fitted_in_one_thread():
    model, seen = nn.Linear(1, 1), []
    torch.set_num_threads(2)

    def loss_fn(_):
        seen.append(torch.get_num_threads())
        return model.weight.sum()

    fit_language_model(model, range(3), loss_fn, steps=3, rate=0.1, report=lambda *told: None)
    assert seen == [1, 1, 1]
    assert torch.get_num_threads() == 2
