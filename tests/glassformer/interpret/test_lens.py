"""The lens against a model with fewer layers."""

from dataclasses import replace

import pytest
import torch
from small_decoder import CONFIG, weighted

from glassformer import TransformerForCausalLM, record
from glassformer.interpret.lens import logit_lens


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
