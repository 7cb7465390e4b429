import math
from itertools import product

import pytest
import torch
import torch.nn.functional as F
import transformers
from small_models import small_model

from glassformer import TransformerEncoder, from_hf, generate
from glassformer.inference.generation import GenerationState, stream, token_probabilities
from glassformer.inference.logits_processors import process

BATCH, SEQ, VOCAB, NEW, POSITIONS = 3, 7, 23, 17, 61
END, FILLER = 2, 3
PROCESSED = ("repetition_penalty", "no_repeat_ngram_size")


def gpt2(seed=0):
    torch.manual_seed(seed)
    sizes = {"vocab_size": VOCAB, "n_positions": POSITIONS, "n_embd": 35, "n_layer": 2, "n_head": 5}
    special = {"bos_token_id": 1, "eos_token_id": None, "pad_token_id": FILLER}
    return transformers.GPT2LMHeadModel(
        transformers.GPT2Config(**sizes, **special, initializer_range=0.5)
    ).eval()


def marian(seed=0):
    torch.manual_seed(seed)
    ends = {"eos_token_id": None, "forced_eos_token_id": None, "pad_token_id": FILLER}
    sizes = {"vocab_size": VOCAB, "max_position_embeddings": POSITIONS}
    return small_model(
        "MarianMTModel", **sizes, **ends, decoder_start_token_id=FILLER, scale_embedding=True
    )


def prompts(make):
    """Ids and mask of unequal lengths: prompts are padded on the left, sources on the right."""
    ids, mask = torch.randint(4, VOCAB, (BATCH, SEQ)), torch.ones(BATCH, SEQ, dtype=torch.long)
    padding = slice(0, 3) if make is gpt2 else slice(-3, None)
    ids[1, padding], mask[1, padding] = FILLER, 0
    return ids, mask


@pytest.fixture
def model():
    return from_hf(gpt2())


@pytest.fixture
def translator():
    return from_hf(marian())


@pytest.fixture
def ids():
    return torch.randint(4, VOCAB, (BATCH, SEQ))


def test_only_the_last_place_is_turned_into_logits(ids):
    for make, more in ((gpt2, {}), (marian, {"decoder_start_token_id": FILLER})):
        ours, seen = from_hf(make()), []
        ours.lm_head.register_forward_pre_hook(lambda _, read, to=seen: to.append(read[0].shape[1]))
        for use_cache in (True, False):
            generate(ours, ids, max_new_tokens=5, use_cache=use_cache, **more)
        assert seen == [1] * 10


WAYS = [
    {},
    {"num_beams": 3},
    *({"use_cache": False}, {"use_cache": False, "num_beams": 3}),
    {"num_beams": 4, "length_penalty": 0.3},
    {"num_beams": 2, "length_penalty": 2.0},
    {"num_beams": 3, "length_penalty": -1.0},
    {"repetition_penalty": 1.7},
    {"repetition_penalty": 0.6, "num_beams": 3},
    {"no_repeat_ngram_size": 2},
    {"no_repeat_ngram_size": 3, "num_beams": 2},
    {"repetition_penalty": 1.3, "no_repeat_ngram_size": 2, "num_beams": 4, "length_penalty": 0.5},
]


def test_token_for_token_as_transformers(subtests):
    for (way, end), make in product(
        [*((way, END) for way in WAYS), *((way, None) for way in WAYS[:2])], [gpt2, marian]
    ):
        with subtests.test(end=end, way=way, make=make):
            theirs, (ids, mask) = make(), prompts(make)
            if end is not None:  # likelier than chance, so that rows end at different times
                theirs = with_output_bias(theirs, F.one_hot(torch.tensor(end), VOCAB) * 4.0)
            given = {"attention_mask": mask, "max_new_tokens": NEW, "pad_token_id": FILLER, **way}
            expected = theirs.generate(ids, **given, eos_token_id=end, do_sample=False)
            written = generate(biased(theirs), ids, **given, eos_token_id=end)
            assert written.tolist() == expected.tolist()


def with_output_bias(theirs, bias):
    theirs.output_bias = bias
    theirs.lm_head.register_forward_hook(lambda module, inputs, output: output + bias)
    return theirs


def biased(theirs):
    """Ours, with the same push towards the end token."""
    ours = from_hf(theirs)
    if hasattr(theirs, "output_bias"):
        bias = theirs.output_bias
        ours.lm_head.register_forward_hook(lambda module, inputs, output: output + bias)
    return ours


def test_written_ids_can_be_trained_on(model, ids):
    for way in ({}, {"num_beams": 2}):
        model.zero_grad()
        model.train()(generate(model, ids, max_new_tokens=2, **way)).sum().backward()
        assert model.lm_head.weight.grad is not None


def test_the_prompt_is_left_as_it_was(subtests):
    for make, end in product([gpt2, marian], [None, END]):
        with subtests.test(make=make, end=end):
            ids, mask = prompts(make)
            before = ids.clone(), mask.clone()
            given = {"attention_mask": mask, "max_new_tokens": 3, "eos_token_id": end}
            generate(from_hf(make()), ids, **given)
            [*stream(from_hf(make()), ids, **given)]
            assert ids.equal(before[0])
            assert mask.equal(before[1])


def test_a_target_starts_with_the_token_that_is_asked_for(translator, ids):
    assert generate(translator, ids, max_new_tokens=1)[:, 0].tolist() == [FILLER] * BATCH
    given = generate(translator, ids, max_new_tokens=1, decoder_start_token_id=5)
    assert given[:, 0].tolist() == [5] * BATCH


class TestStream:
    WAYS = (
        {},
        {"repetition_penalty": 1.5, "no_repeat_ngram_size": 2},
        {"do_sample": True, "top_k": 9, "min_p": 0.01},
        {"use_cache": False},
    )

    def test_gives_what_generate_returns(self, subtests):
        for (way, end), make in product(
            [*((way, END) for way in self.WAYS), ({}, None)], [gpt2, marian]
        ):
            with subtests.test(way=way, end=end, make=make):
                bias = torch.zeros(VOCAB)
                bias[END] = 4.0 if end is not None else 0.0
                ours, (ids, mask) = biased(with_output_bias(make(), bias)), prompts(make)
                given = {"attention_mask": mask, "max_new_tokens": NEW, "eos_token_id": end, **way}
                given |= {"pad_token_id": FILLER}
                whole, pieces = (
                    write(ours, ids, **given, generator=torch.Generator().manual_seed(1))
                    for write in (generate, stream)
                )
                columns = torch.stack([*pieces], dim=1)
                assert columns.equal(whole[:, -columns.shape[1] :])
                assert whole.shape[1] - columns.shape[1] == (SEQ if make is gpt2 else 1)

    def test_computes_no_token_before_it_is_asked_for(self, model, ids):
        steps, calls = stream(model, ids, max_new_tokens=5), []
        model.lm_head.register_forward_pre_hook(lambda *_: calls.append(1))
        assert not calls
        for count in (1, 2, 3):
            next(steps)
            assert len(calls) == count

    def test_between_two_tokens_the_model_is_as_ever(self, model, ids):
        before = model.lm_head.forward
        for tokens in stream(model, ids, max_new_tokens=3):
            assert not torch.is_inference_mode_enabled()
            assert model.lm_head.forward == before
            model.train()(tokens[:, None]).sum().backward()  # what came can be trained on
            model.eval()

    def test_what_came_can_be_changed_and_what_comes_stays(self, model, ids):
        expected = generate(model, ids, max_new_tokens=9)[:, SEQ:]
        for step, tokens in enumerate(stream(model, ids, max_new_tokens=9)):
            assert tokens.equal(expected[:, step])
            tokens.zero_()

    @pytest.mark.usefixtures("unhooked")
    def test_is_refused_before_the_first_token_is_asked_for(self, model, ids, subtests):
        rows = [
            ({"max_new_tokens": 0}, r"max_new_tokens \(0\) must be at least 1"),
            ({"top_k": 5}, r"need do_sample=True"),
            ({"eos_token_id": VOCAB}, r"eos_token_id \(23\)"),
        ]
        for choice, message in rows:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                stream(model, ids, **{"max_new_tokens": 2, **choice})

    def test_has_no_beams(self, model, ids):
        with pytest.raises(TypeError, match="num_beams"):
            stream(model, ids, max_new_tokens=2, num_beams=2)


class TestSampling:
    CHOICES = (
        {"temperature": 0.7},
        {"temperature": 1.9},
        {"top_k": 5},
        {"top_k": 1000},
        {"top_p": 0.8},
        {"top_p": 1.0},
        {"top_p": 1e-6},
        {"temperature": 1.3, "top_k": 11, "top_p": 0.6},
        {"min_p": 0.0},
        {"min_p": 0.1},
        {"min_p": 1.0},
        {"temperature": 0.8, "top_k": 13, "top_p": 0.9, "min_p": 0.05},
    )

    def test_distribution_equals_transformers(self, subtests):
        for choice in self.CHOICES:
            with subtests.test(choice=choice):
                logits = torch.randn(5, VOCAB) * 3
                warpers = {
                    "temperature": transformers.TemperatureLogitsWarper,
                    "top_k": transformers.TopKLogitsWarper,
                    "top_p": transformers.TopPLogitsWarper,
                    "min_p": transformers.MinPLogitsWarper,
                }
                expected = logits
                for name, value in choice.items():
                    expected = warpers[name](value)(None, expected)
                found = token_probabilities(logits, **choice)
                torch.testing.assert_close(found, expected.softmax(-1))

    def test_two_of_four_equal_ones_have_half_and_that_is_enough(self):
        assert (token_probabilities(torch.zeros(4), top_p=0.5) > 0).sum() == 2

    def test_distribution_of_each_step_equals_transformers(self, subtests):
        rows = [
            {"repetition_penalty": 1.6, "temperature": 0.7},
            {"no_repeat_ngram_size": 2, "top_p": 0.8},
            {"repetition_penalty": 0.8, "no_repeat_ngram_size": 3, "top_k": 9, "min_p": 0.02},
        ]
        for choice, make in product(rows, [gpt2, marian]):
            with subtests.test(choice=choice, make=make):
                theirs, (ids, mask) = make(), prompts(make)
                given = {"attention_mask": mask, "max_new_tokens": NEW, "do_sample": True, **choice}
                given |= {"return_dict_in_generate": True, "output_scores": True}
                drawn = theirs.generate(ids, **given)
                penalty, size = (choice.get(name) for name in PROCESSED)
                shape = {name: value for name, value in choice.items() if name not in PROCESSED}
                given = {"attention_mask": mask, "repetition_penalty": penalty or 1.0}
                given |= {"no_repeat_ngram_size": size, "max_new_tokens": NEW}
                start = GenerationState.of(from_hf(theirs), ids, **given)
                for step, scores in enumerate(drawn.scores):
                    there = drawn.sequences[:, : start.length + step]
                    with torch.no_grad():
                        logits = process(start.processors, there, start.next_logits(there))
                    chances = token_probabilities(logits, **shape)
                    torch.testing.assert_close(chances, scores.softmax(-1), rtol=1e-4, atol=1e-5)

    def test_draws_follow_their_distribution(self, model, subtests):
        """Chi-square, at the level of 1 in 1000; the draws are the same in every run."""
        prompt, draws = torch.randint(4, VOCAB, (1, SEQ)), 3000
        # flat enough to expect some of each
        model.lm_head.register_forward_hook(lambda module, inputs, output: output / 4)
        for choice in [{}, {"temperature": 1.5, "top_k": 9, "top_p": 0.9}]:
            with subtests.test(choice=choice), torch.no_grad():
                expected = token_probabilities(model(prompt)[0, -1], **choice) * draws
                given = {"max_new_tokens": 1, "do_sample": True, **choice}
                given["generator"] = torch.Generator().manual_seed(0)
                written = generate(model, prompt.expand(draws, SEQ), **given)
                seen = written[:, -1].bincount(minlength=VOCAB)
                possible = expected > 0
                assert seen[~possible].sum() == 0
                assert expected[possible].min() > 5  # or chi-square would not hold
                chi2 = ((seen - expected) ** 2 / expected)[possible].sum()
                assert chi2 < chi2_quantile(possible.sum().item() - 1)

    def test_the_generator_decides(self, model, ids):
        def drawn(seed):
            generator = torch.Generator().manual_seed(seed)
            return generate(model, ids, max_new_tokens=9, do_sample=True, generator=generator)

        assert drawn(1).equal(drawn(1))
        assert not drawn(1).equal(drawn(2))


def chi2_quantile(freedom):
    """The 99.9 % point, by Wilson and Hilferty."""
    spread = 2 / (9 * freedom)
    return freedom * (1 - spread + 3.0902 * math.sqrt(spread)) ** 3


@pytest.mark.usefixtures("unhooked")
class TestBadInput:
    CASES = (
        ({"max_new_tokens": 0}, r"max_new_tokens \(0\) must be at least 1"),
        ({"max_new_tokens": -3}, r"max_new_tokens \(-3\) must be at least 1"),
        ({"num_beams": 0}, r"num_beams \(0\) must be at least 1"),
        ({"do_sample": True, "top_p": 0.0}, r"top_p \(0\.0\) must be more than 0 and at most 1"),
        ({"do_sample": True, "top_p": 1.5}, r"top_p \(1\.5\) must be more than 0 and at most 1"),
        ({"top_p": 1.5}, r"top_p \(1\.5\) must be more than 0 and at most 1"),
        ({"do_sample": True, "top_k": 0}, r"top_k \(0\) must be at least 1"),
        ({"do_sample": True, "temperature": 0.0}, r"temperature \(0\.0\) must be more than 0"),
        ({"do_sample": True, "num_beams": 2}, r"num_beams \(2\) must be 1 with do_sample"),
        ({"do_sample": True, "min_p": 1.1}, r"min_p \(1\.1\) must be at least 0 and at most 1"),
        ({"do_sample": True, "min_p": -0.1}, r"min_p \(-0\.1\) must be at least 0"),
        ({"min_p": 0.1}, r"min_p \(0\.1\) need do_sample=True"),
        ({"top_k": 5}, r"top_k \(5\), top_p \(None\), and min_p \(None\) need do_sample=True"),
        ({"repetition_penalty": 0.0}, r"repetition_penalty \(0\.0\) must be more than 0"),
        ({"no_repeat_ngram_size": 0}, r"no_repeat_ngram_size \(0\) must be at least 1"),
        ({"stop_strings": "end"}, r"stop_strings \(\['end'\]\) need a tokenizer"),
        ({"temperature": 0.5}, r"temperature \(0\.5\), .* need do_sample=True"),
        ({"eos_token_id": VOCAB}, r"eos_token_id \(23\) must be one of the vocab_size \(23\)"),
        ({"eos_token_id": -1}, r"eos_token_id \(-1\) must be one of the vocab_size \(23\)"),
        ({"pad_token_id": 99}, r"pad_token_id \(99\) must be one of the vocab_size \(23\)"),
        ({"decoder_start_token_id": 1}, r"decoder_start_token_id \(1\) is for an encoder-decoder"),
        ({"max_new_tokens": 56}, r"7 tokens .*\(56\) need 62 positions, .* \(61\)"),
    )

    def test_choices(self, model, ids, subtests):
        for choice, message in self.CASES:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                generate(model, ids, **{"max_new_tokens": 2, **choice})

    def test_as_many_tokens_as_there_are_positions(self, model, ids):
        assert generate(model, ids, max_new_tokens=55).shape == (BATCH, 62)

    def test_choices_of_a_target(self, translator, ids, subtests):
        for name, value in [
            ("decoder_start_token_id", 23),
            ("max_new_tokens", 62),
            ("eos_token_id", 23),
        ]:
            with subtests.test(name), pytest.raises(ValueError, match=rf"\({value}\)"):
                generate(translator, ids, **{"max_new_tokens": 2, name: value})

    def test_padding_that_is_not_on_the_left(self, model, ids):
        for mask in [[1, 1, 1, 1, 1, 1, 0], [0, 1, 1, 0, 1, 1, 1], [0] * 7]:
            masks = torch.tensor([[1] * SEQ, [0, 0, 1, 1, 1, 1, 1], mask])
            message = r"rows \[2\] of attention_mask .* not on the left"
            with pytest.raises(ValueError, match=message):
                generate(model, ids, attention_mask=masks, max_new_tokens=2)

    def test_models_prompts_and_masks(self, model, translator, ids, subtests):
        assert isinstance(translator.encoder, TransformerEncoder)
        all_padding = {"attention_mask": torch.tensor([[1] * SEQ, [0] * SEQ, [1] * SEQ])}
        shorter = {"attention_mask": torch.ones(BATCH, 6)}
        rows = [
            (translator, ids, all_padding, r"\[1\] is all padding"),
            (model, ids, shorter, r"\(3, 6\) must have the shape .* \(3, 7\)"),
            (translator.encoder, ids, {}, "can write, got a TransformerEncoder"),
            (model, ids[:1, :0], {}, r"not be empty, got shape \(1, 0\)"),
        ]
        for writer, prompt, more, message in rows:
            with subtests.test(message), pytest.raises(ValueError, match=message):
                generate(writer, prompt, **more, max_new_tokens=2)
