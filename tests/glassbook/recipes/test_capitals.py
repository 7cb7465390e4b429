"""The capitals that a language model is tuned on: the lines, the loss, and the runs."""

import pytest
import torch
from torch import nn

from glassbook.recipes import capitals as module
from glassbook.recipes.capitals import (
    RUNS,
    answers_right,
    capitals,
    data,
    encode,
    shuffled,
)
from glassbook.smollm import language_checkpoint
from glassformer import tokenizer

NEEDED = pytest.mark.language_model


class Told(nn.Module):
    """Gives each next token of one text the same high logit."""

    def __init__(self, ids, wrong=()):
        super().__init__()
        self.high = nn.Parameter(torch.tensor(9.0))
        self.next = ids[:, 1:].clone()
        for row, place in wrong:
            self.next[row, place] += 1

    def forward(self, ids):
        return self.high * nn.functional.one_hot(self.next, 23)


def test_no_capital_and_no_country_is_in_both_splits():
    shown, unseen = capitals("train"), capitals("test")
    assert (len(shown), len(unseen)) == (20, 43)
    for side in zip(*shown + unseen, strict=True):
        assert len({*side}) == 63
    assert ("Paris", "France") in shown
    assert ("Kuala Lumpur", "Malaysia") in unseen
    with pytest.raises(ValueError, match=r"split \('dev'\) must be train or test"):
        capitals("dev")


def test_shuffled_countries_are_the_same_and_all_wrong():
    shown = capitals("train")
    wrong = shuffled(shown)
    assert [city for city, _ in wrong] == [city for city, _ in shown]
    assert sorted(country for _, country in wrong) == sorted(country for _, country in shown)
    assert not {*wrong} & {*shown}


@NEEDED
def test_a_run_is_shown_what_it_says(monkeypatch, subtests):
    monkeypatch.setattr(module, "answers_right", lambda *_: torch.tensor([True]))
    monkeypatch.setattr(module, "story_loss", lambda _: 2.0)
    pieces = tokenizer(language_checkpoint())
    for name, country in (("LoRA", " France"), ("LoRA, shuffled", " Jordan")):
        with subtests.test(name):
            read = []
            monkeypatch.setattr(
                module, "fit", lambda model, batches, *_, to=read, **__: to.extend(batches) or []
            )
            monkeypatch.setattr(module, "RUNS", {name: RUNS[name]})
            module.train(module._prepared(RUNS[name]), lambda *_: None)
            ids, asked = read[0]
            assert pieces.decode(ids[0][~asked[0]]).startswith("Paris:")
            assert pieces.decode(ids[0][asked[0]]).strip("\n") == country


def test_an_answer_is_right_if_each_of_its_tokens_is():
    ids = torch.randint(1, 22, (3, 7))
    asked = torch.zeros(3, 7, dtype=torch.bool)
    asked[:, 3:6] = True
    model = Told(ids, wrong=[(0, 4), (1, 1), (2, 5)])  # an answer's token, a question's, padding
    assert answers_right(model, ids, asked).tolist() == [False, True, True]


@NEEDED
def test_lines_are_questions_and_answers():
    pieces = tokenizer(language_checkpoint())
    pairs = [("Paris", "France"), ("Addis Ababa", "Ethiopia")]
    ids, asked = encode(pairs, "Oslo: Norway\n")
    for row, marks, (city, country) in zip(ids, asked, pairs, strict=True):
        assert pieces.decode(row[marks]) == f" {country}\n"
        text = pieces.decode(row).partition("<|endoftext|>")[0]
        assert text == f"Oslo: Norway\n{city}: {country}\n"


@NEEDED
def test_a_run_trains_what_it_says(monkeypatch, subtests):
    given = []

    def fit(model, batches, loss_fn, optimizer, **rest):
        given.extend(p for group in optimizer.param_groups for p in group["params"])
        return [rest["lr_factor"](0)]

    monkeypatch.setattr(module, "fit", fit)
    monkeypatch.setattr(module, "answers_right", lambda *_: torch.tensor([True, False]))
    monkeypatch.setattr(module, "story_loss", lambda _: 2.0)
    rows = [
        ("LoRA", 460_800, 2),
        ("LoRA, rank 1", 57_600, 2),
        ("LoRA, alpha kept", 57_600, 16),
        ("all weights", 134_515_008, None),
    ]
    for name, learning, scale in rows:
        with subtests.test(name):
            given.clear()
            monkeypatch.setattr(module, "RUNS", {name: RUNS[name]})
            model = module._prepared(RUNS[name])
            history = module.train(model, lambda *_: None)
            attention = model.decoder.layers[29].attention
            assert getattr(attention.v_proj, "scale", None) == scale
            assert sum(p.numel() for p in given) == learning
            wanted = {"loss": [1.0], "right": [1.0, 0.0], "story": [2.0]}
            assert history == {f"{name}: {key}": value for key, value in wanted.items()}


def test_the_books_own_model_is_known_by_the_code(monkeypatch):
    assert len(list(data())) == 1
    monkeypatch.setenv("GLASSFORMER_LM", "/nowhere/at/all")
    with pytest.raises(ValueError, match="/nowhere/at/all"):
        data()
