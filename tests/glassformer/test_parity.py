"""Our models and those of transformers, with the same weights: equal in all that they compute."""

import random
from copy import deepcopy
from itertools import product

import torch
from small_models import SEEDS, TOLERANCE, answer, check_gradients

from glassformer import from_hf, load, record

HEADS = (
    *(None, "BertForSequenceClassification", "BertForTokenClassification", "BertForMaskedLM"),
    "BertForNextSentencePrediction",
)


def draw(seed):
    """A configuration whose sizes all differ, (batch, seq), and inputs to go with them.

    The seed goes through padding on the right, on the left and nowhere, with and without types.
    """
    chance = random.Random(seed)
    heads, layers = chance.sample((1, 2, 3), 2)
    head_dim, d_ff, types, labels, batch, seq, more = chance.sample((5, 7, 11, 13, 17, 19, 23), 7)
    config = {
        "num_attention_heads": heads,
        "num_hidden_layers": layers,
        "hidden_size": heads * head_dim if heads > 1 else 29,
        "intermediate_size": 2 * d_ff,
        "type_vocab_size": types,
        "num_labels": labels,
        "max_position_embeddings": 4 * seq,
        "vocab_size": 100 + more,
        "hidden_act": ("gelu", "gelu_new", "relu")[seed % 3],
        "layer_norm_eps": (1e-12, 1e-5, 1e-3)[seed // 2],
        "pad_token_id": (0, 7, None)[seed % 3],
        "tie_word_embeddings": seed != 4,
    }
    torch.manual_seed(seed)
    lengths = torch.cat([torch.tensor([seq]), torch.randint(1, seq, (batch - 1,))])[:, None]
    places = torch.arange(seq)
    inputs = {"input_ids": torch.randint(config["vocab_size"], (batch, seq))}
    if seed % 3 < 2:
        real = places < lengths if seed % 3 == 0 else places >= seq - lengths
        inputs["attention_mask"] = real.long()
    if seed % 2 == 0:
        inputs["token_type_ids"] = torch.randint(types, (batch, seq))
    return config, inputs


def test_what_is_drawn_covers_what_shall_be_compared():
    drawn = [draw(seed) for seed in range(6)]
    for config, inputs in drawn:
        sizes = [config[name] for name in config if name.endswith(("_size", "heads", "labels"))]
        sizes += [config["num_hidden_layers"], config["max_position_embeddings"]]
        sizes += [config["hidden_size"] // config["num_attention_heads"]]
        sizes += list(inputs["input_ids"].shape)
        if config["num_attention_heads"] == 1:
            sizes.remove(config["hidden_size"])  # the width of the one head
        assert len(set(sizes)) == len(sizes)
    assert {config["num_attention_heads"] for config, _ in drawn} == {1, 2, 3}
    assert {config["hidden_act"] for config, _ in drawn} == {"gelu", "gelu_new", "relu"}
    given = {("attention_mask" in i, "token_type_ids" in i) for _, i in drawn}
    assert given == {(True, True), (True, False), (False, True), (False, False)}
    ends = [i["attention_mask"][:, [0, -1]].tolist() for _, i in drawn if "attention_mask" in i]
    assert any([1, 0] in end for end in ends)
    assert any([0, 1] in end for end in ends)


def attended(inputs):
    """True at the positions whose vectors mean something."""
    mask = inputs.get("attention_mask", torch.ones_like(inputs["input_ids"]))
    return mask.bool()


def difference(ours, theirs, real):
    """The largest one, at attended positions where there is a value for each position."""
    assert ours.shape == theirs.shape
    assert ours.isfinite().all()
    return ((ours - theirs)[real] if ours.shape[:2] == real.shape else ours - theirs).abs().max()


def test_outputs_equal(small_bert, tmp_path, subtests):
    for head, (seed, dtype) in product(HEADS, SEEDS):
        with subtests.test(head=head, seed=seed, dtype=dtype):
            config, inputs = draw(seed)
            hf = small_bert(head, **config).to(dtype)
            hf.save_pretrained(tmp_path)
            live, loaded = from_hf(hf), load(tmp_path)
            with torch.no_grad():
                output = live(**inputs)
                assert output.dtype == dtype
                assert difference(output, answer(hf, **inputs), attended(inputs)) < TOLERANCE[dtype]
                assert torch.equal(loaded(**inputs), output)


def test_every_hidden_state_and_attention_weight_is_equal(small_bert, subtests):
    for head, (seed, dtype) in product([None, "BertForMaskedLM"], SEEDS):
        with subtests.test(head=head, seed=seed, dtype=dtype):
            config, inputs = draw(seed)
            hf = small_bert(head, **config).to(dtype)
            ours = from_hf(hf)
            with torch.no_grad(), record(ours) as tape:
                ours(**inputs)
                expected = hf(**inputs, output_attentions=True, output_hidden_states=True)
            real = attended(inputs)
            assert len(tape.attentions) == config["num_hidden_layers"]
            for weights, theirs in zip(tape.attentions, expected.attentions, strict=True):
                error = difference(weights.transpose(1, 2), theirs.transpose(1, 2), real)
                assert error < TOLERANCE[dtype]
            for hidden, theirs in zip(tape.hidden_states, expected.hidden_states, strict=True):
                assert difference(hidden, theirs, real) < TOLERANCE[dtype]


def test_gradients_equal(small_bert, subtests):
    for head, (seed, dtype) in product(HEADS, SEEDS):
        with subtests.test(head=head, seed=seed, dtype=dtype):
            config, inputs = draw(seed)
            hf = small_bert(head, **config).to(dtype)
            ours, real = from_hf(hf), attended(inputs)
            for output in (answer(hf, **inputs), ours(**inputs)):
                chosen = output[real] if output.shape[:2] == real.shape else output
                chosen.square().mean().backward()
            check_gradients(ours, hf, TOLERANCE[dtype])


def test_state_dict_goes_into_a_new_model_and_back(small_bert, subtests):
    for head in HEADS:
        with subtests.test(head=head):
            config, inputs = draw(0)
            ours = from_hf(small_bert(head, **config))
            other = type(ours)(ours.config).double().eval()
            with torch.no_grad():
                assert not torch.equal(other(**inputs), ours(**inputs))
                other.load_state_dict(ours.state_dict())
                assert torch.equal(other(**inputs), ours(**inputs))
            back = other.state_dict()
            for name, value in ours.state_dict().items():
                assert torch.equal(value, back[name]), name


def test_half_precision_errs_no_more_than_that_of_transformers(trained, bert, batch):
    """Both against float64: transformers rounds as often as we do, in another order."""
    real = batch["attention_mask"].bool()
    with torch.no_grad():
        exact = deepcopy(bert).double()(**batch).last_hidden_state[real]
        ours = deepcopy(trained).bfloat16()(**batch)[real]
        theirs = deepcopy(bert).bfloat16()(**batch).last_hidden_state[real]
    assert ours.dtype == torch.bfloat16
    errors = [(half.double() - exact).square().mean().sqrt() for half in (ours, theirs)]
    assert 0 < errors[0] < 1.2 * errors[1]
