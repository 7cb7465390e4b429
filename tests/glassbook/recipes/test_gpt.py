import torch

from glassbook.corpora.stories import END, PAD, make_stories, read, tokenizer
from glassbook.recipes import gpt
from glassbook.recipes.gpt import build, encode, train
from glassformer import TransformerForCausalLM
from glassformer.inference.generation import generate


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


def test_training_learns_what_comes_next(monkeypatch):
    """Five stories by heart: what begins them tells how they go on."""
    torch.manual_seed(0)
    few = {"train": make_stories()["train"][:5]}
    monkeypatch.setattr(gpt, "make_stories", lambda: few)
    for name, value in {"STEPS": 100, "BATCH": 5}.items():
        monkeypatch.setattr(gpt, name, value)
    model, reports = build().train(), []
    history = train(model, lambda *progress: reports.append(progress[:2]))
    assert reports == [(step, 100) for step in range(1, 101)]
    assert history["loss"][-1] < 0.2 * history["loss"][0]
    story = few["train"][0].text
    begun = encode([" ".join(story.split()[:12])])[:, :-1]
    written = generate(model.eval(), begun, max_new_tokens=48, eos_token_id=END, pad_token_id=PAD)
    assert read(written[0].tolist()) == story
