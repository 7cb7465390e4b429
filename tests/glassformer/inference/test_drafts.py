"""Drafts propose what they say, from the distribution that they say."""

from itertools import product

import pytest
import torch

from glassformer import TransformerConfig, TransformerForCausalLM, generate
from glassformer.inference.drafts import ModelDraft, PromptLookup, early_exit

VOCAB = 13


def build(positions="rotary", **choices):
    config = TransformerConfig(
        vocab_size=VOCAB,
        d_model=20,
        num_heads=2,
        num_layers=3,
        d_ff=7,
        num_token_types=0,
        initializer_range=0.3,
        positions=positions,
        **choices,
    )
    return TransformerForCausalLM(config).double().eval()


def test_the_prompt_is_copied(subtests):
    rows = [
        ([7, 3, 8, 9, 7, 3], 2, [8, 9, 7]),
        ([7, 3, 8, 9, 3, 5, 7, 3], 2, [8, 9, 3]),  # two tokens before one
        ([7, 3, 8, 9, 3, 5, 7, 3], 1, [5, 7, 3]),  # the last occurrence
        ([7, 3, 8, 4, 3, 5], 3, []),
        ([6, 1, 6], 3, [1, 6]),
        ([4, 4, 4], 5, [4]),
        ([4], 2, []),
    ]
    for text, ngram, proposed in rows:
        with subtests.test(text=text, ngram=ngram, proposed=proposed):
            tokens, probabilities = PromptLookup(VOCAB, ngram)(torch.tensor([text]), 3)
            assert tokens.tolist() == proposed
            assert probabilities.shape == (len(proposed), VOCAB)
            assert probabilities.argmax(-1).tolist() == proposed
            assert probabilities.sum().item() == len(proposed)


def test_no_more_is_copied_than_asked_for():
    assert PromptLookup(VOCAB)(torch.tensor([[4, 5, 6, 4]]), 0)[0].tolist() == []
    assert PromptLookup(VOCAB)(torch.tensor([[4, 5, 6, 4]]), 1)[0].tolist() == [5]


def test_a_greedy_draft_writes_as_generate():
    model, ids = build(), torch.randint(1, VOCAB, (1, 11))
    tokens, probabilities = ModelDraft(model)(ids, 5)
    assert tokens.equal(generate(model, ids, max_new_tokens=5)[0, 11:])
    assert probabilities.argmax(-1).equal(tokens)
    assert probabilities.sum(-1).eq(1).all()


def test_what_was_read_is_not_read_again():
    model, ids, read = build(), torch.randint(1, VOCAB, (1, 11)), []
    model.decoder.register_forward_pre_hook(lambda _, given: read.append(given[0].shape[1]))
    draft = ModelDraft(model)
    tokens, _ = draft(ids, 3)
    draft(torch.cat([ids, tokens[None, :2], 1 + tokens[None, 2:] % 3], dim=1), 1)
    assert read == [11, 1, 1, 1]


def test_a_sampled_draft_says_what_it_draws_from_whatever_was_asked_before():
    model, ids = build(), torch.randint(1, VOCAB, (1, 11))
    draft = ModelDraft(model, do_sample=True, temperature=0.7)
    changed = ids.clone()
    changed[0, 4] = ids[0, 4] % (VOCAB - 1) + 1
    for text in (ids, ids[:, :7], changed, torch.cat([changed, ids], dim=1), ids[:, :1]):
        tokens, probabilities = draft(text, 5)
        with torch.no_grad():
            logits = model(torch.cat([text, tokens[None]], dim=1))[0, -6:-1]
        expected = (logits / 0.7).softmax(-1).float()
        torch.testing.assert_close(probabilities, expected, rtol=0.0, atol=1e-6)
    tokens, probabilities = draft(ids, 0)
    assert tokens.shape == (0,)
    assert probabilities.shape == (0, VOCAB)


@torch.no_grad()
def test_an_early_exit_is_a_model_with_fewer_layers(subtests):
    for positions, tie_embeddings in product(["rotary", "learned", "sinusoidal"], [True, False]):
        with subtests.test(positions=positions, tie_embeddings=tie_embeddings):
            model = build(positions, norm_first=True, tie_embeddings=tie_embeddings)
            whole, ids = model(torch.ones(1, 5).long()), torch.randint(1, VOCAB, (3, 11))
            shallow = early_exit(model, 2)
            hidden = []
            hook = model.decoder.layers[1].register_forward_hook(
                lambda *given, to=hidden: to.append(given[-1])
            )
            model(ids)
            hook.remove()
            expected = model.lm_head(model.decoder.final_norm(hidden[0]))
            assert shallow(ids).equal(expected)
            assert shallow.config.num_layers == 2
            assert {*shallow.parameters()} <= {*model.parameters()}
            assert model.config.num_layers == len(model.decoder.layers) == 3
            assert model(torch.ones(1, 5).long()).equal(whole)


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    def test_no_ngram(self):
        with pytest.raises(ValueError, match=r"ngram \(0\) must be at least 1"):
            PromptLookup(VOCAB, 0)

    def test_layers_that_are_not_there(self):
        for number in (0, 4):
            with pytest.raises(ValueError, match=rf"num_layers \({number}\) must be from 1 to the"):
                early_exit(build(), number)

    def test_no_temperature(self):
        with pytest.raises(ValueError, match=r"temperature \(0.0\) must be more than 0"):
            ModelDraft(build(), do_sample=True, temperature=0.0)
