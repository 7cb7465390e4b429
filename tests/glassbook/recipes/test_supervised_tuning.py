"""The loss against transformers' labels, and a short training."""

import pytest
import torch

from glassbook.corpora.stories import make_stories
from glassbook.recipes import supervised_tuning
from glassbook.recipes.gpt import build as build_gpt
from glassbook.recipes.supervised_tuning import build, train, tune, tuning_pairs
from glassbook.recipes.trained_models import Trained


@pytest.fixture
def untrained(monkeypatch):
    """A GPT of the stories that nobody trained."""
    model = build_gpt()
    monkeypatch.setattr(
        supervised_tuning, "trained", lambda name: {"gpt": Trained(model, {}, 0.0, "")}[name]
    )
    return model


def test_pairs_are_the_training_stories_without_held_out_requests():
    pairs = tuning_pairs()
    texts = {story.text for story in make_stories()["train"]}
    assert len(pairs) == 2968
    assert {text for _, text in pairs} <= texts
    assert all(request.answered_by(text) and not request.held_out for request, text in pairs[:97])


def test_begins_with_the_stories_gpt_twice(untrained):
    models = build()
    assert len(models) == 2
    for model in models:
        assert model is not untrained
        assert all(
            weight.equal(untrained.state_dict()[name])
            for name, weight in model.state_dict().items()
        )


def test_tuning_learns_which_story_answers_which_request(monkeypatch, untrained):
    torch.manual_seed(0)
    for name, value in {"STEPS": 30, "BATCH": 5}.items():
        monkeypatch.setattr(supervised_tuning, name, value)
    reports = []
    losses = tune(untrained, tuning_pairs()[:5], lambda *told: reports.append(told[:2]))
    assert reports == [(step, 30) for step in range(1, 31)]
    assert losses[-1] < 0.6 * losses[0]


@pytest.mark.usefixtures("untrained")
def test_the_control_has_the_same_stories_below_other_requests(monkeypatch):
    seen = []
    monkeypatch.setattr(
        supervised_tuning, "tune", lambda model, pairs, report: seen.append((model, pairs)) or [7.0]
    )
    models = build()
    assert train(models, lambda *told: None) == {"tuned": [7.0], "shuffled": [7.0]}
    (tuned, pairs), (control, shuffled) = seen
    assert [tuned, control] == [*models]
    assert [text for _, text in pairs] == [text for _, text in shuffled]
    assert sorted(request for request, _ in pairs) == sorted(request for request, _ in shuffled)
    assert sum(one == other for one, other in zip(pairs, shuffled, strict=True)) < 97
