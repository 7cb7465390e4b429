"""The loss against transformers' labels, and a short training."""

import pytest
import torch
from small_models import VOCAB, small_model

from glassbook.corpora.stories import make_stories
from glassbook.recipes import supervised_tuning
from glassbook.recipes.gpt import build as build_gpt
from glassbook.recipes.supervised_tuning import answer_loss, build, train, tuning_pairs
from glassbook.recipes.trained_models import Trained
from glassformer import from_hf


@pytest.fixture
def untrained(monkeypatch):
    """A GPT of the stories that nobody trained."""
    model = build_gpt()
    monkeypatch.setattr(
        supervised_tuning, "trained", lambda name: {"gpt": Trained(model, {}, 0.0, "")}[name]
    )
    return model


def test_the_loss_is_that_of_transformers_with_the_request_ignored():
    torch.manual_seed(0)
    theirs = small_model("LlamaForCausalLM", num_key_value_heads=2)
    ids = torch.randint(VOCAB, (3, 11))
    answer = torch.arange(11) >= torch.tensor([[3], [5], [7]])
    answer[1, 9:] = False
    with torch.no_grad():
        expected = theirs(ids, labels=ids.where(answer, -100)).loss
        found = answer_loss(from_hf(theirs)(ids), ids, answer)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_logits_before_the_request_and_after_the_answer_get_no_gradient():
    logits = torch.zeros(1, 7, 5, requires_grad=True)
    answer = torch.tensor([[False, False, False, True, True, False, False]])
    answer_loss(logits, torch.arange(7)[None] % 5, answer).backward()
    assert logits.grad.abs().sum(-1).gt(0).tolist() == [[False, False, True, True] + [False] * 3]


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
