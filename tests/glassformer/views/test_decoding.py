"""How a model writes, step by step: what is recorded, and what is drawn of it."""

import re
from dataclasses import replace

import pytest
import torch

from glassformer import Transformer, TransformerConfig, TransformerForCausalLM
from glassformer.inference.generation import generate
from glassformer.interpret.recording import record
from glassformer.views import decoding, decoding_steps
from glassformer.views.decoding_steps import Attended, DecodingStep

SIZES = {"vocab_size": 37, "d_model": 28, "num_layers": 3, "d_ff": 41, "max_positions": 19}
START, STEPS = 5, 7


@pytest.fixture(scope="module")
def writer():
    torch.manual_seed(3)
    config = TransformerConfig(num_heads=4, num_kv_heads=2, initializer_range=0.5, **SIZES)
    return TransformerForCausalLM(config).double().eval()


@pytest.fixture(scope="module")
def translator():
    torch.manual_seed(2)
    other = TransformerConfig(num_heads=4, cross_attention=True, initializer_range=0.5, **SIZES)
    return Transformer(replace(other, cross_attention=False, decoder=other)).double().eval()


def test_a_gpt_is_recorded_as_one_pass_over_what_it_wrote(writer):
    prompt = torch.tensor([[11, 3, 29]])
    steps = decoding_steps(writer, prompt, max_new_tokens=STEPS)
    with torch.no_grad(), record(writer) as tape:
        ids = generate(writer, prompt, max_new_tokens=STEPS)
        logits = writer(ids)[0]
    weights = tape["decoder.layers.2.attention.weights"][0].mean(0)
    assert [each.written for each in steps] == ids[0, 3:].tolist()
    assert [each.own.new for each in steps] == [3] + [1] * (STEPS - 1)
    for k, each in enumerate(steps):
        assert each.read == ids[0, : 3 + k].tolist()
        assert each.source is None
        assert torch.allclose(each.own.weights, weights[2 + k, : 3 + k])
        assert torch.allclose(each.chances, logits[2 + k].softmax(-1).float(), atol=1e-6)


def test_a_translator_computes_the_keys_of_its_source_once(translator):
    source = torch.tensor([[7, 2, 13, 4, 31]])
    steps = decoding_steps(translator, source, max_new_tokens=STEPS, decoder_start_token_id=START)
    target = torch.tensor([[*steps[-1].read]])
    with torch.no_grad(), record(translator) as tape:
        logits = translator(source, target)[0]
    across = tape["decoder.layers.2.cross_attention.weights"][0].mean(0)
    own = tape["decoder.layers.2.attention.weights"][0].mean(0)
    assert target[0, 0] == START
    assert [each.source.new for each in steps] == [5] + [0] * (STEPS - 1)
    assert [each.own.new for each in steps] == [1] * STEPS
    for k, each in enumerate(steps):
        assert torch.allclose(each.source.weights, across[k])
        assert torch.allclose(each.own.weights, own[k, : k + 1])
        assert each.written == logits[k].argmax()


def test_the_end_token_ends_the_steps(writer):
    prompt = torch.tensor([[11, 3, 29]])
    free = [each.written for each in decoding_steps(writer, prompt, max_new_tokens=STEPS)]
    steps = decoding_steps(writer, prompt, max_new_tokens=STEPS, eos_token_id=free[2])
    assert [each.written for each in steps] == free[: free.index(free[2]) + 1]


def test_several_texts_are_refused(writer):
    with pytest.raises(ValueError, match="needs one text, but got 2"):
        decoding_steps(writer, torch.ones(2, 3).long(), max_new_tokens=2)


def drawn(view, step, role):
    """The opacity of each cell with a role in a step of the picture."""
    parts = re.split(r'<g data-step="(\d+)">', view.html)[1:]
    html = "".join(part for at, part in zip(parts[::2], parts[1::2], strict=True) if at == step)
    pattern = rf'<g data-role="{role}">.*?fill-opacity:([\d.]+)'
    return [float(found) > 0.5 for found in re.findall(pattern, html)]


def test_each_step_shows_its_guesses_its_attention_and_what_is_new(translator, subtests):
    source = torch.tensor([[7, 2, 13, 4, 31]])
    words = ["ein", "zwei", "drei", "vier", "fünf"]
    steps = decoding_steps(translator, source, max_new_tokens=STEPS, decoder_start_token_id=START)
    view = decoding(steps, lambda token: f"t{token}", words)
    lines = str(view).splitlines()
    for k, each in enumerate(steps):
        with subtests.test(f"step {k + 1}"):
            best = each.chances.sort(descending=True)
            for chance, token in zip(best.values[:5], best.indices[:5], strict=True):
                assert f"t{token} {chance:.2f}" in lines[1 + k]
            for word, weight in zip(words, each.source.weights, strict=True):
                assert f"{word} {weight:.2f}" in lines[1 + k]
            told = lines[1 + STEPS + k]
            looks = words[int(each.source.weights.argmax())]
            assert f"looks most at “{looks}”" in told
            assert told.endswith(f"writes “t{each.written}” ({best.values[0]:.2f}).")
            assert ("computes the keys and values of the source" in told) == (k == 0)
            keeps = re.search(r"keeps the keys and values of (\d) earlier token", told)
            assert (int(keeps[1]) if keeps else 0) == k
            for role in ("key", "value"):
                expected = [False] * k + [True] + [k == 0] * 5
                assert drawn(view, str(k + 1), role) == expected


def test_a_token_read_alone_is_named_below_its_column_and_only_likely_others_are_listed():
    def at(read, chances, new):
        weights = torch.ones(len(read)) / len(read)
        return DecodingStep(read, torch.tensor(chances), Attended(weights, new), None)

    steps = [
        at([1, 2], [0.5, 0.3, 0.196, 0.004], 2),
        at([1, 2, 0], [0.001, 0.002, 0.003, 0.994], 1),
        at([1, 2, 0, 3], [0.001, 0.997, 0.001, 0.001], 1),
    ]
    html = decoding(steps, "abcd".__getitem__).html
    bands = re.findall(r'<g data-step="\d">(.*?)(?=<g data-step|</svg>)', html)
    shown = [re.findall(">([^<>]+)</text>", band)[:5] for band in bands]
    assert shown[0] == ["writes", "a", "0.50", "or b 0.30, c 0.20"]
    assert shown[1][:5] == ["writes", "d", "0.99", "a", "a"]  # above its column, and below
    assert shown[2][:5] == ["writes", "b", "1.00", "d", "d"]
    name, cell = (
        re.search(pattern, bands[1])
        for pattern in (
            r'<text x="([\d.]+)" y="[\d.]+" text-anchor="middle" class="title">a<',
            r'data-role="key"><rect class="frame base" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"'
            r'(?:(?!data-role="key").)*?fill-opacity:0.9',
        )
    )
    assert float(name[1]) == pytest.approx(float(cell[1]) + float(cell[2]) / 2, abs=0.1)


def test_a_prompt_is_new_at_once(writer):
    steps = decoding_steps(writer, torch.tensor([[11, 3, 29]]), max_new_tokens=2)
    view = decoding(steps, lambda token: f"t{token}")
    assert drawn(view, "1", "key") == [True] * 3
    assert drawn(view, "2", "value") == [False] * 3 + [True]
    first, second = str(view).splitlines()[-2:]
    assert first.startswith("1. It reads “t11 t3 t29” and writes")
    assert "keeps the keys and values of 3 earlier tokens. Then it writes" in second
