"""The lens against a model with fewer layers."""

from dataclasses import replace

import pytest
import torch

from glassformer import TransformerConfig, TransformerForCausalLM, record
from glassformer.interpret.lens import logit_lens

CONFIG = TransformerConfig(
    vocab_size=101,
    d_model=21,
    num_heads=3,
    num_layers=5,
    d_ff=37,
    max_positions=23,
    norm="rms",
    norm_first=True,
    num_token_types=0,
    initializer_range=0.3,
)


def weighted(config):
    """A model whose norms are not all ones, so that none of them can be left out."""
    model = TransformerForCausalLM(config).double().eval().requires_grad_(False)
    for parameter in model.parameters():
        parameter += torch.randn_like(parameter) * 0.1
    return model


def test_the_lens_after_a_layer_is_the_model_without_the_later_ones(subtests):
    for choices in [{}, {"norm": "layer"}, {"norm_first": False}]:
        with subtests.test(choices=choices):
            config = replace(CONFIG, **choices)
            model, ids = weighted(config), torch.randint(101, (2, 13))
            with record(model) as tape:
                logits = model(ids)
            assert len(tape.hidden_states) == 6
            for layers, hidden in enumerate(tape.hidden_states):
                shorter = (
                    TransformerForCausalLM(replace(config, num_layers=max(layers, 1)))
                    .double()
                    .eval()
                )
                shorter.load_state_dict(model.state_dict(), strict=False)
                shorter.decoder.layers = shorter.decoder.layers[:layers]
                torch.testing.assert_close(logit_lens(model, hidden), shorter(ids))
            assert logit_lens(model, tape.hidden_states[-1]).equal(logits)


def test_vectors_of_another_width(unhooked):
    with pytest.raises(ValueError, match=r"hidden of shape \(3, 7\) must end in d_model \(21\)"):
        logit_lens(TransformerForCausalLM(CONFIG), torch.randn(3, 7))
