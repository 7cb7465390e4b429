import pytest
import torch

from glassbook.corpora.stories import SPECIAL, encode, make_stories, tokenizer
from glassbook.recipes.masked_lm import build, guesses
from glassformer import TransformerConfig, TransformerForMaskedLM


def test_special_tokens_are_never_asked_for():
    batch = encode([story.halves for story in make_stories()["test"][:7]])
    special = set(map(tokenizer().id_to_token, SPECIAL))
    assert {"[PAD]", "[CLS]", "[SEP]", "[MASK]"} <= special
    words = ~torch.isin(batch["input_ids"], torch.tensor(SPECIAL))
    assert (words.sum(1) + 3 == batch["attention_mask"].sum(1)).all()


def test_is_a_small_bert():
    model = build()
    assert isinstance(model, TransformerForMaskedLM)
    assert not model.config.norm_first
    assert model.decoder.weight is model.encoder.embeddings.tokens.weight
    assert model.config.vocab_size == tokenizer().get_vocab_size()


def test_begins_with_scores_as_large_as_those_of_bert():
    """The sum over a vector grows as the root of its width, which BERT's weights of 0.02 fit."""
    small, bert = build().config, TransformerConfig()
    ours, theirs = (one.initializer_range * one.d_model**0.5 for one in (small, bert))
    assert (bert.d_model, bert.initializer_range) == (768, 0.02)
    assert ours == pytest.approx(theirs, rel=0.02)


def test_guesses_are_the_softmax_at_the_mask():
    model = build().eval()
    found = guesses(model, "time [MASK] like an arrow.", count=5)
    ids = torch.tensor(
        [[2, *map(tokenizer().token_to_id, ["time", "[MASK]", "like", "an", "arrow", "."]), 3]]
    )
    powers = model(ids)[0, 2].exp()
    chances = (powers / powers.sum()).sort(descending=True)
    assert [tokenizer().token_to_id(word) for word, _ in found] == chances.indices[:5].tolist()
    assert [p for _, p in found] == pytest.approx(chances.values[:5].tolist(), abs=1e-6)


def test_one_word_is_asked_for(subtests):
    for text, count in [("time flies", 0), ("[MASK] flies [MASK]", 2)]:
        with (
            subtests.test(text=text, count=count),
            pytest.raises(ValueError, match=rf"must have one \[MASK\], got {count}"),
        ):
            guesses(build(), text)
