import re
from collections import Counter
from itertools import product

import pytest
import torch

from glassbook.corpora import DATA
from glassbook.recipes import classification
from glassbook.recipes.classification import (
    LABELS,
    Example,
    bag_of_words,
    build,
    classify,
    corpus,
    corpus_file,
    encode,
    label_ids,
    train,
    wilson,
)
from glassformer import TransformerConfig, TransformerForSequenceClassification

TRAIN, TEST = corpus("train"), corpus("test")


def words_of(example):
    return re.findall(r"\w+", example.text.lower())


def tiny():
    """A model that learns a few sentences in a second; no dropout."""
    return TransformerForSequenceClassification(
        TransformerConfig(
            **{"d_model": 33, "num_heads": 3, "num_layers": 5, "d_ff": 37, "max_positions": 41},
            **{"num_labels": 3, "dropout": 0.0, "attn_dropout": 0.0, "initializer_range": 0.2},
        )
    )


class TestCorpus:
    def test_is_as_large_as_promised(self):
        assert len(TRAIN) >= 300
        assert len(TEST) >= 150

    def test_each_triple_has_each_label_once_and_the_same_words(self):
        triples = {}
        for example in TRAIN + TEST:  # no triple is in both, as the next test says
            triples.setdefault(example.triple, []).append(example)
        for triple in triples.values():
            assert sorted(e.label for e in triple) == sorted(LABELS)
            assert len({tuple(sorted(words_of(e))) for e in triple}) == 1
            assert len({e.text for e in triple}) == 3

    def test_no_triple_is_in_both_splits(self):
        assert {e.triple for e in TRAIN}.isdisjoint(e.triple for e in TEST)

    def test_no_sentence_is_near_another_one_across_the_splits(self):
        """Nearness: the words that two sentences share, among those that either has."""
        train, test = ([{*words_of(one)} for one in part] for part in (TRAIN, TEST))
        assert max(len(a & b) / len(a | b) for a, b in product(train, test)) < 0.4

    def test_no_sentence_stands_twice(self):
        assert len({" ".join(words_of(e)) for e in TRAIN + TEST}) == len(TRAIN + TEST)

    def test_no_word_goes_with_one_label_more_than_with_another(self):
        counts = {label: Counter() for label in LABELS}
        for example in TRAIN + TEST:
            counts[example.label].update(words_of(example))
        assert counts["person"] == counts["animal"] == counts["thing"]

    def test_sentences_are_sentences(self):
        for example in TRAIN + TEST:
            assert re.fullmatch(r"[A-Z][\w,;:' -]+\.", example.text), example.text
            assert not re.search(r"\b[Aa] [aeio]|\b[Aa]n (?!hour)[^aeiou]", example.text), (
                example.text
            )

    def test_is_installed_with_the_package(self):
        assert corpus_file().is_relative_to(DATA)

    def test_split_that_is_not_there(self):
        with pytest.raises(ValueError, match=r"split \('dev'\) must be one of test, train"):
            corpus("dev")


def test_position_0_is_cls_and_padding_is_masked():
    batch = encode(["time flies", "time flies like an arrow"])
    assert batch["input_ids"].tolist() == [
        [101, 2051, 10029, 102, 0, 0, 0],
        [101, 2051, 10029, 2066, 2019, 8612, 102],
    ]
    assert batch["attention_mask"].tolist() == [[1] * 4 + [0] * 3, [1] * 7]


def test_builds_the_trained_body_with_three_labels(trained):
    model = build()
    assert model.classifier.weight.shape == (3, 384)
    for name, weight in trained.state_dict().items():
        assert torch.equal(model.encoder.state_dict()[name], weight)


def test_training_lowers_the_loss_and_touches_only_what_is_not_frozen(monkeypatch):
    examples = [Example(word, LABELS[i % 3], 0) for i, word in enumerate("abcdefg")]
    monkeypatch.setattr(classification, "corpus", lambda split: {"train": examples}[split])
    for name, value in {"EPOCHS": 13, "BATCH": 3, "RATE": 0.003, "HEAD_RATE": 0.01}.items():
        monkeypatch.setattr(classification, name, value)
    model, reported = tiny(), []
    before = {name: weight.clone() for name, weight in model.state_dict().items()}
    history = train(model, lambda *progress: reported.append(progress[:2]))
    assert reported == [(step, 39) for step in range(1, 40)]
    assert len(history["loss"]) == 39
    assert len(history["accuracy"]) == 13
    assert sum(history["loss"][-3:]) < 0.5 * sum(history["loss"][:3])
    assert history["accuracy"][-1] == 1.0
    changed = {n for n, weight in model.state_dict().items() if not torch.equal(weight, before[n])}
    frozen = ("encoder.embeddings.", *(f"encoder.layers.{i}." for i in range(2)))
    assert changed == {name for name in before if not name.startswith(frozen)}


def test_probabilities_are_softmax_of_the_logits():
    model = tiny().eval()
    texts = [e.text for e in TEST[:5]]
    probabilities = classify(model, texts)
    for text, row in zip(texts, probabilities, strict=True):
        powers = model(**encode([text])).exp()
        torch.testing.assert_close(row, (powers / powers.sum())[0].detach(), rtol=0, atol=1e-5)


def test_training_mode_is_refused():
    with pytest.raises(ValueError, match=r"model\.training \(True\) must be False"):
        classify(tiny().train(), ["time flies"])


def test_bag_of_words_learns_words_and_cannot_tell_a_triple_apart():
    texts = ["the cat sat", "the dog ran", "a bird sang"]
    assert bag_of_words(texts, torch.tensor([2, 0, 1]), texts[::-1]).tolist() == [1, 0, 2]
    guesses = bag_of_words([e.text for e in TRAIN], label_ids(TRAIN), [e.text for e in TEST])
    assert (guesses == label_ids(TEST)).sum() * 3 == len(TEST)


def test_interval_by_hand():
    """Roots of (share - p)^2 = z^2 p (1 - p) / total, the interval's definition."""
    for right, total in [(7, 11), (0, 13), (17, 17)]:
        for bound in wilson(right, total):
            deviation = (right / total - bound) ** 2
            assert deviation == pytest.approx(1.96**2 * bound * (1 - bound) / total, abs=1e-12)
    low, high = wilson(7, 11)
    assert low < 7 / 11 < high


def test_interval_of_an_impossible_share():
    for right, total in [(-1, 5), (7, 5), (0, 0)]:
        with pytest.raises(ValueError, match=rf"right \({right}\) .* total \({total}\)"):
            wilson(right, total)


def test_the_key_depends_on_the_corpus_and_on_a_body_of_your_own(monkeypatch, tmp_path):
    monkeypatch.delenv("GLASSFORMER_CHECKPOINT", raising=False)
    assert list(classification.data()) == [corpus_file().read_bytes()]
    (tmp_path / "config.json").write_text("{}")
    (tmp_path / "model.safetensors").write_bytes(b"mine")
    monkeypatch.setenv("GLASSFORMER_CHECKPOINT", str(tmp_path))
    assert list(classification.data()) == [corpus_file().read_bytes(), b"mine"]
