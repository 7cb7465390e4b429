"""The loss against odds computed another way, log-probabilities against transformers."""

import pytest
import torch

from glassbook.recipes import preference
from glassbook.recipes.gpt import build as build_gpt
from glassbook.recipes.preference import (
    COLORS,
    RATE,
    UNSEEN_TOPICS,
    build,
    colored_topics,
    prefer,
    preferences_for,
    train,
)
from glassbook.recipes.trained_models import Trained


def test_each_pair_answers_one_request_and_differs_in_what_is_liked():
    topics = colored_topics()
    assert set(topics) == {*UNSEEN_TOPICS, "kite", "ears", "umbrella", "letter", "picture", "boat"}
    assert len(topics) == 8
    preferences = preferences_for(["kite", "boat"])
    assert {request.topic for request, *_ in preferences} == {"kite", "boat"}
    for request, chosen, rejected in preferences:
        assert request.answered_by(chosen)
        assert request.answered_by(rejected)
        assert "green" in chosen.split()
        assert not set(rejected.split()) & {"green"}
        assert set(rejected.split()) & set(COLORS)
        assert not request.held_out
    assert len(preferences) > 60


def test_preferring_widens_the_margin_and_leaves_the_reference(monkeypatch):
    torch.manual_seed(0)
    monkeypatch.setattr(preference, "STEPS", 12)
    model, preferences = build_gpt(), preferences_for(["kite"])[:5]
    losses = prefer(model, preferences, lambda *told: None)
    assert losses[0] == pytest.approx(torch.tensor(2.0).log().item(), abs=1e-6)
    assert losses[-1] < 0.8 * losses[0]


def test_the_control_has_the_same_pairs_turned_by_a_coin(monkeypatch):
    seen, tuned = [], torch.nn.ModuleList([build_gpt(), build_gpt()])
    monkeypatch.setattr(
        preference, "trained", lambda name: {"supervised_tuning": Trained(tuned, {}, 0.0, "")}[name]
    )
    monkeypatch.setattr(
        preference,
        "prefer",
        lambda model, pairs, report, rate=RATE: seen.append((rate, pairs)) or [7.0],
    )
    models = build()
    assert all(
        weight.equal(tuned[0].state_dict()[name]) for name, weight in models[1].state_dict().items()
    )
    history = train(models, lambda *told: None)
    assert history == {"reader": [7.0], "coin": [7.0], "too fast": [7.0]}
    (low, by_reader), (same, by_coin), (high, again) = seen
    assert high > low == same
    assert again == by_reader
    assert not {request.topic for request, *_ in by_reader} & set(UNSEEN_TOPICS)
    turned = [one != other for one, other in zip(by_reader, by_coin, strict=True)]
    assert [set(one) for one in by_reader] == [set(one) for one in by_coin]
    assert abs(sum(turned) - len(turned) / 2) < 4 * (len(turned) / 4) ** 0.5
