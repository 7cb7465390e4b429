import json

import pytest
import torch
import transformers
from safetensors.torch import load_file, save_file
from small_models import small_model
from torch import nn

from glassformer import CheckpointError, from_hf, load, record


@pytest.fixture
def saved(small_bert, tmp_path):
    """A small random BERT, and the directory that it was saved to."""
    model = small_bert()
    model.save_pretrained(tmp_path)
    return model, tmp_path


def rewrite(directory, change):
    """Change the saved weights in place."""
    path = directory / "model.safetensors"
    weights = {name: weight.clone() for name, weight in load_file(path).items()}
    change(weights)
    save_file(weights, path)


def test_the_trained_encoder_equals_transformers_on_a_padded_batch(trained, bert, batch):
    real = batch["attention_mask"].bool()
    assert len(set(real.sum(-1).tolist())) == 3
    assert set(batch["token_type_ids"][real].tolist()) == {0, 1}
    with torch.no_grad(), record(trained) as tape:
        output = trained(**batch)
        expected = bert(**batch, output_attentions=True, output_hidden_states=True)
    assert output.isfinite().all()
    for ours, theirs in zip(tape.attentions, expected.attentions, strict=True):
        assert (ours - theirs).abs().max() < 2e-5
    for ours, theirs in zip(tape.hidden_states, expected.hidden_states, strict=True):
        assert (ours - theirs)[real].abs().max() < 2e-5


def test_rare_choices_of_bert_are_honored(small_bert, small_batch, subtests):
    """The usual ones are compared in test_parity.py."""
    for changes in [
        {"hidden_act": "silu"},
        {"layer_norm_eps": 0.3},
        {"chunk_size_feed_forward": 11},
    ]:
        with subtests.test(changes=changes):
            hf = small_bert(**changes)
            real = small_batch["attention_mask"].bool()
            with torch.no_grad():
                difference = from_hf(hf)(**small_batch) - hf(**small_batch).last_hidden_state
            assert difference[real].abs().max() < 1e-10


def test_models_come_in_eval_mode_and_can_be_trained(small_bert):
    hf = small_bert().train()
    ours = from_hf(hf)
    assert not any(module.training for module in ours.modules())
    assert all(parameter.requires_grad for parameter in ours.parameters())


def test_weights_are_copies(small_bert):
    hf = small_bert()
    ours = from_hf(hf)
    before = hf.embeddings.word_embeddings.weight.clone()
    nn.init.zeros_(ours.embeddings.tokens.weight)
    assert torch.equal(hf.embeddings.word_embeddings.weight, before)


def with_old_norms(weights):
    for name in [name for name in weights if "LayerNorm" in name]:
        old = name.replace("weight", "gamma").replace("bias", "beta")
        weights[old] = weights.pop(name)


def with_other_heads(weights):
    """As the published BERT's file, which has the pooler and the next-sentence head too."""
    weights["bert.embeddings.position_ids"] = torch.arange(23)[None]
    for module, outputs in {"bert.pooler.dense": 21, "cls.seq_relationship": 2}.items():
        weights[f"{module}.weight"] = torch.zeros(outputs, 21)
        weights[f"{module}.bias"] = torch.zeros(outputs)


def with_a_pooler(weights):
    weights["pooler.dense.weight"], weights["pooler.dense.bias"] = (
        torch.zeros(21, 21),
        torch.zeros(21),
    )
    weights["embeddings.position_ids"] = torch.arange(23)[None]


def test_old_names_are_understood_and_what_a_model_has_besides_is_knowingly_unused(
    small_bert, small_batch, tmp_path, subtests
):
    for head, change in [
        (None, with_old_norms),
        (None, with_a_pooler),
        ("BertForMaskedLM", with_other_heads),
    ]:
        with subtests.test(head=head, change=change):
            hf = small_bert(head)
            hf.save_pretrained(tmp_path)
            rewrite(tmp_path, change)
            assert torch.equal(load(tmp_path)(**small_batch), from_hf(hf)(**small_batch))


def test_a_loaded_model_can_be_saved_as_it_is(small_bert, tmp_path):
    ours = from_hf(small_bert("BertForMaskedLM", tie_word_embeddings=False))
    save_file(ours.state_dict(), tmp_path / "ours.safetensors")
    kept = load_file(tmp_path / "ours.safetensors")
    assert all(torch.equal(kept[name], value) for name, value in ours.state_dict().items())


def test_tied_weights_are_one_parameter_live_and_from_a_file(small_bert, tmp_path, subtests):
    for tied in [True, False]:
        with subtests.test(tied=tied):
            hf = small_bert("BertForMaskedLM", tie_word_embeddings=tied)
            hf.save_pretrained(tmp_path)
            held = "cls.predictions.decoder.weight" in load_file(tmp_path / "model.safetensors")
            assert held is not tied
            for ours in (from_hf(hf), load(tmp_path)):
                assert ours.config.tie_embeddings is tied
                assert (ours.decoder.weight is ours.encoder.embeddings.tokens.weight) is tied
                assert torch.equal(ours.decoder.weight, hf.cls.predictions.decoder.weight)


def test_weights_that_should_be_one_and_are_not_are_refused(small_bert, tmp_path):
    small_bert("BertForMaskedLM").save_pretrained(tmp_path)

    def part(weights):
        weights["cls.predictions.decoder.weight"] = torch.zeros(101, 21, dtype=torch.float64)
        weights["cls.predictions.decoder.bias"] = torch.zeros(101, dtype=torch.float64)

    rewrite(tmp_path, part)
    with pytest.raises(CheckpointError, match="saved together") as error:
        load(tmp_path)
    words = "bert.embeddings.word_embeddings.weight, cls.predictions.decoder.weight"
    assert f"not equal, though they share one weight: {words}" in str(error.value)
    bias = "cls.predictions.decoder.bias, cls.predictions.bias"
    assert f"not equal, though they share one weight: {bias}" in str(error.value)


def test_names_with_other_prefixes_are_recognized(tmp_path, subtests):
    """Of a body inside a model with a head, of a body alone, and of wrapped models."""
    torch.manual_seed(0)
    ids = torch.randint(10, 23, (2, 5))
    for body, headed, prefix in [
        ("BertModel", "BertForMaskedLM", "bert."),
        ("LlamaModel", "LlamaForCausalLM", "model."),
        ("GPT2Model", "GPT2LMHeadModel", "transformer."),
    ]:
        for make, rename in {
            (body, lambda name, prefix=prefix: prefix + name),
            (body, lambda name: f"_orig_mod.module.{name}"),
            (headed, lambda name, prefix=prefix: name.removeprefix(prefix)),
            (headed, lambda name: f"module.{name}"),
        }:
            theirs = small_model(make)
            with subtests.test(make=make, like=rename("x")):
                theirs.save_pretrained(tmp_path)
                wanted = load(tmp_path)(ids)
                weights = load_file(tmp_path / "model.safetensors")
                save_file(
                    {rename(n): w for n, w in weights.items()}, tmp_path / "model.safetensors"
                )
                assert load(tmp_path)(ids).equal(wanted)


def test_a_checkpoint_in_several_files(small_bert, small_batch, tmp_path):
    hf = small_bert()
    hf.save_pretrained(tmp_path, max_shard_size="20KB")
    shards = sorted(tmp_path.glob("model-*.safetensors"))
    assert len(shards) > 2
    assert not (tmp_path / "model.safetensors").exists()
    assert torch.equal(load(tmp_path)(**small_batch), from_hf(hf)(**small_batch))
    shards[1].unlink()
    with pytest.raises(
        CheckpointError, match=rf"lacks {shards[1].name}, which its model\.s.*names"
    ):
        load(tmp_path)


def test_what_is_wrong_with_weights_is_listed_by_name(saved):
    _, directory = saved
    layer = "encoder.layer.1.output.dense"

    def damage(weights):
        weights[f"module.{layer}.weight"] = weights[f"{layer}.weight"]
        weights[f"{layer}.weight"] = weights[f"{layer}.weight"].to(torch.int8)
        weights["encoder.layer.2.output.dense.bias"] = weights.pop(f"{layer}.bias")
        weights["embeddings.word_embeddings.weight"] = torch.zeros(97, 21)

    rewrite(directory, damage)
    with pytest.raises(CheckpointError, match="saved together") as error:
        load(directory)
    for told in [
        f"missing: {layer}.bias",
        "unexpected: encoder.layer.2.output.dense.bias",
        f"unexpected: module.{layer}.weight",
        f"quantized: {layer}.weight (torch.int8)",
        "wrong shape: embeddings.word_embeddings.weight (97, 21), but (101, 21) by the config",
        str(directory),
    ]:
        assert told in str(error.value)


def test_weights_of_another_architecture_are_refused(saved):
    """The config of a BERT beside the weights of a GPT-2."""
    _, directory = saved
    config = transformers.GPT2Config(vocab_size=101, n_positions=23, n_embd=21, n_layer=2, n_head=3)
    save_file(dict(transformers.GPT2Model(config).state_dict()), directory / "model.safetensors")
    with pytest.raises(CheckpointError, match=r"(?s)missing: embed.*unexpected: h\.0\.attn"):
        load(directory)


def test_another_architecture_is_refused_by_name(tmp_path):
    sizes = {
        "vocab_size": 101,
        "num_layers": 1,
        "num_heads": 3,
        "d_model": 21,
        "d_kv": 7,
        "d_ff": 13,
    }
    model = transformers.T5EncoderModel(transformers.T5Config(**sizes))
    with pytest.raises(ValueError, match=r"model \(T5EncoderModel\) must be one of BertModel"):
        from_hf(model)
    with pytest.raises(ValueError, match=r"\(BertForPreTraining\) must be one of BertModel"):
        from_hf(small_model("BertForPreTraining"))
    model.save_pretrained(tmp_path)
    match = r"architectures in .*\(T5EncoderModel\) must be one of"
    with pytest.raises(CheckpointError, match=match):
        load(tmp_path)


def test_a_config_without_an_architecture_is_refused(saved):
    _, directory = saved
    path = directory / "config.json"
    path.write_text(json.dumps({"model_type": "bert"}))
    with pytest.raises(CheckpointError, match=r"architectures in .* \(none given\) must be one of"):
        load(directory)
