"""The loss against transformers' labels, and a short training."""

import pytest

from glassbook.corpora.stories import make_stories
from glassbook.recipes import supervised_tuning
from glassbook.recipes.gpt import build as build_gpt
from glassbook.recipes.supervised_tuning import build, train, tuning_pairs
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
