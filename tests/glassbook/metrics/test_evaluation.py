"""Scores and alignments against arithmetic by hand, and the real rows of a real model."""

import pytest
import torch
from tokenizers import Tokenizer

from glassbook.corpora.grammar import Pair
from glassbook.metrics.evaluation import (
    alignment_error,
    cross_attention,
    dictionary,
    exact_match,
    links_of,
    translate,
    word_for_word,
)
from glassbook.recipes.translation import END, PAD, START, UNKNOWN, build, encode, tokenizers
from glassformer import record

PAIR = Pair(
    "Sie ruft an .",
    "She calls .",
    frozenset({(0, 0), (1, 1), (2, 3)}),
    frozenset({(0, 0), (1, 1), (1, 2), (2, 3)}),
    frozenset(),
)
SECOND = Pair(
    "Sie hat Sie .", "They she .", frozenset({(1, 0), (0, 2)}), frozenset({(1, 0)}), frozenset()
)


def test_exact_match_ignores_capitals_and_nothing_else():
    assert exact_match(["she calls .", "she calls"], [PAIR, PAIR]) == 0.5
    with pytest.raises(ValueError, match="one translation for each pair, got 1 for 2 pairs"):
        exact_match(["she calls ."], [PAIR, PAIR])
    with pytest.raises(ValueError, match="one translation for each pair, got 0 for 0 pairs"):
        exact_match([], [])


def test_the_dictionary_takes_the_most_frequent_sure_link():
    book = dictionary([PAIR, PAIR, SECOND])
    assert book == {"sie": "she", "ruft": "calls", ".": "."}
    assert word_for_word("Ruft sie nicht an .", book) == "calls she ."


def test_links_are_the_largest_weight_of_each_row():
    weights = torch.tensor([[0.2, 0.5, 0.3], [0.9, 0.1, 0.0]])
    assert links_of(weights) == {(0, 1), (1, 0)}


def test_alignment_error_by_hand():
    """|A| = 3, |S| = 3; of A two are sure and three possible: 1 − 5/6."""
    found = {(0, 0), (1, 2), (2, 3)}
    assert alignment_error([found], [PAIR]) == pytest.approx(1 / 6)
    assert alignment_error([set(PAIR.sure)], [PAIR]) == 0
    assert alignment_error([{(0, 3)}], [PAIR]) == 1
    # Pairs are counted together: (5 + 0) / (6 + 2).
    assert alignment_error([found, set()], [PAIR, SECOND]) == pytest.approx(3 / 8)
    with pytest.raises(ValueError, match="have no link"):
        alignment_error([], [])
    with pytest.raises(ValueError, match="argument 2 is longer"):
        alignment_error([found], [PAIR, SECOND])


@pytest.mark.slow
def test_rows_are_those_that_predict_the_words():
    torch.manual_seed(0)
    model, (german, english) = build().eval(), tokenizers()
    nothing = frozenset()
    pair = Pair("Die Frau lacht .", "The woman laughs .", nothing, nothing, nothing)
    weights = cross_attention(model, (german, english), pair)
    assert weights.shape == (2, 4, 4, 5)  # the last column is [END]
    # The row of "woman" is made of the tokens before it, and of no later ones.
    with record(model) as tape, torch.no_grad():
        given = torch.tensor([[START, english.token_to_id("the")]])
        model(encode(german, [pair.german]), given)
    second = torch.cat(tape.cross_attentions)[:, :, 1]
    torch.testing.assert_close(weights[:, :, 1], second)


def test_translate_is_greedy_search_by_hand():
    torch.manual_seed(0)
    model, (german, english) = build().eval(), tokenizers()
    sentences = ["Die Frau lacht .", "Das ist ein Beispiel .", "Sie schläft nicht ."]
    translated = translate(model, (german, english), sentences, batch_size=2)
    for sentence, found in zip(sentences, translated, strict=True):
        ids = [START]
        while ids[-1] != END and len(ids) <= 32:
            with torch.no_grad():
                logits = model(encode(german, [sentence]), torch.tensor([ids]))
            ids.append(logits[0, -1].argmax().item())
        assert found == english.decode([i for i in ids if i != PAD])
    assert isinstance(german, Tokenizer)


def test_a_translation_without_an_end_is_cut_after_32_words():
    """No sentence of the corpus is nearly as long. A row of zeros is never the likeliest."""
    torch.manual_seed(0)
    model = build().eval()
    with torch.no_grad():
        model.lm_head.weight[[PAD, START, END, UNKNOWN]] = 0
    found = translate(model, tokenizers(), ["Die Frau lacht .", "Sie schläft nicht ."])
    assert [len(words.split()) for words in found] == [32, 32]
