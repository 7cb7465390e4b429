from glassbook.corpora.stories import END, PAD, tokenizer
from glassbook.recipes.gpt import build, encode
from glassformer import TransformerForCausalLM


def test_stories_are_framed_by_the_end():
    ids = encode(["Time flies.", "Fruit flies like a banana."])
    tokens = " ".join(tokenizer().id_to_token(i) for i in ids[1].tolist())
    assert tokens == "[END] fruit flies like a banana . [END]"
    assert ids[0, [0, 4]].tolist() == [END, END]
    assert ids[0, 5:].eq(PAD).all()


def test_is_a_small_gpt2():
    model = build()
    assert isinstance(model, TransformerForCausalLM)
    assert model.config.norm_first
    assert model.decoder.embeddings.norm is None
    assert model.lm_head.weight is model.decoder.embeddings.tokens.weight
