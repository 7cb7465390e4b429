"""The translator: its tokens, what it is asked for, and that it learns."""

import itertools

import pytest

from glassbook.corpora.translation_corpus import make_corpus
from glassbook.metrics.evaluation import exact_match, translate
from glassbook.recipes import translation
from glassbook.recipes.translation import (
    END,
    PAD,
    START,
    UNKNOWN,
    batches,
    build,
    encode,
    tokenizers,
)
from glassformer import Transformer, shift_targets


def test_special_tokens_have_the_numbers_that_the_code_says():
    for tokenizer in tokenizers():
        names = ["[PAD]", "[START]", "[END]", "[UNK]"]
        assert [tokenizer.token_to_id(name) for name in names] == [PAD, START, END, UNKNOWN]


def test_every_training_word_is_one_token():
    for tokenizer, language in zip(tokenizers(), ("german", "english"), strict=True):
        sentences = [getattr(pair, language) for pair in make_corpus().train]
        words = {word for sentence in sentences for word in sentence.lower().split()}
        assert set(tokenizer.get_vocab()) == words | {"[PAD]", "[START]", "[END]", "[UNK]"}


def test_sentences_are_framed_and_padded():
    german, english = tokenizers()
    source = encode(german, ["Das ist ein Beispiel .", "Quark"])
    assert [german.id_to_token(i) for i in source[0].tolist()] == [
        *("das", "ist", "ein", "beispiel", ".", "[END]")
    ]
    assert source[1].tolist() == [UNKNOWN, END, PAD, PAD, PAD, PAD]
    target = encode(english, ["This is an example ."])
    assert (target[0, 0], target[0, -1]) == (START, END)
    assert english.decode(target[0].tolist()) == "this is an example ."


def test_each_answer_is_the_token_after_what_is_given():
    english = tokenizers()[1]
    given, wanted = shift_targets(encode(english, ["This is an example ."]))
    names = [[english.id_to_token(i) for i in ids[0].tolist()] for ids in (given, wanted)]
    assert names == [
        ["[START]", "this", "is", "an", "example", "."],
        ["this", "is", "an", "example", ".", "[END]"],
    ]


def test_tables_are_separate_and_the_last_map_is_tied():
    model = build()
    german, english = (tokenizer.get_vocab_size() for tokenizer in tokenizers())
    assert model.encoder.embeddings.tokens.weight.shape == (german, 128)
    assert model.decoder.embeddings.tokens.weight.shape == (english, 128)
    assert model.lm_head.weight is model.decoder.embeddings.tokens.weight


def test_embeddings_are_added_and_not_normalised():
    model = build()  # Vaswani et al. 2017, section 3.4 and figure 1
    assert not model.encoder.config.embedding_norm
    assert not model.decoder.config.embedding_norm


def test_an_epoch_has_every_pair_once(monkeypatch):
    monkeypatch.setattr(translation, "EPOCHS", 2)
    monkeypatch.setattr(translation, "BATCH", 7)
    pairs = make_corpus().train[:31]
    found = list(batches(pairs))
    assert [len(batch) for batch in found].count(7) == 2 * 4
    for epoch in (found[:5], found[5:]):
        assert sorted(pair.german for batch in epoch for pair in batch) == sorted(
            pair.german for pair in pairs
        )
    assert found[:5] != found[5:]


def test_a_batch_holds_pairs_that_are_about_equally_long(monkeypatch, corpus):
    """No pair is longer, with both of its sentences, than one of a batch of longer ones."""
    monkeypatch.setattr(translation, "BATCH", 37)
    found = list(batches(corpus.train[:1000]))
    ranges = sorted(
        (min(lengths), max(lengths))
        for batch in found[: len(found) // translation.EPOCHS]
        for lengths in [[len(f"{one.english} {one.german}".split()) for one in batch]]
    )
    assert all(longest <= least for (_, longest), (least, _) in itertools.pairwise(ranges))
    assert ranges[0][1] < ranges[-1][0]


@pytest.mark.slow
@pytest.mark.usefixtures("unhooked")
def test_the_trained_translator_is_right(corpus, translator):
    assert isinstance(translator, Transformer)
    for part, least in [("by_sentence", 0.97), ("by_structure", 0.90)]:
        pairs = getattr(corpus, part)[::3]
        translated = translate(translator, tokenizers(), [pair.german for pair in pairs])
        assert exact_match(translated, pairs) >= least, part
