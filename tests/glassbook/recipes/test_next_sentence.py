import pytest
import torch

from glassbook.corpora.stories import make_stories
from glassbook.recipes import next_sentence
from glassbook.recipes.masked_lm import build as build_masked_lm
from glassbook.recipes.next_sentence import FOLLOWS, STRANGE, build, pair_up
from glassbook.recipes.trained_models import Trained
from glassformer import TransformerForNextSentencePrediction

STORIES = make_stories()["train"]


@pytest.fixture
def body(monkeypatch):
    """A masked language model that nobody trained."""
    model = build_masked_lm()
    monkeypatch.setattr(
        next_sentence, "trained", lambda name: {"masked_lm": Trained(model, {}, 0.0, "")}[name]
    )
    return model.encoder


def test_half_of_the_pairs_go_on_and_half_do_not():
    stories = STORIES[:1009]
    pairs, labels = pair_up(stories, torch.Generator().manual_seed(3))
    seconds = [story.halves[1] for story in stories]
    for story, (first, second), label in zip(stories, pairs, labels.tolist(), strict=True):
        assert first == story.halves[0]
        assert second in seconds
        assert label == STRANGE or second == story.halves[1]
    followed = (labels == FOLLOWS).sum().item()
    assert abs(followed - 1009 / 2) < 4 * (1009 / 4) ** 0.5
    again = pair_up(stories, torch.Generator().manual_seed(3))
    assert again[0] == pairs
    assert pair_up(stories, torch.Generator().manual_seed(4))[0] != pairs


def test_a_strange_half_is_any_other_storys_and_never_its_own():
    """Of three stories, each takes the second half of each of the others as often."""
    stories, places = STORIES[:3], torch.zeros(3, 3)
    assert len({story.halves[1] for story in stories}) == 3
    generator = torch.Generator().manual_seed(3)
    for _ in range(400):
        pairs, labels = pair_up(stories, generator)
        for row in (labels == STRANGE).nonzero().flatten().tolist():
            column = [story.halves[1] for story in stories].index(pairs[row][1])
            places[row, column] += 1
    assert places.diagonal().eq(0).all()
    expected = 400 / 4
    assert (places[~torch.eye(3, dtype=torch.bool)] - expected).abs().max() < 4 * expected**0.5


def test_begins_with_the_body_that_learned_to_guess_words(body):
    model = build()
    assert isinstance(model, TransformerForNextSentencePrediction)
    ours = model.encoder.state_dict()
    assert all(torch.equal(weight, ours[name]) for name, weight in body.state_dict().items())
    assert model.encoder is not body
