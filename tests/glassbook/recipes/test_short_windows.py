"""The small GPTs of short windows: what differs between them, and what they're trained on."""

import pytest
import torch

from glassbook.corpora.stories import END, make_stories, read
from glassbook.recipes import short_windows as module
from glassbook.recipes.short_windows import KINDS, WINDOW, build, build_one, rows_of, story_stream
from glassformer.layers.alibi import AlibiAttention
from glassformer.layers.multihead import MultiHeadAttention
from glassformer.layers.positions import SinusoidalPositions


def test_the_kinds_differ_in_their_positions_alone():
    sinusoidal, rotary, alibi = (build_one(kind) for kind in KINDS)
    assert isinstance(sinusoidal.decoder.embeddings.positions, SinusoidalPositions)
    assert rotary.decoder.embeddings.positions is alibi.decoder.embeddings.positions is None
    attention = [model.decoder.layers[1].attention for model in (sinusoidal, rotary, alibi)]
    kinds = [MultiHeadAttention, MultiHeadAttention, AlibiAttention]
    assert [type(part) for part in attention] == kinds
    assert [part.rotary is None for part in attention] == [True, False, True]
    shapes = [
        {name: weight.shape for name, weight in model.state_dict().items()}
        for model in (sinusoidal, rotary, alibi)
    ]
    assert shapes[0] == shapes[1] == shapes[2]
    with pytest.raises(ValueError, match=r"kind \('none'\) must be one of sinusoidal, rotary"):
        build_one("none")


def test_a_stream_is_all_stories_of_its_split_with_an_end_after_each():
    stream, stories = story_stream("test"), make_stories()["test"]
    assert (stream == END).sum() == len(stories) == 500
    ends = (stream == END).nonzero()[:, 0].tolist()
    assert read(stream[: ends[0]].tolist()) == stories[0].text
    assert read(stream[ends[6] + 1 : ends[7]].tolist()) == stories[7].text


def test_rows_go_on_where_the_one_before_ends():
    assert rows_of(torch.arange(17), 5).tolist() == [[*range(5)], [*range(5, 10)], [*range(10, 15)]]


def test_each_kind_is_trained_on_windows_of_the_stream(monkeypatch):
    monkeypatch.setattr(module, "STEPS", 3)
    given, told = [], []

    def fit(model, batches, loss_fn, *, steps, rate, report):
        rows = [*batches]
        given.append((model, rows, rate))
        report(1, steps, "loss")
        return [loss_fn(rows[0]).item()]

    monkeypatch.setattr(module, "fit_language_model", fit)
    models = build()
    history = module.train(models, lambda done, total, text: told.append((done, total)))
    assert [*history] == [*KINDS]
    assert told == [(1, 9), (4, 9), (7, 9)]
    stream = story_stream("train")
    for (model, rows, rate), kind in zip(given, KINDS, strict=True):
        assert model is models[kind]
        assert rate == module.RATE
        assert [row.shape for row in rows] == [(16, WINDOW + 1)] * 3
        windows = stream.unfold(0, WINDOW + 1, 1)
        assert (windows == rows[2][5]).all(dim=1).any()
    uniform = torch.tensor(models["rotary"].config.vocab_size).log().item()
    assert all(losses[0] > uniform - 1 for losses in history.values())
