import pytest
import torch
from torch import nn

from glassformer.fitting import fit


def quiet(done, total, text):
    pass


def test_rates_rise_and_fall(monkeypatch):
    rates = []

    class Adam(torch.optim.AdamW):
        def step(self, closure=None):
            rates.append(self.param_groups[0]["lr"])
            return super().step(closure)

    monkeypatch.setattr(torch.optim, "AdamW", Adam)
    model = nn.Linear(3, 2)
    fit(model, lambda: model(torch.ones(1, 3)).square().sum(), steps=20, rate=0.5, report=quiet)
    assert rates[:3] == pytest.approx([0.25, 0.5 * 0.95, 0.5 * 0.9])
    assert rates[-1] == pytest.approx(0.5 / 20)
    assert rates[1:] == sorted(rates[1:], reverse=True)


def test_the_optimizer_averages_as_roberta_was_trained(monkeypatch):
    given = {}

    class Adam(torch.optim.AdamW):
        def __init__(self, parameters, **options):
            given.update(options)
            super().__init__(parameters, **options)

    monkeypatch.setattr(torch.optim, "AdamW", Adam)
    model = nn.Linear(3, 2)
    fit(model, lambda: model(torch.ones(1, 3)).sum(), steps=1, rate=0.5, report=quiet)
    assert given["betas"] == (0.9, 0.98)  # Liu et al. 2019, section 3.1


def test_finds_the_mean_that_least_squares_ask_for():
    model, reports = nn.Linear(1, 1), []
    inputs = torch.linspace(-1, 1, 11)[:, None]
    wanted = 3 * inputs + 2
    losses = fit(
        model,
        lambda: (model(inputs) - wanted).square().mean(),
        steps=400,
        rate=0.1,
        report=lambda *told: reports.append(told[:2]),
    )
    assert reports == [(step, 400) for step in range(1, 401)]
    assert losses[-1] < 1e-4 < losses[0]
    assert model.weight.item() == pytest.approx(3, abs=0.02)
    assert model.bias.item() == pytest.approx(2, abs=0.02)


def test_a_step_uses_the_gradient_of_its_own_question_and_no_more_than_its_length():
    """Gradients neither pile up nor run away: the norm is at most 1."""
    model = nn.Linear(1, 1, bias=False)
    norms = []
    model.weight.register_post_accumulate_grad_hook(lambda p: norms.append(p.grad.clone()))
    fit(model, lambda: 0.25 * model.weight.sum(), steps=3, rate=0.1, report=quiet)
    assert [norm.item() for norm in norms] == [0.25] * 3
    fit(model, lambda: 50 * model.weight.sum(), steps=1, rate=0.1, report=quiet)
    assert model.weight.grad.norm().item() == pytest.approx(1, abs=1e-4)


def test_one_thread_is_enough_and_the_others_are_given_back():
    model, seen = nn.Linear(1, 1), []
    torch.set_num_threads(2)

    def ask():
        seen.append(torch.get_num_threads())
        if len(seen) == 3:
            raise ValueError("three is enough")
        return model.weight.sum()

    with pytest.raises(ValueError, match="three is enough"):
        fit(model, ask, steps=5, rate=0.1, report=quiet)
    assert seen == [1, 1, 1]
    assert torch.get_num_threads() == 2
